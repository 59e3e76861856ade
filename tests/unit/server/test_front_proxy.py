"""The user of a request is whom the front proxy names, and there is none without it."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from convoy.server.front_proxy import FrontProxy, User
from convoy.server.refusals import Unauthorized

CERTIFICATE = {"subject": ((("organizationName", "x"),), (("commonName", "proxy"),))}
DATA = {
    "requestheader-client-ca-file": "-----BEGIN CERTIFICATE-----",
    "requestheader-allowed-names": '["proxy"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
}
PROXY = FrontProxy.read({"data": DATA})


def headers(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


def test_it_reads_name_groups_uid_and_extras() -> None:
    user = PROXY.authenticate(
        headers(
            ("x-remote-user", "ann"),
            ("X-Remote-Group", "a"),
            ("X-Remote-Group", "b"),
            ("X-Remote-Uid", "7"),
            ("X-Remote-Extra-Example.org%2fScopes", "one"),
            ("X-Remote-Extra-Example.org%2fScopes", "two"),
        ),
        CERTIFICATE,
    )
    assert user == User("ann", ("a", "b"), "7", (("example.org/scopes", ("one", "two")),))
    assert user.attributes()["extra"] == {"example.org/scopes": ["one", "two"]}


@pytest.mark.parametrize(
    "certificate", [None, {}, {"subject": ((("commonName", "other"),),)}, {"subject": ()}]
)
def test_without_the_right_certificate_the_headers_count_for_nothing(
    certificate: dict[str, object] | None,
) -> None:
    with pytest.raises(Unauthorized):
        PROXY.authenticate(headers(("X-Remote-User", "ann")), certificate)


@pytest.mark.parametrize("given", [(), (("X-Remote-User", ""),), (("X-Forwarded-User", "ann"),)])
def test_a_request_names_a_user(given: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(Unauthorized):
        PROXY.authenticate(headers(*given), CERTIFICATE)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"requestheader-client-ca-file": "  "},
        DATA | {"requestheader-allowed-names": "proxy"},
        DATA | {"requestheader-allowed-names": '{"a": 1}'},
        DATA | {"requestheader-allowed-names": "[1]"},
    ],
)
def test_a_config_map_that_names_nobody_is_refused(data: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="requestheader"):
        FrontProxy.read({"data": data})
