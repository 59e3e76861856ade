"""One fixture, three providers, chosen by CONVOY_STACK."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.stack.providers import Containers, Existing, Processes, Unavailable, provider
from deploy.stack.state import StackError


def ignore(text: str) -> None:
    """Take progress messages nobody looks at."""


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("process", Processes), ("existing", Existing), ("containers", Containers), ("", Processes)],
)
def test_the_environment_chooses_the_provider(choice: str, expected: type) -> None:
    assert isinstance(provider({"CONVOY_STACK": choice}), expected)


def test_processes_are_the_default() -> None:
    assert isinstance(provider({}), Processes)


def test_an_unknown_choice_is_refused_naming_the_choices() -> None:
    with pytest.raises(StackError, match="CONVOY_STACK=minikube: it is one of process, existing, containers"):
        provider({"CONVOY_STACK": "minikube"})


def test_an_existing_stack_is_what_the_environment_names(tmp_path: Path) -> None:
    environment = {"KUBECONFIG": str(tmp_path / "config"), "TEMPORAL_ADDRESS": "temporal:7233"}

    with Existing(environment).provide(say=ignore) as stack:
        assert stack.kubeconfig == tmp_path / "config"
        assert stack.temporal_address == "temporal:7233"
        assert stack.temporal_ui is None


def test_an_existing_stack_without_addresses_is_an_error_that_names_them() -> None:
    with (
        pytest.raises(StackError, match="needs KUBECONFIG and TEMPORAL_ADDRESS"),
        Existing({}).provide(say=ignore),
    ):
        pass


def test_containers_without_a_docker_engine_are_unavailable_with_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")

    with (
        pytest.raises(Unavailable, match="no Docker engine answers"),
        Containers().provide(say=ignore),
    ):
        pass
