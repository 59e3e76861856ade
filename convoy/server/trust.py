"""The TLS side of the server: its own certificate and the front proxy's CA, both of which change while it runs.

A certificate of a year is renewed by somebody else, and a front proxy's CA is rotated; a server that read them
once would fail at night. The listening socket keeps one SSL context; each handshake is handed over to the
current one. Connections made under an earlier CA are closed once they are idle. There is no session resumption,
since a resumed session would skip the check of the client's certificate.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from convoy.api.objects import Manifest
from convoy.kube.client import KubeClient
from convoy.kube.reflector import Change, Reflector
from convoy.kube.resources import CONFIG_MAPS
from convoy.server.front_proxy import FrontProxy

NAMESPACE = "kube-system"
CONFIG_MAP = "extension-apiserver-authentication"
LOOK_SECONDS = 10.0
"""How often the files are looked at."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ServingFiles:
    """The server's own certificate chain and key, in PEM."""

    certificate: Path
    key: Path

    def stamp(self) -> tuple[tuple[int, int, int], ...]:
        """Return what changes when one of the files does."""
        found = []
        for path in (self.certificate, self.key):
            stat = os.stat(path)
            found.append((stat.st_mtime_ns, stat.st_ino, stat.st_size))
        return tuple(found)


class Trust:
    """Keeps the SSL context and the front proxy's identity current. `run()` is the task."""

    def __init__(
        self,
        home: KubeClient,
        files: ServingFiles,
        *,
        namespace: str = NAMESPACE,
        config_map: str = CONFIG_MAP,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Read the serving certificate; raises `RuntimeError` where it cannot be used.

        The ConfigMap is kube-apiserver's own, unless another front proxy publishes its CA elsewhere in the same form.
        """
        self._files = files
        self._look_seconds = look_seconds
        self._proxy: FrontProxy | None = None
        self._where = f"ConfigMap {namespace}/{config_map}"
        self._why = f"{self._where} was not found"
        self.on_new_ca: Callable[[], None] = lambda: None
        """Called when connections made before must not be used any longer."""
        try:
            self._stamp = files.stamp()
            self._current = _context(files, None)
        except (OSError, ValueError) as error:
            raise RuntimeError(f"the serving certificate cannot be used: {error}") from error
        self.listening = _context(files, None)
        """For the listening socket."""
        self.listening.sni_callback = self._hand_over
        self._reflector: Reflector[Manifest] = Reflector(
            home,
            CONFIG_MAPS,
            namespace,
            project=lambda tree: tree,
            on_event=self._on_event,
            field_selector=f"metadata.name={config_map}",
        )

    @property
    def proxy(self) -> FrontProxy | None:
        """Who may speak for users; None as long as nobody may."""
        return self._proxy

    @property
    def why_not(self) -> str:
        """Why nobody may, for /readyz."""
        return self._why

    async def run(self) -> None:
        """Watch the ConfigMap and the files. Ends by cancellation only."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._reflector.run())
            group.create_task(self._watch_files())

    async def synced(self) -> None:
        """Wait until the ConfigMap was looked for."""
        await self._reflector.synced()

    def _on_event(self, change: Change[Manifest]) -> None:
        before = self._proxy
        try:
            self._proxy = None if change.type == "DELETED" else FrontProxy.read(change.value)
            self._why = f"{self._where} was deleted" if self._proxy is None else ""
            if (before.ca if before else None) != (self._proxy.ca if self._proxy else None):
                self._current = _context(self._files, self._proxy)
        except (OSError, ValueError) as error:
            self._proxy, self._why = None, f"{self._where}: {error}"
        if self._proxy != before:
            _log.info("front-proxy-changed", trusted=self._proxy is not None, why_not=self._why)
            self.on_new_ca()

    async def _watch_files(self) -> None:
        while True:
            await asyncio.sleep(self._look_seconds)
            try:
                stamp = await asyncio.to_thread(self._files.stamp)
                if stamp == self._stamp:
                    continue
                # Not in a thread: the front proxy may change meanwhile, and the older of two CAs would win.
                self._current = _context(self._files, self._proxy)
            except (OSError, ValueError) as error:
                # Half written, or a key that is not the certificate's yet: the next look finds the rest.
                _log.warning("serving-certificate-unusable", why=str(error))
                continue
            self._stamp = stamp
            _log.info("serving-certificate-reloaded")

    def _hand_over(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:
        del name, context
        connection.context = self._current


def _context(files: ServingFiles, proxy: FrontProxy | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.num_tickets = 0
    context.load_cert_chain(files.certificate, files.key)
    # Kubelets probe without a certificate; everything else is refused without one, before routing.
    context.verify_mode = ssl.CERT_OPTIONAL
    if proxy is not None:
        context.load_verify_locations(cadata=proxy.ca)
    return context
