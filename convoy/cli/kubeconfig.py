"""The user's own kubeconfig, read as kubectl reads it.

The official package would do it too, and takes a second of CPU to import: four times what `kubectl get` needs for its
whole work. So this reads the forms that are in use (certificates, tokens, basic authentication, `exec` plugins, several
files in KUBECONFIG, the service account of a pod) with the standard library. It trusts what it reads, since the file
is the user's; a kubeconfig out of a Secret is read by `convoy.kube.secret_kubeconfig`, which trusts nothing.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from convoy.cli.errors import Failure
from convoy.cli.exec_plugin import Credential, run_plugin
from convoy.cli.kubeconfig_shape import KUBECONFIG, check_shape

_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_HEADER_NAME = "!#$&'*+^`|"
"""What may stand in the name of a header besides letters, digits and `-._~`."""
_FILES = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}


@dataclass(frozen=True, slots=True)
class Server:
    """Where the API server is and how to be let in."""

    url: str
    namespace: str
    """The context's namespace."""
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    """The name expected in the certificate, where it is not the URL's."""
    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    """Several may have one name: each group to impersonate has its own."""
    proxy: str | None = field(default=None, repr=False)


def read_server(path: str | None = None, *, context: str | None = None) -> Server:
    """Return what `path`, else KUBECONFIG, else `~/.kube/config`, else the pod's service account says.

    Raises:
        Failure: there is no such file or context, or it cannot be used.
    """
    paths = [path] if path else os.environ.get("KUBECONFIG", "").split(os.pathsep)
    files = [Path(each).expanduser() for each in paths if each] or [Path.home() / ".kube" / "config"]
    if path and not files[0].is_file():
        raise Failure(f"kubeconfig {path} does not exist")
    merged = _merge([file for file in files if file.is_file()])
    if not merged["contexts"] and not context and "KUBERNETES_SERVICE_HOST" in os.environ:
        return _of_pod()
    name = context or merged["current-context"]
    if not name:
        raise Failure("no kubeconfig names a cluster: set KUBECONFIG, or use --kubeconfig and --context")
    chosen = _section(merged, "contexts", name, what="context")
    cluster = _section(merged, "clusters", chosen.get("cluster"), what="cluster")
    user = _section(merged, "users", chosen["user"], what="user") if chosen.get("user") else {}
    try:
        return _server(cluster, user, chosen.get("namespace") or "default")
    except (OSError, ValueError, binascii.Error) as error:
        raise Failure(f"context {name} of the kubeconfig cannot be used: {error}") from None


def _merge(files: list[Path]) -> dict[str, Any]:
    """Merge files as kubectl does: the first to name something wins."""
    merged: dict[str, Any] = {"current-context": "", "contexts": {}, "clusters": {}, "users": {}}
    for file in files:
        try:
            tree = yaml.load(file.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (yaml.YAMLError, OSError, ValueError) as error:
            # The text of a YAML error quotes the line, which may be a token.
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}" if mark is not None else type(error).__name__
            raise Failure(f"kubeconfig {file} cannot be read ({where})") from None
        check_shape(tree, KUBECONFIG, what=f"kubeconfig {file}")
        if tree is None:
            continue
        merged["current-context"] = merged["current-context"] or tree.get("current-context") or ""
        for plural in ("contexts", "clusters", "users"):
            for entry in filter(None, tree.get(plural) or ()):
                section = dict(entry.get(plural[:-1]) or {})
                for key in _FILES.get(plural[:-1], ()):
                    if section.get(key):
                        section[key] = str(file.parent / section[key])
                merged[plural].setdefault(entry.get("name"), section)
    return merged


def _section(merged: Mapping[str, Any], plural: str, name: object, *, what: str) -> Mapping[str, Any]:
    if name not in merged[plural]:
        raise Failure(f"the kubeconfig has no {what} {name!r}")
    section: Mapping[str, Any] = merged[plural][name]
    return section


