"""Where a tool's binary comes from: CONVOY_TOOLS, cache, PATH, download, build; the first hit wins."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.stack.acquire import Places, find
from deploy.stack.pins import Download, Tool
from deploy.stack.state import StackError

needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed")


def script(path: Path, output: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho {output}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """A tool pinned to 1.2.3 whose module cannot be built."""
    folder = tmp_path / "module"
    folder.mkdir()
    (folder / "go.mod").write_text("module box\n\ngo 1.21\n\nrequire example.invalid/box v1.2.3\n")
    return Tool(name="box", module="example.invalid/box", package="example.invalid/box", folder=folder)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """Places that hold nothing."""
    return Places(folder=tmp_path / "chosen", cache=tmp_path / "cache", path=str(tmp_path / "path"))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and the URL at which a web server on the loopback address serves it."""
    folder = tmp_path / "site"
    folder.mkdir()
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output free of access logs."""


def ignore(text: str) -> None:
    """Take progress messages nobody looks at."""


def publish(site: Path, content: bytes, *, listed: bytes | None = None) -> None:
    (site / "box-1.2.3").write_bytes(content)
    digest = hashlib.sha256(content if listed is None else listed).hexdigest()
    (site / "sums.txt").write_text(f"{'0' * 64}  other\n{digest}  box-1.2.3\n")


def downloadable(tool: Tool, url: str) -> Tool:
    source = Download(url=f"{url}/box-{{version}}", checksum=f"{url}/sums.txt")
    return dataclasses.replace(tool, download=source)


def test_the_chosen_folder_wins_whatever_the_version(tool: Tool, places: Places, tmp_path: Path) -> None:
    chosen = script(tmp_path / "chosen" / "box", "box 9.9.9")
    script(tmp_path / "cache" / "box" / "1.2.3" / "box", "box 1.2.3")

    assert find(tool, places, say=ignore) == chosen


def test_the_cache_comes_before_path(tool: Tool, places: Places, tmp_path: Path) -> None:
    cached = script(tmp_path / "cache" / "box" / "1.2.3" / "box", "box 1.2.3")
    script(tmp_path / "path" / "box", "box 1.2.3")

    assert find(tool, places, say=ignore) == cached


def test_another_version_in_the_cache_does_not_count(tool: Tool, places: Places, tmp_path: Path) -> None:
    script(tmp_path / "cache" / "box" / "1.2.2" / "box", "box 1.2.2")
    installed = script(tmp_path / "path" / "box", "box v1.2.3")

    assert find(tool, places, say=ignore) == installed


@pytest.mark.parametrize("output", ["1.2.4", "1.2.30", "11.2.3", "v1.2.3-vendor.1", "v1.2.3+patched"])
def test_another_version_in_path_does_not_count(
    output: str, tool: Tool, places: Places, tmp_path: Path
) -> None:
    script(tmp_path / "path" / "box", f"box {output}")

    with pytest.raises(StackError):
        find(tool, places, say=ignore)


def test_a_download_whose_checksum_is_right_goes_into_the_cache(
    tool: Tool, places: Places, site: tuple[Path, str]
) -> None:
    publish(site[0], b"#!/bin/sh\n")

    found = find(downloadable(tool, site[1]), places, say=ignore)

    assert found == places.cache / "box" / "1.2.3" / "box"
    assert found.read_bytes() == b"#!/bin/sh\n"
    assert os.access(found, os.X_OK)


def test_a_binary_in_an_archive_is_taken_out_of_it(
    tool: Tool, places: Places, site: tuple[Path, str]
) -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        member = tarfile.TarInfo("box-v1.2.3/box")
        member.size = 6
        tar.addfile(member, io.BytesIO(b"binary"))
    publish(site[0], archive.getvalue())
    source = Download(f"{site[1]}/box-{{version}}", f"{site[1]}/sums.txt", member="box-v{version}/box")

    found = find(dataclasses.replace(tool, download=source), places, say=ignore)

    assert found.read_bytes() == b"binary"


def test_a_download_whose_checksum_differs_is_refused_and_not_kept(
    tool: Tool, places: Places, site: tuple[Path, str]
) -> None:
    publish(site[0], b"tampered", listed=b"original")

    with pytest.raises(StackError, match=r"has SHA-256 [0-9a-f]{64}, published is"):
        find(downloadable(tool, site[1]), places, say=ignore)

    assert [path.name for path in places.cache.rglob("*") if path.is_file()] == ["lock"]


@needs_go
def test_what_cannot_be_downloaded_is_built_with_go_and_its_progress_told(
    tool: Tool, places: Places, site: tuple[Path, str]
) -> None:
    (tool.folder / "go.mod").write_text("module example.invalid/box\n\ngo 1.21\n\n// require\n")
    (tool.folder / "main.go").write_text(
        'package main\n\nvar version = "none"\n\nfunc main() { print(version) }\n'
    )
    local = Local(
        name="box",
        module="example.invalid/box",
        package="example.invalid/box",
        folder=tool.folder,
        probe=(),
        ldflags="-X main.version=v{version}",
    )
    told: list[str] = []

    found = find(downloadable(local, site[1]), places, say=told.append)

    assert local.tells_version(subprocess.run([found], capture_output=True, text=True, check=True).stderr)
    assert any("no download" in line and "404" in line for line in told)
    assert any("built in" in line for line in told)


class Local(Tool):
    """A tool whose module is the folder itself, so that nothing needs to be fetched."""

    version = "1.2.3"


def test_the_error_names_the_tool_what_was_tried_and_what_to_do(
    tool: Tool, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(StackError) as error:
        find(tool, places, say=ignore)

    message = str(error.value)
    assert message.startswith("box 1.2.3 is missing and cannot be had.")
    assert "download: there is no official download" in message
    assert "build: Go is not installed" in message
    assert "set CONVOY_TOOLS" in message


def test_an_unreachable_host_is_an_ordinary_miss(tool: Tool, places: Places) -> None:
    with pytest.raises(StackError, match=r"127\.0\.0\.1 is unreachable"):
        find(downloadable(tool, "http://127.0.0.1:1"), places, say=ignore)


def test_the_places_are_read_from_the_environment(tmp_path: Path) -> None:
    places = Places.of({"CONVOY_TOOLS": "/chosen", "XDG_CACHE_HOME": str(tmp_path), "PATH": "/bin"})

    assert places == Places(folder=Path("/chosen"), cache=tmp_path / "convoy" / "tools", path="/bin")
