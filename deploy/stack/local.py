"""Start the whole stack in one folder, wait until it works, and stop it again.

    with running(Path(".state/demo"), say=print) as stack:
        stack.kubeconfig, stack.temporal_address, stack.temporal_ui, stack.tool("kubectl")

An owned stack ends with its owner, however that ends (`deploy.stack.keeper`). A detached one goes on until
`.venv/bin/python -m deploy.stack down`.
"""

from __future__ import annotations

import contextlib
import http.client
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from deploy.stack import kubernetes, temporal
from deploy.stack.acquire import Say, acquire
from deploy.stack.certificates import make_certificates
from deploy.stack.keeper import kept
from deploy.stack.ports import free_ports
from deploy.stack.processes import ServerFailed, start, stop
from deploy.stack.stages import stages_yaml
from deploy.stack.state import StackError, State, claim, clear, read, write

SERVERS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "temporal")
_HEALTHY_WITHIN = 180.0


@dataclass(frozen=True, slots=True)
class Stack:
    """What a running stack offers."""

    kubeconfig: Path
    temporal_address: str
    temporal_ui: str | None
    tools: Path
    """A folder with a link to each tool that was asked for so far."""

    def tool(self, name: str, say: Say = print) -> Path:
        """Return the path of a pinned tool (helm, kustomize, kubectl, …), acquired at the first call."""
        return _link(self.tools, name, say)


def find(folder: Path) -> Stack | None:
    """Return the stack that runs in `folder`, None when there is none or a server of it has died."""
    state = read(folder)
    return _stack(folder, state) if state is not None and state.is_running() else None


@contextlib.contextmanager
def running(folder: Path, *, durable: bool = True, say: Say = print) -> Iterator[Stack]:
    """Run a stack that this process owns, as long as the block lasts.

    `durable` keeps Temporal's state in a file (the demo), otherwise in memory. Raises StackError when the
    folder is in use or a tool cannot be had, ServerFailed with the log's tail when a server does not come up.
    """
    state = claim(folder)
    with kept(folder), contextlib.closing(_Start(folder.resolve(), state, say)) as starting:
        yield starting.run(durable=durable)


def start_detached(folder: Path, *, durable: bool = True, say: Say = print) -> Stack:
    """Start a stack that outlives this process; raises what `running` raises."""
    with contextlib.ExitStack() as on_failure:
        starting = _Start(folder.resolve(), claim(folder), say)
        on_failure.callback(starting.close)
        stack = starting.run(durable=durable)
        starting.disown()
        on_failure.pop_all()
    return stack


class _Start:
    """One start. The state file is true after each step, so that `close` or any later run can undo it."""

    def __init__(self, folder: Path, state: State, say: Say) -> None:
        self._folder = folder
        self._state = state
        self._say = say

    def close(self) -> None:
        """Stop what was started and remove the folder."""
        stop(self._state.servers)
        clear(self._folder)

    def disown(self) -> None:
        """Let the stack outlive this process."""
        self._state = replace(self._state, owner=None)
        write(self._folder, self._state)

    def run(self, *, durable: bool) -> Stack:
        """Start all servers and wait until each is healthy."""
        began = time.monotonic()
        tools = self._folder / "bin"
        tools.mkdir()
        binary = {name: _link(tools, name, self._say) for name in SERVERS}
        (self._folder / "logs").mkdir()
        ports = free_ports(7)
        cluster = kubernetes.Cluster(
            folder=self._folder,
            certificates=make_certificates(self._folder / "pki"),
            etcd_port=ports[0],
            etcd_peer_port=ports[1],
            port=ports[2],
        )
        kubernetes.write_kubeconfig(cluster)
        database = self._folder / "temporal.db" if durable else None
        history = temporal.Temporal(ports[3], ports[4], ports[5], ports[6], database)
        stages = self._folder / "stages.yaml"
        stages.write_text(stages_yaml())
        admin = kubernetes.Admin(cluster)

        self._say("starting etcd, kube-apiserver and Temporal")
        self._server("etcd", kubernetes.etcd(binary["etcd"], cluster))
        self._server("kube-apiserver", kubernetes.api_server(binary["kube-apiserver"], cluster))
        self._server("temporal", temporal.server(binary["temporal"], history))
        self._wait("kube-apiserver", admin.answers)
        self._say("starting controllers, scheduler and the fake node")
        self._server(
            "kube-controller-manager",
            kubernetes.controller_manager(binary["kube-controller-manager"], cluster),
        )
        self._server("kube-scheduler", kubernetes.scheduler(binary["kube-scheduler"], cluster))
        self._server("kwok", kubernetes.kwok(binary["kwok"], cluster, stages))
        self._wait("kube-apiserver", admin.add_node)
        self._wait("kwok", admin.works)
        self._wait("temporal", lambda: temporal.answers(history))
        endpoints = {
            "kubeconfig": str(cluster.kubeconfig),
            "temporal_address": history.address,
            "temporal_ui": history.ui,
        }
        self._state = replace(self._state, endpoints=endpoints)
        write(self._folder, self._state)
        self._say(f"the stack runs, after {time.monotonic() - began:.0f} s; logs in {self._folder / 'logs'}")
        return _stack(self._folder, self._state)

    def _server(self, name: str, command: kubernetes.Command) -> None:
        log = self._folder / "logs" / f"{name}.log"
        self._state = self._state.with_server(start(name, command, log=log, cwd=self._folder))
        write(self._folder, self._state)

    def _wait(self, name: str, check: Callable[[], bool]) -> None:
        """Wait until `check` holds; raise ServerFailed when a server dies or `name` takes too long."""
        deadline = time.monotonic() + _HEALTHY_WITHIN
        reason = "it answers, but is not ready"
        while time.monotonic() < deadline:
            for server in self._state.servers:
                server.check()
            try:
                if check():
                    return
            except (OSError, http.client.HTTPException) as error:
                reason = str(error)
            time.sleep(0.1)
        slow = next(server for server in self._state.servers if server.name == name)
        raise ServerFailed(
            f"{name} is not healthy after {_HEALTHY_WITHIN:.0f} s ({reason}); "
            f"the end of {slow.log}:\n{slow.tail()}"
        )


def _stack(folder: Path, state: State) -> Stack:
    if state.endpoints is None:
        raise StackError(f"the stack in {folder} was never ready")
    return Stack(
        kubeconfig=Path(state.endpoints["kubeconfig"]),
        temporal_address=state.endpoints["temporal_address"],
        temporal_ui=state.endpoints["temporal_ui"],
        tools=folder / "bin",
    )


def _link(folder: Path, name: str, say: Say) -> Path:
    link = folder / name
    if not link.exists():
        link.unlink(missing_ok=True)
        with contextlib.suppress(FileExistsError):
            link.symlink_to(acquire(name, say=say))
    return link
