"""The same stack from three places: own processes, servers that exist, containers (`CONVOY_STACK`).

Tests and benchmarks ask for a `Stack` and never know which one they got.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from deploy.stack.acquire import Say
from deploy.stack.local import Stack, running
from deploy.stack.pins import TOOLS
from deploy.stack.state import StackError, sweep


class Unavailable(Exception):
    """This provider cannot work on this machine; the message says why (tests skip with it)."""


class Provider(Protocol):
    """Somebody who has a stack."""

    def provide(self, *, say: Say) -> AbstractContextManager[Stack]:
        """Hold a stack as long as the block lasts. Raises Unavailable or StackError."""


class Processes:
    """Own processes, started for this run alone. What an earlier run left behind is cleared first."""

    def provide(self, *, say: Say) -> AbstractContextManager[Stack]:
        """Start all servers."""
        base = Path(tempfile.gettempdir()) / f"convoy-stacks-{os.getuid()}"
        base.mkdir(mode=0o700, exist_ok=True)
        sweep(base)
        return running(base / f"{os.getpid()}-{secrets.token_hex(3)}", durable=False, say=say)


class Existing:
    """Servers that run already, named by `KUBECONFIG`, `TEMPORAL_ADDRESS` and `CONVOY_TEMPORAL_UI`."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    @contextlib.contextmanager
    def provide(self, *, say: Say) -> Iterator[Stack]:  # noqa: ARG002  (the Protocol's)
        """Hand out what the environment names. Raises StackError when it names too little."""
        missing = [name for name in ("KUBECONFIG", "TEMPORAL_ADDRESS") if not self._environment.get(name)]
        if missing:
            raise StackError(f"CONVOY_STACK=existing needs {' and '.join(missing)} in the environment")
        with tempfile.TemporaryDirectory(prefix="convoy-tools-") as tools:
            yield Stack(
                kubeconfig=Path(self._environment["KUBECONFIG"]),
                temporal_address=self._environment["TEMPORAL_ADDRESS"],
                temporal_ui=self._environment.get("CONVOY_TEMPORAL_UI"),
                tools=Path(tools),
            )


class Containers:
    """K3s and a Temporal server as containers. The kubelet is real: images of `fake.local` never start."""

    @contextlib.contextmanager
    def provide(self, *, say: Say) -> Iterator[Stack]:
        """Start both containers. Raises Unavailable when no Docker engine answers."""
        from docker.errors import DockerException  # type: ignore[import-untyped]
        from testcontainers.community.k3s import K3SContainer
        from testcontainers.core.container import DockerContainer
        from testcontainers.core.docker_client import DockerClient
        from testcontainers.core.wait_strategies import PortWaitStrategy

        try:
            DockerClient().client.ping()
        except DockerException as error:
            raise Unavailable(f"no Docker engine answers: {error}") from error
        say("starting K3s and Temporal as containers")
        kubernetes = K3SContainer(image=f"rancher/k3s:v{TOOLS['kubectl'].version}-k3s1")
        temporal = (
            DockerContainer(f"temporalio/temporal:{TOOLS['temporal'].version}")
            .with_command("server start-dev --ip 0.0.0.0")
            .with_exposed_ports(7233, 8233)
            .waiting_for(PortWaitStrategy(7233))
        )
        with kubernetes, temporal, tempfile.TemporaryDirectory(prefix="convoy-stack-") as folder:
            kubeconfig = Path(folder) / "kubeconfig"
            kubeconfig.touch(mode=0o600)
            kubeconfig.write_text(kubernetes.config_yaml())
            (Path(folder) / "bin").mkdir()
            host = temporal.get_container_host_ip()
            yield Stack(
                kubeconfig=kubeconfig,
                temporal_address=f"{host}:{temporal.get_exposed_port(7233)}",
                temporal_ui=f"http://{host}:{temporal.get_exposed_port(8233)}",
                tools=Path(folder) / "bin",
            )


def provider(environment: Mapping[str, str]) -> Provider:
    """Return the provider that `CONVOY_STACK` names; `process` where it is not set. Raises StackError."""
    choice = environment.get("CONVOY_STACK") or "process"
    match choice:
        case "process":
            return Processes()
        case "existing":
            return Existing(environment)
        case "containers":
            return Containers()
    raise StackError(f"CONVOY_STACK={choice}: it is one of process, existing, containers")
