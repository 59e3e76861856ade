"""What the render store keeps for pins, and what a store that fails does to a sync (D40, Store the render)."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from convoy.api.objects import Manifest
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import PATIENCE, Tenant, applied_of, config_map
from tests.e2e.test_pin import history, pin, successful, two_renders, value


@pytest.fixture
def store(convoy: Convoy) -> Path:
    """The folder that the render store's URL names."""
    return Path(urlsplit(convoy.settings.render_store_url or "").path)


def folder_of(store: Path, tree: Manifest) -> Path:
    uid: str = tree["metadata"]["uid"]
    return store / "renders" / uid


def file_of(folder: Path, ref: str) -> Path:
    return folder / ref.replace(":", "-")


def files_of(folder: Path) -> set[Path]:
    return set(folder.iterdir())


def put_out_of_reach(folder: Path) -> None:
    """Make every read and write below it fail, also for root: a link to itself."""
    if folder.exists():
        folder.rename(folder.with_name(f"{folder.name}-away"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(folder.name)


def give_back(folder: Path) -> None:
    folder.unlink()
    away = folder.with_name(f"{folder.name}-away")
    if away.exists():
        away.rename(folder)


async def test_a_render_that_cannot_be_stored_is_not_applied(tenant: Tenant, store: Path) -> None:
    policy = {"automatic": False, "retryBackoff": {"initial": "1h"}}
    await tenant.release("app", {"a.yaml": config_map("a", tenant.namespace, v="1")}, policy=policy)
    folder = folder_of(store, await tenant.applied("app", "WaitingForSync"))
    put_out_of_reach(folder)

    await tenant.sync("app")
    tree = await tenant.applied("app", "DeployFailed")

    assert "render store file://" in applied_of(tree)["message"]
    assert "lastSuccessful" not in tree["status"]
    assert await tenant.config_map("a") is None

    give_back(folder)
    await tenant.sync("app")
    await tenant.applied("app")
    assert await value(tenant) == "1"


async def test_a_pin_whose_store_does_not_answer_is_retried_and_not_lost(tenant: Tenant, store: Path) -> None:
    first, second = await two_renders(tenant, policy={"retryBackoff": {"initial": "1s", "max": "2s"}})
    folder = folder_of(store, await tenant.get("app"))
    put_out_of_reach(folder)

    tree = await pin(tenant, first, "DeployFailed")
    assert "render store file://" in applied_of(tree)["message"]
    assert await value(tenant) == "2"

    give_back(folder)
    assert history(await tenant.applied("app")) == [first, second, first]


async def test_a_damaged_render_is_not_followed(tenant: Tenant, store: Path) -> None:
    first, _ = await two_renders(tenant)
    path = file_of(folder_of(store, await tenant.get("app")), first)
    path.write_bytes(path.read_bytes()[:-1])

    tree = await pin(tenant, first, "Pinned")

    assert f"{first} is damaged" in applied_of(tree)["message"]
    assert await value(tenant) == "2"


async def test_a_render_that_left_the_history_leaves_the_store(tenant: Tenant, store: Path) -> None:
    first, second = await two_renders(tenant, historyLimit=2)
    folder = folder_of(store, await tenant.get("app"))
    yesterday = (datetime.now(UTC) - timedelta(days=1)).timestamp()
    for ref in (first, second):
        os.utime(file_of(folder, ref), (yesterday, yesterday))

    await tenant.patch("app", {"spec": {"historyLimit": 1}, "pin": {"renderRef": first}})
    await tenant.applied("app")
    await holds_only(folder, first)

    assert successful(await pin(tenant, None)) == second
    await holds_only(folder, second)


async def holds_only(folder: Path, ref: str) -> None:
    """Wait for the collection, which comes after the status of its sync."""
    async with asyncio.timeout(PATIENCE):
        while files_of(folder) != {file_of(folder, ref)}:  # noqa: ASYNC110 (a folder tells nobody)
            await asyncio.sleep(0.1)


async def test_a_deleted_release_leaves_nothing_in_the_store(tenant: Tenant, store: Path) -> None:
    await two_renders(tenant)
    folder = folder_of(store, await tenant.get("app"))
    assert folder.exists()

    await tenant.delete("app")
    await tenant.gone("app")

    assert not folder.exists()
    assert not (store / "work" / folder.name).exists()
