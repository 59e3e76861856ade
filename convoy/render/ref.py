"""renderRef: the digest that names a render."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from convoy.api.objects import Manifest
from convoy.api.rendered import RenderedObject
from convoy.kube.encode import canonical


def render_ref(objects: Iterable[RenderedObject], hooks: Iterable[RenderedObject] = (), *, key: bytes) -> str:
    """Return `sha256:…` over the canonical objects in render order (design 02), and then a chart's hooks (D6).

    A Secret goes in as an HMAC under `key`, the installation's: the ref stands in the status for everyone to
    read, and a bare digest would let them try out weak passwords (D40). The whole object goes through it and
    not its data alone, since kubectl's last-applied annotation may repeat the values. Neither file names nor
    the revision have a say: the same objects have the same ref wherever they came from.
    """
    digest = hashlib.sha256()
    for item in objects:
        digest.update(canonical(_public(item.manifest, key)))
        digest.update(b"\n")
    for item in hooks:
        # No object begins so: a hook that becomes an ordinary object makes another render.
        digest.update(b"hook " + canonical(_public(item.manifest, key)) + b"\n")
    return f"sha256:{digest.hexdigest()}"


def _public(manifest: Manifest, key: bytes) -> Manifest:
    if manifest["kind"] != "Secret" or manifest["apiVersion"] != "v1":
        return manifest
    mac = hmac.digest(key, b"render\x00" + canonical(manifest), hashlib.sha256)
    metadata = {name: manifest["metadata"].get(name, "") for name in ("namespace", "name")}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "hmac": mac.hex()}
