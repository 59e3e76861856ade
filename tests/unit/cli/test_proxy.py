"""The proxy is chosen as kubectl chooses it; what is not supported is told, without its password."""

from __future__ import annotations

import pytest

from convoy.cli.errors import Failure
from convoy.cli.proxy import Proxy, proxy_of

SERVER, PRIVATE = "https://api.example.org:6443", "https://10.1.2.3:6443"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_without_one_the_way_is_straight() -> None:
    assert proxy_of(SERVER, configured=None) is None


def test_the_kubeconfig_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://other:1")
    monkeypatch.setenv("NO_PROXY", "*")
    assert proxy_of(SERVER, configured="http://u%40x:p@proxy:3128") == Proxy("proxy", 3128, "Basic dUB4OnA=")


def test_the_environment_is_of_the_scheme_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "proxy:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://plain")
    assert proxy_of(SERVER, configured=None) == Proxy("proxy", 3128)
    assert proxy_of("http://api.example.org", configured=None) == Proxy("plain", 80)


@pytest.mark.parametrize(
    ("exceptions", "server", "expected"),
    [
        ("*", SERVER, True),
        ("example.org", SERVER, True),
        (".example.org", SERVER, True),
        ("*.example.org", SERVER, True),
        ("other, API.example.org:6443", SERVER, True),
        ("example.org:443", SERVER, False),
        (".api.example.org", SERVER, False),
        ("ample.org", SERVER, False),
        ("10.0.0.0/8", PRIVATE, True),
        ("10.1.2.3", PRIVATE, True),
        ("10.1.2.3:6443", PRIVATE, True),
        ("10.1.2.4,192.168.0.0/16,none/of/it", PRIVATE, False),
        ("10.0.0.0/8", SERVER, False),
        ("fd00::/8", "https://[fd00::1]:6443", True),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", True),
        ("", "https://127.0.0.1:6443", True),
        ("", "https://localhost:6443", True),
        (",", SERVER, False),
    ],
)
def test_no_proxy(exceptions: str, server: str, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", exceptions)
    assert (proxy_of(server, configured=None) is None) is expected


@pytest.mark.parametrize("url", ["https://u:s3cret@proxy", "socks5://u:s3cret@proxy:1", "http://:s3cret@"])
def test_a_kind_that_is_not_supported_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Failure, match="proxy-url of the kubeconfig must be http://") as told:
        proxy_of(SERVER, configured=url)
    assert "s3cret" not in told.value.message
    monkeypatch.setenv("HTTPS_PROXY", url)
    with pytest.raises(Failure, match="HTTPS_PROXY must be http://"):
        proxy_of(SERVER, configured=None)
