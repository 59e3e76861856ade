"""D41: no way to this machine's files, its loopback or the metadata service, and no way to run a command."""

from __future__ import annotations

import asyncio

import pytest

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.sources.git_url import GitUrl, parse_git_url
from tests.unit.sources.conftest import Fetch

TAKEN = {
    "https://git.example.org/a/b.git": ("https", "git.example.org", 443),
    "http://git.example.org:8080/a": ("http", "git.example.org", 8080),
    "https://user@git.example.org/a": ("https", "git.example.org", 443),
    "ssh://git@git.example.org:2222/a": ("ssh", "git.example.org", 2222),
    "git@git.example.org:a/b.git": ("ssh", "git.example.org", 22),
    "git.example.org:a": ("ssh", "git.example.org", 22),
    "git@[fd00::1]:a": ("ssh", "fd00::1", 22),
    "file:///srv/a": ("file", "", 0),
}
REFUSED = {
    "ext::sh -c x": "characters",
    "ext::sh": "must be",
    "git://git.example.org/a": "scheme 'git'",
    "ftp://git.example.org/a": "scheme 'ftp'",
    "https://user:hunter2@git.example.org/a": "secretRef",
    "https:///a": "no valid host",
    "https://git.example.org:port/a": "no valid URL",
    "--upload-pack=x": "characters",
    "/srv/a": "must be",
    "-oProxyCommand=x:a": "characters",
    "a@-oProxyCommand=x:a": "must be",
    "ssh://-oProxyCommand=x/a": "no valid host",
    "https://git.example.org/a\nb": "characters",
}
NOT_HERE = [
    "http://127.0.0.1:8080/a",
    "http://2130706433/a",
    "http://0x7f.1/a",
    "http://[::1]/a",
    "http://[::ffff:127.0.0.1]/a",
    "http://0.0.0.0/a",
    "https://localhost/a",
    "https://169.254.169.254/a",
    "https://[fe80::1]/a",
]


@pytest.mark.parametrize("text", TAKEN)
def test_taken(text: str) -> None:
    assert parse_git_url(text, allow_file=True) == GitUrl(text, *TAKEN[text])


@pytest.mark.parametrize("text", REFUSED)
def test_refused_with_the_field(text: str) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_git_url(text, allow_file=True)

    assert "spec.source.git.url" in caught.value.message
    assert REFUSED[text] in caught.value.message
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize("url", NOT_HERE)
async def test_this_machine_and_the_metadata_service_are_refused(fetch: Fetch, url: str) -> None:
    with pytest.raises(SourceNotReady, match="--allow-addresses"):
        await fetch(url, allow=False)


async def test_files_of_this_machine_are_refused(fetch: Fetch) -> None:
    with pytest.raises(Unsupported, match="--allow-private-addresses"):
        await fetch("file:///etc", allow=False)


async def test_an_address_that_answers_nothing_ends_at_the_time_limit(fetch: Fetch) -> None:
    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a"
        with pytest.raises(SourceNotReady, match=r"git did not finish within 0.5 s"):
            await fetch(url, timeout=0.5)


async def test_a_port_where_nobody_listens_is_named(fetch: Fetch) -> None:
    with pytest.raises(SourceNotReady, match=r"http://127\.0\.0\.1:9/a: fatal: unable to access"):
        await fetch("http://127.0.0.1:9/a")
