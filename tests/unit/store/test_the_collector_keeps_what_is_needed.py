"""Garbage collection: what is named stays, what is young stays, the rest goes; and nothing of other Releases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from convoy.store.collector import MAX_DELETED, Collector
from convoy.store.crypto import InstallationKey
from convoy.store.renders import Renders
from tests.unit.store.rig import OTHER, UID, bucket, files_in, render, worker

LATER = datetime.now(UTC) + timedelta(days=1)


def collector(folder: Path) -> Collector:
    return Collector(bucket(folder), key=InstallationKey(b"k" * 32))


async def store(renders: Renders, *names: str, uid: str = UID) -> None:
    """Keep renders as a sync does, each with the inputs that it came from."""
    for name in names:
        await renders.save(uid, render(name))
        await renders.publish(uid, f"sha256:{name}")
        await remember(renders, f"of-{name}", name, uid=uid)


async def remember(renders: Renders, digest: str, name: str, *, uid: str = UID) -> None:
    data = msgspec.json.encode({"ref": f"sha256:{name}", "scopes": [], "warnings": []})
    await renders.save_blob(uid, f"input-{digest}", data)


def stored(folder: Path, uid: str = UID) -> set[str]:
    root = folder / "store"
    return {str(path.relative_to(root)).replace(uid, "*") for path in files_in(root) if uid in str(path)}


async def test_what_is_not_named_goes(tmp_path: Path) -> None:
    await store(worker(tmp_path), "a", "b")

    assert await collector(tmp_path).collect(UID, {"sha256:a"}, now=LATER) == 3

    assert stored(tmp_path) == {"renders/*/sha256-a", "work/*/sha256-a", "work/*/blob-input-of-a"}


async def test_what_is_young_stays(tmp_path: Path) -> None:
    await store(worker(tmp_path), "a")

    assert await collector(tmp_path).collect(UID, set()) == 0


async def test_other_releases_lose_nothing(tmp_path: Path) -> None:
    await store(worker(tmp_path), "a", uid=OTHER)
    await store(worker(tmp_path), "a", uid=f"{UID}-3")

    assert await collector(tmp_path).collect(UID, set(), now=LATER) == 0


async def test_of_many_inputs_of_one_render_the_newest_stays(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await store(renders, "a")
    await remember(renders, "newer", "a")

    await collector(tmp_path).collect(UID, {"sha256:a"}, now=LATER)

    assert stored(tmp_path) == {"renders/*/sha256-a", "work/*/sha256-a", "work/*/blob-input-newer"}


async def test_the_results_of_dry_run_and_drift_pass_stay(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save_blob(UID, "seen", b"x")
    await renders.save_blob(UID, "drift", b"x")

    assert await collector(tmp_path).collect(UID, set(), now=LATER) == 0


async def test_a_damaged_note_of_inputs_goes(tmp_path: Path) -> None:
    await remember(worker(tmp_path), "x", "a")
    for path in files_in(tmp_path / "store"):
        path.write_bytes(b"")

    assert await collector(tmp_path).collect(UID, {"sha256:a"}, now=LATER) == 1


async def test_one_collection_is_bounded_and_the_next_goes_on(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    for number in range(MAX_DELETED + 1):
        await renders.save(UID, render(str(number)))

    assert await collector(tmp_path).collect(UID, set(), now=LATER) == MAX_DELETED
    assert await collector(tmp_path).collect(UID, set(), now=LATER) == 1


async def test_a_release_that_goes_leaves_nothing(tmp_path: Path) -> None:
    await store(worker(tmp_path), "a", "b")
    await store(worker(tmp_path), "a", uid=OTHER)

    await collector(tmp_path).forget(UID)

    assert stored(tmp_path) == set()
    assert not (tmp_path / "store" / "renders" / UID).exists()
    assert len(stored(tmp_path, OTHER)) == 3


async def test_a_render_collected_elsewhere_is_written_again_when_it_is_wanted(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())
    await collector(tmp_path).collect(UID, set(), now=LATER)

    await renders.save(UID, render())

    assert await worker(tmp_path, machine="two").load(UID, "sha256:a") == render()


async def test_a_release_is_looked_at_once_in_a_while(tmp_path: Path) -> None:
    now = 0.0
    collecting = Collector(bucket(tmp_path), key=InstallationKey(b"k" * 32), clock=lambda: now)
    assert collecting.is_due(UID)

    await collecting.collect(UID, set())
    assert not collecting.is_due(UID)

    now = 3601.0
    assert collecting.is_due(UID)
