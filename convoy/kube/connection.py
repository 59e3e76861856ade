"""From a kubeconfig, a Secret or a pod's own token to a `KubeClient`.

The official package does configuration, TLS, authentication and token refresh, and is imported here only,
lazily: it costs a second. Two of its insides are touched, both in this module and under a contract test:
the SSL context that its REST client makes of a configuration, and the user section that tells whether a
token comes from a plugin.

A kubeconfig out of a Secret is written by a tenant. It is read by an own, strict reader: a plugin would run
code as convoy, a path would read convoy's files, an unknown field may be the next of either kind.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog
import yaml

from convoy.api.errors import ClusterNotReady
from convoy.kube.addresses import GuardedResolver, refusal
from convoy.kube.client import Endpoint, KubeClient, Limits
from convoy.kube.errors import Unauthorized

if TYPE_CHECKING:
    from kubernetes.aio.client import Configuration

_log = structlog.get_logger(__name__)

_TOKEN = "BearerToken"
_REFRESH_SECONDS = 60
_PLUGIN_SECONDS = 60.0
"""What a credential plugin may take; it may wait for a person to log in."""
_CLUSTER_FIELDS = {
    "server",
    "certificate-authority-data",
    "insecure-skip-tls-verify",
    "tls-server-name",
    "proxy-url",
    "disable-compression",
    "extensions",
}
_USER_FIELDS = {"token", "client-certificate-data", "client-key-data", "username", "password", "extensions"}
_RUNS_CODE = {"exec", "auth-provider"}
_READS_FILES = {"certificate-authority", "client-certificate", "client-key", "tokenFile"}


async def connect_kubeconfig(
    path: str | Path | None = None, *, context: str | None = None, limits: Limits | None = None
) -> KubeClient:
    """Connect as the operator's own kubeconfig says: `path`, else `KUBECONFIG`, else `~/.kube/config`.

    Plugins run and files are read, and a plugin's token is refreshed for as long as the client is open.

    Raises:
        ClusterNotReady: the file is missing or cannot be used.
    """
    from kubernetes.aio import config
    from kubernetes.aio.client import Configuration

    file = str(path or os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")
    if not await asyncio.to_thread(_any_file, file):
        raise ClusterNotReady(f"kubeconfig {file} does not exist")
    configuration = Configuration()
    try:
        async with asyncio.timeout(_PLUGIN_SECONDS):
            loader = await _untyped(config.load_kube_config)(
                file, context=context, client_configuration=configuration, persist_config=False
            )
        endpoint = await asyncio.to_thread(_endpoint, configuration)
    except TimeoutError:
        raise ClusterNotReady(
            f"kubeconfig {file} cannot be used: its credential plugin gave no answer in {_PLUGIN_SECONDS:g} s"
        ) from None
    except (config.ConfigException, OSError, ValueError, TypeError, AttributeError, yaml.YAMLError) as error:
        # The package answers a malformed file with any of these.
        raise ClusterNotReady(f"kubeconfig {file} cannot be used: {_one_line(error)}") from error

    if _TOKEN in configuration.api_key and _has_plugin(loader):
        fetch = loader.load_gcp_token if loader.provider == "gcp" else loader.load_from_exec_plugin

        async def refresh() -> None:
            # Not by the package's own loop, which waits for ever for a plugin that hangs once.
            while True:
                await asyncio.sleep(_REFRESH_SECONDS)
                try:
                    async with asyncio.timeout(_PLUGIN_SECONDS):
                        await fetch()
                    configuration.api_key[_TOKEN] = loader.token
                except (config.ConfigException, OSError, ValueError) as error:
                    # A TimeoutError is an OSError.
                    _log.warning("token-refresh-failed", kubeconfig=file, error=_one_line(error))

        endpoint = replace(endpoint, refresh=refresh)
    return KubeClient(endpoint, limits=limits)


async def connect_in_cluster(*, limits: Limits | None = None) -> KubeClient:
    """Connect with the service account of the pod.

    The token file is read again every minute, since tokens rotate.

    Raises:
        ClusterNotReady: this process does not run in a pod with a service account.
    """
    from kubernetes.aio import config
    from kubernetes.aio.client import Configuration

    configuration = Configuration()
    try:
        _untyped(config.load_incluster_config)(client_configuration=configuration)
        endpoint = await asyncio.to_thread(_endpoint, configuration)
    except (config.ConfigException, OSError, ValueError) as error:
        raise ClusterNotReady(f"no service account of a pod: {_one_line(error)}") from error
    return KubeClient(endpoint, limits=limits)


async def connect_home(
    kubeconfig: str | Path | None = None, *, context: str | None = None, limits: Limits | None = None
) -> KubeClient:
    """Connect to the cluster that convoy's own resources are in.

    As a named kubeconfig says, else as the pod that this runs in, else as the default kubeconfig.

    Raises:
        ClusterNotReady: neither can be used.
    """
    if kubeconfig is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
        return await connect_in_cluster(limits=limits)
    return await connect_kubeconfig(kubeconfig, context=context, limits=limits)


async def connect_secret(
    kubeconfig: bytes,
    *,
    limits: Limits | None = None,
    impersonate: str | None = None,
    allow_private: bool = False,
) -> KubeClient:
    """Connect as a tenant's kubeconfig says, which may neither run code nor read files.

    `allow_private` allows loopback, link-local and metadata addresses, and plain http (D41).

    Raises:
        ClusterNotReady: it is refused or cannot be used; the message names the field and never holds a
        credential.
    """
    # In a thread all of it: to read a large Secret takes seconds, in which no other task would run.
    endpoint = await asyncio.to_thread(
        lambda: _secret_endpoint(*_read(kubeconfig), allow_private=allow_private)
    )
    return KubeClient(replace(endpoint, impersonate=impersonate), limits=limits)


def impersonating(client: KubeClient, user: str, *, limits: Limits | None = None) -> KubeClient:
    """Open a second client to the same server that acts as `user`.

    Its token is the first one's, so it must not outlive it.
    """
    return KubeClient(
        replace(client.endpoint, impersonate=user, refresh=None), limits=limits or client.limits
    )


def _endpoint(configuration: Configuration) -> Endpoint:
    # First private touch point: the package makes the SSL context in its REST client only.
    from kubernetes.aio.client.rest import RESTClientObject

    server = configuration.host.rstrip("/")
    context = RESTClientObject(configuration).ssl_context if server.startswith("https:") else None
    return Endpoint(
        server=server,
        ssl=context,
        server_name=configuration.tls_server_name,
        authorization=_authorization(configuration),
        proxy=configuration.proxy,
    )


def _authorization(configuration: Configuration) -> Callable[[], Awaitable[str | None]]:
    async def authorization() -> str | None:
        from kubernetes.aio.config import ConfigException

        try:
            return await configuration.get_api_key_with_prefix(_TOKEN)
        except (ConfigException, OSError) as error:
            raise Unauthorized(f"the token cannot be read: {_one_line(error)}") from error

    return authorization


def _has_plugin(loader: Any) -> bool:
    # Second private touch point: refresh_token() fails on a loader whose user has no plugin.
    return loader.provider == "gcp" or (loader._user is not None and "exec" in loader._user)


def _secret_endpoint(cluster: Mapping[str, Any], user: Mapping[str, Any], *, allow_private: bool) -> Endpoint:
    from kubernetes.aio.client import Configuration

    configuration = Configuration()
    configuration.host = _address(cluster, "server", {"https", "http"} if allow_private else {"https"})
    configuration.verify_ssl = cluster.get("insecure-skip-tls-verify") is not True
    configuration.tls_server_name = _text(cluster, "tls-server-name") or None
    if cluster.get("proxy-url"):
        configuration.proxy = _address(cluster, "proxy-url", {"http", "https"})
    if not allow_private:
        for field, url in (("server", configuration.host), ("proxy-url", configuration.proxy)):
            why = refusal(urlsplit(url).hostname or "") if url else None
            if why is not None:
                raise ClusterNotReady(f"{field} of the kubeconfig is refused: {why}")
    authority = _data(cluster, "certificate-authority-data")
    if authority:
        configuration.ca_cert_data = authority.decode("ascii", "replace")
    authorization = _credentials(user)
    if authorization is not None:
        configuration.api_key[_TOKEN] = authorization

    with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
        # OpenSSL takes a client certificate from files only; they are gone once the context has read them.
        for field, attribute in (("client-certificate-data", "cert_file"), ("client-key-data", "key_file")):
            data = _data(user, field)
            if data:
                file = Path(folder, attribute)
                file.write_bytes(data)
                setattr(configuration, attribute, str(file))
        try:
            endpoint = _endpoint(configuration)
        except (ssl.SSLError, OSError, ValueError) as error:
            raise ClusterNotReady(
                f"the certificates of the kubeconfig cannot be used: {_one_line(error)}"
            ) from error
    return endpoint if allow_private else replace(endpoint, resolver=GuardedResolver)


def _read(kubeconfig: bytes) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    try:
        tree = yaml.load(kubeconfig, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        # The error's own text quotes the line, which may be a token.
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise ClusterNotReady(f"the kubeconfig is no YAML{where}") from None
    except (ValueError, RecursionError):
        raise ClusterNotReady("the kubeconfig is no YAML") from None
    if not isinstance(tree, dict):
        raise ClusterNotReady("the kubeconfig is no mapping")
    name = tree.get("current-context")
    if not name:
        raise ClusterNotReady("the kubeconfig has no current-context")
    context = _named(tree, "contexts", "context", name)
    cluster = _named(tree, "clusters", "cluster", context.get("cluster"))
    user = _named(tree, "users", "user", context["user"]) if context.get("user") else {}
    for section, fields, allowed in (("cluster", cluster, _CLUSTER_FIELDS), ("user", user, _USER_FIELDS)):
        for field in fields:
            if field in _RUNS_CODE:
                raise ClusterNotReady(
                    f"the {section} of the kubeconfig has {field}: it would run code as convoy"
                )
            if field in _READS_FILES:
                raise ClusterNotReady(
                    f"the {section} of the kubeconfig has {field}: it would read a file of convoy's; "
                    "put the content itself into the kubeconfig"
                )
            if field not in allowed:
                raise ClusterNotReady(
                    f"the {section} of the kubeconfig has a field that is not supported: {field}"
                )
    return cluster, user


def _named(tree: Mapping[str, Any], section: str, field: str, name: object) -> Mapping[str, Any]:
    entries = tree.get(section)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get(field) or {}, dict):
            found: Mapping[str, Any] = entry.get(field) or {}
            return found
    raise ClusterNotReady(f"the kubeconfig has no {field} named {name!r} in {section}")


def _address(section: Mapping[str, Any], field: str, schemes: set[str]) -> str:
    text = _text(section, field)
    try:
        url = urlsplit(text)
        valid = bool(url.hostname) and (url.port or 1) > 0 and not url.query and not url.fragment
    except ValueError:
        valid = False
    if not valid or url.scheme not in schemes or (field == "server" and url.username is not None):
        raise ClusterNotReady(f"{field} of the kubeconfig must be a URL of {' or '.join(sorted(schemes))}")
    return text.rstrip("/")


def _text(section: Mapping[str, Any], field: str) -> str:
    value = section.get(field)
    if value is None:
        return ""
    if not isinstance(value, str) or any(not "!" <= letter <= "~" for letter in value.strip()):
        raise ClusterNotReady(
            f"{field} of the kubeconfig must be a text without spaces and control characters"
        )
    return value.strip()


def _data(section: Mapping[str, Any], field: str) -> bytes:
    try:
        return base64.b64decode("".join(str(section.get(field) or "").split()), validate=True)
    except (binascii.Error, ValueError):
        raise ClusterNotReady(f"{field} of the kubeconfig is no base64") from None


def _credentials(user: Mapping[str, Any]) -> str | None:
    token = _text(user, "token")
    if token:
        return f"Bearer {token}"
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password') or ''}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"
    return None


def _untyped(function: Any) -> Any:
    # The package's configuration functions carry no annotations.
    return function


def _any_file(paths: str) -> bool:
    return any(Path(part).expanduser().is_file() for part in paths.split(os.pathsep))


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
