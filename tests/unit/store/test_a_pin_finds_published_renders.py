"""D40: a pin finds its own Release's renders in the store, whole, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from convoy.api.errors import DeployFailed
from convoy.store.renders import RenderMissing
from tests.unit.store.rig import OTHER, UID, render, worker


def published(folder: Path) -> Path:
    return folder / "store" / "renders" / UID / "sha256-a"


async def publish(folder: Path) -> None:
    renders = worker(folder)
    await renders.save(UID, render())
    await renders.publish(UID, "sha256:a")


async def test_it_is_found_from_every_machine(tmp_path: Path) -> None:
    await publish(tmp_path)

    assert await worker(tmp_path, machine="two").load_published(UID, "sha256:a") == render()


async def test_a_render_that_was_only_in_work_is_not_found(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())

    with pytest.raises(RenderMissing, match="the render store has no render sha256:a of this Release"):
        await renders.load_published(UID, "sha256:a")


async def test_another_releases_ref_is_not_found(tmp_path: Path) -> None:
    await publish(tmp_path)

    with pytest.raises(RenderMissing, match="no render sha256:a of this Release"):
        await worker(tmp_path).load_published(OTHER, "sha256:a")


async def test_a_file_copied_from_another_release_does_not_open(tmp_path: Path) -> None:
    await publish(tmp_path)
    copy = tmp_path / "store" / "renders" / OTHER / "sha256-a"
    copy.parent.mkdir()
    copy.write_bytes(published(tmp_path).read_bytes())

    with pytest.raises(RenderMissing, match="is damaged"):
        await worker(tmp_path).load_published(OTHER, "sha256:a")


async def test_a_file_under_another_renders_name_does_not_open(tmp_path: Path) -> None:
    await publish(tmp_path)
    published(tmp_path).rename(published(tmp_path).with_name("sha256-b"))

    with pytest.raises(RenderMissing, match="is damaged"):
        await worker(tmp_path).load_published(UID, "sha256:b")


@pytest.mark.parametrize("cut", [0, 5, -1])
async def test_a_damaged_file_is_told_and_not_followed(tmp_path: Path, cut: int) -> None:
    await publish(tmp_path)
    published(tmp_path).write_bytes(published(tmp_path).read_bytes()[:cut])

    with pytest.raises(RenderMissing, match="sha256:a is damaged, or was written with another key"):
        await worker(tmp_path).load_published(UID, "sha256:a")


async def test_a_file_that_is_gone_is_missing_though_this_machine_has_read_it(tmp_path: Path) -> None:
    await publish(tmp_path)
    renders = worker(tmp_path)
    await renders.load_published(UID, "sha256:a")
    published(tmp_path).unlink()

    with pytest.raises(RenderMissing, match="no render sha256:a"):
        await renders.load_published(UID, "sha256:a")


async def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    await publish(tmp_path)
    renders = worker(tmp_path)
    await renders.load_published(UID, "sha256:a")
    published(tmp_path).write_bytes(b"something else")

    with pytest.raises(RenderMissing, match="is damaged"):
        await renders.load_published(UID, "sha256:a")


async def test_without_a_store_the_answer_says_so(tmp_path: Path) -> None:
    with pytest.raises(RenderMissing, match=r"no render store \(--render-store-url\)"):
        await worker(tmp_path, store=False).load_published(UID, "sha256:a")


async def test_a_store_that_does_not_answer_is_no_missing_render(tmp_path: Path) -> None:
    await publish(tmp_path)
    renders = worker(tmp_path)
    folder = published(tmp_path).parent
    folder.rename(folder.with_name("away"))
    folder.symlink_to(folder.name)  # a loop: every read fails, whoever reads

    with pytest.raises(DeployFailed, match=r"render store file://.*cannot read"):
        await renders.load_published(UID, "sha256:a")


async def test_publishing_again_mends_a_damaged_file(tmp_path: Path) -> None:
    await publish(tmp_path)
    published(tmp_path).write_bytes(b"")
    renders = worker(tmp_path)

    await renders.publish(UID, "sha256:a")

    assert await worker(tmp_path).load_published(UID, "sha256:a") == render()


async def test_publishing_again_leaves_a_sound_file_alone(tmp_path: Path) -> None:
    await publish(tmp_path)
    before = published(tmp_path).read_bytes()

    await worker(tmp_path).publish(UID, "sha256:a")

    assert published(tmp_path).read_bytes() == before
