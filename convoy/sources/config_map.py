"""A ConfigMap in the Release's namespace; each key is a file."""

from __future__ import annotations

import base64
from pathlib import Path

from convoy.api.errors import SourceNotReady
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import CONFIG_MAPS
from convoy.sources.fetched import Fetched, fetched_files


async def fetch_config_map(namespace: str, name: str, *, home: KubeClient, cache: Path) -> Fetched:
    """Read a ConfigMap, `data` and `binaryData`.

    Raises:
        SourceNotReady: it is missing or cannot be read.
        Unsupported: a key is no file name.
    """
    subject = f"ConfigMap {namespace}/{name}"
    try:
        config_map = await home.get(CONFIG_MAPS, namespace, name)
    except NotFound:
        raise SourceNotReady(f"{subject} of spec.source.configMap is missing") from None
    except ApiError as error:
        raise SourceNotReady(f"{subject} of spec.source.configMap cannot be read: {error.message}") from None
    files = {key: text.encode() for key, text in (config_map.get("data") or {}).items()}
    files |= {key: base64.b64decode(text) for key, text in (config_map.get("binaryData") or {}).items()}
    revision = f"configmap/{name}@{config_map['metadata'].get('resourceVersion', '')}"
    return fetched_files(files, revision=revision, kind="configmap", cache=cache)
