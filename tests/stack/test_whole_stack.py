"""The whole stack from the command line: up, found again, broken, cleaned, down."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.stack import local
from deploy.stack.state import StackError, State, clear, read

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The state folder of one more stack, which the tests of this module use one after the other."""
    folder = tmp_path_factory.mktemp("stacks") / "second"
    yield folder
    clear(folder)


def command(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "deploy.stack", name, str(folder)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )


def state_of(folder: Path) -> State:
    state = read(folder)
    assert state is not None
    return state


def kubectl(stack: local.Stack, *arguments: str) -> str:
    return subprocess.run(
        [stack.tool("kubectl"), "--kubeconfig", stack.kubeconfig, *arguments],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_up_starts_every_server_and_prints_what_to_export(folder: Path) -> None:
    answer = command("up", folder)

    assert answer.returncode == 0, answer.stderr
    exported = [line.partition("=")[0] for line in answer.stdout.splitlines()]
    names = ("CONVOY_STACK", "KUBECONFIG", "TEMPORAL_ADDRESS", "CONVOY_TEMPORAL_UI", "PATH")
    assert exported == [f"export {name}" for name in names]
    assert all((folder / "bin" / tool).exists() for tool in ("kubectl", "helm", "kustomize", "temporal"))
    assert [server.name for server in state_of(folder).servers] == [
        "etcd",
        "kube-apiserver",
        "temporal",
        "kube-controller-manager",
        "kube-scheduler",
        "kwok",
    ]
    assert command("status", folder).returncode == 0


def test_the_api_server_has_roles_aggregation_and_mutating_policies(folder: Path) -> None:
    stack = local.find(folder)
    assert stack is not None

    groups = kubectl(stack, "api-versions").split()
    proxy = kubectl(stack, "-n", "kube-system", "get", "cm", "extension-apiserver-authentication", "-o=yaml")
    allowed = subprocess.run(
        [
            stack.tool("kubectl"),
            "--kubeconfig",
            stack.kubeconfig,
            "auth",
            "can-i",
            "list",
            "pods",
            "--as=eve",
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert "admissionregistration.k8s.io/v1beta1" in groups
    assert "apiregistration.k8s.io/v1" in groups
    assert "front-proxy-client" in proxy
    assert allowed.stdout.strip() == "no"
    assert kubectl(stack, "version").count("v1.34.4") == 2


def test_the_temporal_web_ui_answers(folder: Path) -> None:
    stack = local.find(folder)
    assert stack is not None
    assert stack.temporal_ui is not None

    connection = http.client.HTTPConnection(stack.temporal_ui.removeprefix("http://"), timeout=10)
    connection.request("GET", "/namespaces/default/workflows")
    status = connection.getresponse().status
    connection.close()

    assert status == 200


def test_the_kubeconfig_is_readable_by_its_owner_alone(folder: Path) -> None:
    stack = local.find(folder)
    assert stack is not None

    assert stack.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_a_second_up_finds_the_running_stack(folder: Path) -> None:
    before = state_of(folder)

    assert command("up", folder).returncode == 0

    assert state_of(folder) == before


def test_a_running_stack_is_not_taken_over(folder: Path) -> None:
    with pytest.raises(StackError, match="a stack runs in"), local.running(folder):
        pass


def test_after_a_server_was_killed_status_says_so_and_the_next_up_starts_afresh(folder: Path) -> None:
    before = state_of(folder)
    victim = next(server for server in before.servers if server.name == "etcd")
    os.kill(victim.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while victim.is_running():
        assert time.monotonic() < deadline
        time.sleep(0.02)

    broken = command("status", folder)
    assert broken.returncode == 1
    assert f"ended    {victim.pid:8} etcd" in broken.stdout

    answer = command("up", folder)

    assert answer.returncode == 0, answer.stderr
    assert not any(server.is_running() for server in before.servers)
    assert state_of(folder).is_running()


def test_down_stops_every_server_and_removes_the_folder(folder: Path) -> None:
    servers = state_of(folder).servers

    answer = command("down", folder)

    assert answer.stdout == "stopped 6 servers\n"
    assert not any(server.is_running() for server in servers)
    assert not folder.exists()
    assert command("status", folder).returncode == 1


def test_the_error_of_a_server_that_does_not_start_shows_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in local.SERVERS:
        fate = "echo disk is full >&2; exit 1" if name == "etcd" else "exec sleep 600"
        (tools / name).write_text(f"#!/bin/sh\n{fate}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("CONVOY_TOOLS", str(tools))

    answer = command("up", tmp_path / "stack")

    assert answer.returncode == 1
    assert "error: etcd ended; the end of" in answer.stderr
    assert answer.stderr.rstrip().endswith("disk is full")
    assert not (tmp_path / "stack").exists()
