"""Renders are saved for the next steps, published before the apply, and found again by their ref."""

from __future__ import annotations

from pathlib import Path

import pytest

from convoy.api.errors import DeployFailed
from convoy.store.renders import RenderMissing
from convoy.store.store import RenderStore
from tests.unit.store.rig import UID, files_in, render, worker


async def test_another_process_of_the_machine_finds_it_without_a_store(tmp_path: Path) -> None:
    await worker(tmp_path, store=False).save(UID, render())

    assert await worker(tmp_path, store=False).load(UID, "sha256:a") == render()


async def test_another_machine_finds_it_through_the_store(tmp_path: Path) -> None:
    await worker(tmp_path).save(UID, render())

    assert await worker(tmp_path, machine="two").load(UID, "sha256:a") == render()


async def test_another_machine_without_a_store_has_to_resolve_again(tmp_path: Path) -> None:
    await worker(tmp_path, store=False).save(UID, render())

    with pytest.raises(RenderMissing, match="sha256:a"):
        await worker(tmp_path, store=False, machine="two").load(UID, "sha256:a")


async def test_another_release_does_not_find_it(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())

    with pytest.raises(RenderMissing):
        await renders.load("33333333-4444", "sha256:a")


async def test_a_render_moved_to_another_release_does_not_open(tmp_path: Path) -> None:
    await worker(tmp_path).save(UID, render())
    (tmp_path / "store" / "work" / UID).rename(tmp_path / "store" / "work" / "33333333-4444")

    with pytest.raises(RenderMissing):
        await worker(tmp_path, machine="two").load("33333333-4444", "sha256:a")


async def test_a_damaged_one_counts_as_missing(tmp_path: Path) -> None:
    await worker(tmp_path, store=False).save(UID, render())
    for path in (tmp_path / "one").glob("*/*"):
        path.write_bytes(path.read_bytes()[:-1] + b"!")

    with pytest.raises(RenderMissing):
        await worker(tmp_path, store=False).load(UID, "sha256:a")


async def test_a_damaged_file_of_this_machine_is_read_from_the_store(tmp_path: Path) -> None:
    await worker(tmp_path).save(UID, render())
    for path in (tmp_path / "one").glob("*/*"):
        path.write_bytes(b"")

    assert await worker(tmp_path).load(UID, "sha256:a") == render()


async def test_the_same_objects_at_a_newer_revision_are_found_as_such(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())
    await renders.save(UID, render(revision="main@sha1:cd"))

    assert (await worker(tmp_path).load(UID, "sha256:a")).revision == "main@sha1:cd"


async def test_a_file_that_got_lost_is_written_again(tmp_path: Path) -> None:
    renders = worker(tmp_path, store=False)
    await renders.save(UID, render())
    for path in (tmp_path / "one").glob("*/*"):
        path.unlink()
    await renders.save(UID, render())

    assert await worker(tmp_path, store=False).load(UID, "sha256:a") == render()


async def test_only_a_published_render_is_kept_for_pins(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())
    assert not (tmp_path / "store" / "renders").exists()

    await renders.publish(UID, "sha256:a")
    await renders.publish(UID, "sha256:a")

    assert [path.name for path in (tmp_path / "store" / "renders" / UID).iterdir()] == ["sha256-a"]


async def test_a_published_render_is_found_when_all_else_is_gone(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())
    await renders.publish(UID, "sha256:a")
    for path in (tmp_path / "store" / "work" / UID).iterdir():
        path.unlink()

    assert await worker(tmp_path, machine="two").load(UID, "sha256:a") == render()


async def test_publishing_what_was_never_saved_fails(tmp_path: Path) -> None:
    with pytest.raises(RenderMissing):
        await worker(tmp_path).publish(UID, "sha256:a")


async def test_without_a_store_publishing_does_nothing(tmp_path: Path) -> None:
    await worker(tmp_path, store=False).publish(UID, "sha256:a")


async def test_a_store_that_takes_no_writes_is_a_failed_deploy(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())
    (tmp_path / "store" / "renders").write_text("a file where a folder has to be")

    with pytest.raises(DeployFailed, match=r"render store file://.*cannot (write|read)"):
        await renders.publish(UID, "sha256:a")


async def test_a_working_folder_that_takes_no_writes_is_a_failed_deploy(tmp_path: Path) -> None:
    renders = worker(tmp_path, store=False)
    (tmp_path / "one").rmdir()
    (tmp_path / "one").write_text("a file where a folder has to be")

    with pytest.raises(DeployFailed, match="the working folder is not writable"):
        await renders.save(UID, render())


async def test_no_value_lies_readable_anywhere(tmp_path: Path) -> None:
    renders = worker(tmp_path)
    await renders.save(UID, render())
    await renders.publish(UID, "sha256:a")

    files = files_in(tmp_path)
    assert len(files) == 3
    assert all(b"cXVpbmNl" not in path.read_bytes() for path in files)


async def test_a_blob_is_found_on_another_machine_in_its_latest_form(tmp_path: Path) -> None:
    one, two = worker(tmp_path), worker(tmp_path, machine="two")
    await one.save_blob(UID, "drift/1", b"old")
    assert await two.load_blob(UID, "drift/1") == b"old"

    await one.save_blob(UID, "drift/1", b"new")

    assert await two.load_blob(UID, "drift/1") == b"new"
    assert await two.load_blob(UID, "drift/2") is None


async def test_a_blob_without_a_store_stays_on_the_machine(tmp_path: Path) -> None:
    await worker(tmp_path, store=False).save_blob(UID, "a", b"x")

    assert await worker(tmp_path, store=False).load_blob(UID, "a") == b"x"


@pytest.mark.parametrize("url", ["nonsense://x", "s3:/", "not a url"])
def test_an_unknown_store_is_refused_at_start(url: str) -> None:
    with pytest.raises(ValueError, match="--render-store-url"):
        RenderStore.open(url)


@pytest.mark.parametrize("url", ["s3://bucket/convoy", "gs://bucket/convoy", "az://container/convoy"])
def test_each_cloud_has_its_urls(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")

    assert repr(RenderStore.open(url)) == f"RenderStore({url!r})"


async def test_a_store_in_memory_works_like_the_others() -> None:
    store = RenderStore.open("memory://")

    assert await store.create("a/b", b"one")
    assert not await store.create("a/b", b"two")
    assert await store.read("a/b") == b"one"
    await store.write("a/b", b"three")
    assert await store.read("a/b") == b"three"
    assert await store.stat("c") is None
    assert await store.read("c") is None


def test_a_password_in_the_url_is_in_no_representation() -> None:
    assert "hunter2" not in repr(RenderStore.open("https://me:hunter2@store.example.org/folder?sig=hunter2"))
