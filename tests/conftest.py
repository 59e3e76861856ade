"""Fixtures for every test that needs real servers. `CONVOY_STACK` chooses where they come from."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import secrets
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from deploy.stack.local import Stack
from deploy.stack.providers import Unavailable, provider

# A busy machine is no failure: no test is timed.
settings.register_profile("convoy", deadline=None)
settings.load_profile("convoy")

HANGS_AFTER = 540.0
"""Seconds that no test needs, on any machine."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Fail a test that hangs: its traceback says at what, and those after it run."""
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
        item.obj = _limited(item.obj)


def _limited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., Coroutine[Any, Any, None]]:
    @functools.wraps(test)
    async def limited(*args: Any, **values: Any) -> None:
        async with asyncio.timeout(HANGS_AFTER):
            await test(*args, **values)

    return limited


@pytest.fixture(scope="session")
def say(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Print a line past pytest's capturing: making the servers' binaries may take half an hour."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")

    def print_through(text: str) -> None:
        if capture is None:
            print(text, flush=True)
            return
        with capture.global_and_fixture_disabled():
            print(text, flush=True)

    return print_through


@pytest.fixture(scope="session")
def stack(say: Callable[[str], None]) -> Iterator[Stack]:
    """The API server with controllers and kwok, and Temporal: one for the whole session."""
    try:
        with provider(os.environ).provide(say=say) as running:
            yield running
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def namespace(stack: Stack) -> Iterator[str]:
    """A namespace of the test's own; deleted afterwards, without waiting until it is gone."""
    name = f"t-{secrets.token_hex(5)}"
    kubectl: list[str | Path] = [stack.tool("kubectl"), "--kubeconfig", stack.kubeconfig]
    subprocess.run([*kubectl, "create", "namespace", name], check=True, capture_output=True)
    yield name
    subprocess.run([*kubectl, "delete", "namespace", name, "--wait=false"], check=True, capture_output=True)
