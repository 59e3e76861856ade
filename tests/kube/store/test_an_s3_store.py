"""The render store on a real S3 server: conditional create, and a clear reason where it is gone."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from convoy.api.errors import DeployFailed
from convoy.store.store import RenderStore
from deploy.stack.local import Stack


@pytest.fixture(scope="module")
def s3(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start an S3 server with one bucket; yields its address."""
    folder = tmp_path_factory.mktemp("s3")
    (folder / "bucket").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    argv: list[str | Path] = [stack.tool("versitygw"), "--port", address, "posix", folder]
    env = os.environ | {"ROOT_ACCESS_KEY": "access", "ROOT_SECRET_KEY": "secret"}
    with subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(address)
            yield address
        finally:
            server.terminate()


def wait_for(address: str) -> None:
    host, port = address.split(":")
    for _ in range(600):
        try:
            with socket.create_connection((host, int(port)), timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    pytest.fail("the S3 server does not listen")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, s3: str) -> None:
    """Set what an operator sets for an S3 server of their own."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "access")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{s3}")


@pytest.mark.usefixtures("environment")
async def test_the_first_of_two_creates_wins() -> None:
    store = RenderStore.open("s3://bucket/first")

    assert await store.create("a/b", b"one")
    assert not await store.create("a/b", b"two")
    assert await store.read("a/b") == b"one"
    await store.write("a/b", b"three")
    assert await store.read("a/b") == b"three"


@pytest.mark.usefixtures("environment")
async def test_what_is_not_there_is_no_failure() -> None:
    store = RenderStore.open("s3://bucket/second")

    assert await store.read("a") is None
    assert await store.stat("a") is None
    assert await store.list("nothing") == []
    await store.delete("a")


@pytest.mark.usefixtures("environment")
async def test_a_folder_is_listed_and_emptied() -> None:
    store = RenderStore.open("s3://bucket/third")
    for path in ("work/1/a", "work/1/b", "work/12/c"):
        await store.write(path, b"x")

    assert {file.path for file in await store.list("work/1")} == {"work/1/a", "work/1/b"}

    await store.delete("work/1/a")
    assert [file.path for file in await store.list("work/1")] == ["work/1/b"]


@pytest.mark.usefixtures("environment")
async def test_a_file_that_was_written_again_has_another_mark() -> None:
    store = RenderStore.open("s3://bucket/fourth")
    await store.write("a", b"one")
    first, again = await store.stat("a"), await store.stat("a")
    await store.write("a", b"two")

    assert first == again
    assert first != await store.stat("a")


@pytest.mark.usefixtures("environment")
async def test_a_missing_bucket_is_a_failed_deploy_that_names_the_store() -> None:
    with pytest.raises(DeployFailed, match=r"render store s3://nosuch/x: cannot write"):
        await RenderStore.open("s3://nosuch/x").write("a", b"one")


@pytest.mark.usefixtures("environment")
async def test_wrong_credentials_are_a_failed_deploy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")

    with pytest.raises(DeployFailed, match=r"render store s3://bucket/x: cannot write") as caught:
        await RenderStore.open("s3://bucket/x").write("a", b"one")
    assert "hunter2" not in caught.value.message


@pytest.mark.usefixtures("environment")
async def test_a_store_that_is_gone_is_a_failed_deploy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")

    with pytest.raises(DeployFailed, match=r"render store s3://bucket/x: cannot read"):
        await RenderStore.open("s3://bucket/x").read("a")
