"""What each command that talks to a cluster shares: its flags, the connection, and the subresources of a Release.

`@connected` adds `--namespace`, `--context` and `--kubeconfig` to a command and hands it an open `Session`. Nothing
that makes requests is imported before a command runs: `--help` must cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from convoy.api.names import VERSION
from convoy.api.objects import Manifest
from convoy.cli.errors import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from convoy.cli.api import Api

SUBRESOURCES = "subresources.convoy.kumodo.io"
_SUBRESOURCE_SECONDS = 65.0
"""The front proxy gives up after 60 s."""


@dataclass(frozen=True, slots=True)
class Session:
    """An open connection, and the namespace that the command is about."""

    api: Api
    namespace: str

    def subresource(
        self,
        method: str,
        release: str,
        name: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Manifest | None = None,
    ) -> Manifest:
        """Call a verb of a Release in the aggregated API.

        Raises:
            NoSubresources: this cluster does not serve that API.
            ApiError: it refused.
        """
        from convoy.kube.errors import KindUnknown, ServerFault
        from convoy.kube.resources import RELEASES

        path = RELEASES.path(self.namespace, release, name).replace(
            f"/apis/{RELEASES.group}/", f"/apis/{SUBRESOURCES}/", 1
        )
        try:
            return self.api.call(method, path, params=params, body=body, timeout=_SUBRESOURCE_SECONDS)
        except KindUnknown:
            raise NoSubresources(
                f"`{name}` needs convoy's aggregated API, and this cluster has no APIService "
                f"{VERSION}.{SUBRESOURCES}: install deploy/kubernetes/apiserver"
            ) from None
        except ServerFault as error:
            if error.status == 503 and "currently unable to handle" in error.message:
                raise NoSubresources(
                    f"`{name}` needs convoy's aggregated API, which does not answer: see `kubectl get apiservice "
                    f"{VERSION}.{SUBRESOURCES}`"
                ) from None
            raise


class NoSubresources(Failure):
    """The cluster does not serve the aggregated API, or it is down."""


@contextmanager
def open_session(
    *, namespace: str | None = None, context: str | None = None, kubeconfig: str | None = None
) -> Iterator[Session]:
    """Connect as the user's kubeconfig says. Raises Failure."""
    from convoy.cli.api import Api
    from convoy.cli.kubeconfig import read_server

    server = read_server(kubeconfig, context=context)
    with Api(server) as api:
        yield Session(api, namespace or server.namespace)


def connected(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Give a command a `Session` as its first argument and the flags for it."""

    @click.option("--namespace", "-n", help="Namespace. Default: that of the context.")
    @click.option("--context", help="Context of the kubeconfig.")
    @click.option("--kubeconfig", help="Path of the kubeconfig.")
    @wraps(command)
    def run(
        *, namespace: str | None, context: str | None, kubeconfig: str | None, **values: Any
    ) -> int | None:
        with open_session(namespace=namespace, context=context, kubeconfig=kubeconfig) as session:
            return command(session, **values)

    return run
