"""From a kubeconfig, a Secret or a pod's own token to a `KubeClient`.

The official package does configuration, TLS, authentication and token refresh, and is imported here only,
lazily: it costs a second. Two of its insides are touched, both in this module and under a contract test:
the SSL context that its REST client makes of a configuration, and the user section that tells whether a
token comes from a plugin.

A kubeconfig out of a Secret is written by a tenant, and read by an own, strict reader: `secret_kubeconfig`.
"""

from __future__ import annotations

import asyncio
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
from convoy.kube.secret_kubeconfig import address_of, credentials_of, data_of, read_kubeconfig, text_of

if TYPE_CHECKING:
    from kubernetes.aio.client import Configuration

_log = structlog.get_logger(__name__)

_TOKEN = "BearerToken"
_REFRESH_SECONDS = 60
_PLUGIN_SECONDS = 60.0
"""What a credential plugin may take; it may wait for a person to log in."""


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
        lambda: _secret_endpoint(*read_kubeconfig(kubeconfig), allow_private=allow_private)
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
    configuration.host = address_of(cluster, "server", {"https", "http"} if allow_private else {"https"})
    configuration.verify_ssl = cluster.get("insecure-skip-tls-verify") is not True
    configuration.tls_server_name = text_of(cluster, "tls-server-name") or None
    if cluster.get("proxy-url"):
        configuration.proxy = address_of(cluster, "proxy-url", {"http", "https"})
    if not allow_private:
        for field, url in (("server", configuration.host), ("proxy-url", configuration.proxy)):
            why = refusal(urlsplit(url).hostname or "") if url else None
            if why is not None:
                raise ClusterNotReady(f"{field} of the kubeconfig is refused: {why}")
    authority = data_of(cluster, "certificate-authority-data")
    if authority:
        configuration.ca_cert_data = authority.decode("ascii", "replace")
    authorization = credentials_of(user)
    if authorization is not None:
        configuration.api_key[_TOKEN] = authorization

    with tempfile.TemporaryDirectory(prefix="convoy-") as folder:
        # OpenSSL takes a client certificate from files only; they are gone once the context has read them.
        for field, attribute in (("client-certificate-data", "cert_file"), ("client-key-data", "key_file")):
            data = data_of(user, field)
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


def _untyped(function: Any) -> Any:
    # The package's configuration functions carry no annotations.
    return function


def _any_file(paths: str) -> bool:
    return any(Path(part).expanduser().is_file() for part in paths.split(os.pathsep))


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