def _server(cluster: Mapping[str, Any], user: Mapping[str, Any], namespace: str) -> Server:
    if "auth-provider" in user:
        raise Failure("the kubeconfig uses an auth-provider, which kubectl has dropped: use an exec plugin")
    plugin = run_plugin(user["exec"], cluster) if user.get("exec") else Credential()
    url = str(cluster.get("server") or "").rstrip("/")
    return Server(
        url=url,
        namespace=namespace,
        tls=_tls(cluster, user, plugin) if url.startswith("https:") else None,
        server_name=cluster.get("tls-server-name"),
        headers=[*_authorization(user, plugin), *_impersonation(user)],
        proxy=cluster.get("proxy-url"),
    )


def _tls(cluster: Mapping[str, Any], user: Mapping[str, Any], plugin: Credential) -> ssl.SSLContext:
    authority = _content(cluster, "certificate-authority")
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    # Newer Pythons refuse certificate authorities without extensions that kubeadm and others leave out.
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate = plugin.certificate or _content(user, "client-certificate")
    key = plugin.key or _content(user, "client-key")
    if certificate:
        with tempfile.TemporaryDirectory(prefix="kubectl-convoy-") as folder:
            # OpenSSL takes a client certificate from files only; they are gone once it has read them.
            pair = [Path(folder, name) for name in ("certificate", "key")]
            for file, data in zip(pair, (certificate, key), strict=True):
                file.write_bytes(data)
            context.load_cert_chain(pair[0], pair[1])
    return context


def _authorization(user: Mapping[str, Any], plugin: Credential) -> Iterator[tuple[str, str]]:
    """Return who the user is; what the file says by itself wins over the plugin."""
    if token := _token(user):
        yield "Authorization", f"Bearer {token}"
    elif user.get("username"):
        pair = f"{user['username']}:{user.get('password') or ''}"
        yield "Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif plugin.token:
        yield "Authorization", f"Bearer {plugin.token}"


def _token(user: Mapping[str, Any]) -> str:
    """Return the token of the file, which somebody renews; only where there is none, the one that is written."""
    written: str = user.get("token") or ""
    if not user.get("tokenFile"):
        return written
    try:
        return Path(user["tokenFile"]).read_text(encoding="utf-8").strip() or written
    except OSError:
        if written:
            return written
        raise


def _impersonation(user: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return who to act as. Raises ValueError: something of somebody is given, and nobody named."""
    groups, extra = user.get("as-groups") or (), user.get("as-user-extra") or {}
    if not user.get("as"):
        if groups or extra or user.get("as-uid"):
            raise ValueError("as-uid, as-groups and as-user-extra need `as`")
        return
    yield "Impersonate-User", _header(user["as"])
    if user.get("as-uid"):
        yield "Impersonate-Uid", _header(user["as-uid"])
    for group in groups:
        yield "Impersonate-Group", _header(group)
    for key, values in extra.items():
        # The API server takes the key out of the header's name, where few characters may stand.
        name = f"Impersonate-Extra-{quote(key, safe=_HEADER_NAME)}"
        yield from ((name, _header(value)) for value in values)


def _header(text: object) -> str:
    """Return a text whose bytes are UTF-8 once `http.client` has written it as Latin-1."""
    return str(text).encode().decode("latin-1")


def _content(section: Mapping[str, Any], name: str) -> bytes:
    if section.get(f"{name}-data"):
        return base64.b64decode(section[f"{name}-data"])
    return Path(section[name]).read_bytes() if section.get(name) else b""


def _of_pod() -> Server:
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        token = (_POD / "token").read_text(encoding="utf-8").strip()
        context = ssl.create_default_context(cafile=_POD / "ca.crt")
        namespace = (_POD / "namespace").read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Failure(f"there is no kubeconfig, and no service account of a pod: {error}") from None
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Server(url, namespace, context, headers=[("Authorization", f"Bearer {token}")])
