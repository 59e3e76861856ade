"""Only the front proxy speaks for users: its certificate is checked before anything else, and RBAC asked again."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest

from convoy.server.names import API_VERSION
from deploy.stack.certificates import make_certificates
from tests.kube.server.site import ADMIN, Site, until

PATHS = [
    "/apis",
    f"/apis/{API_VERSION}",
    "/openapi/v3",
    f"/apis/{API_VERSION}/namespaces/n/releases/r/sync",
    "/nothing",
]


@pytest.mark.parametrize("path", PATHS)
async def test_without_a_certificate_nothing_is_answered_whatever_the_headers_say(
    site: Site, path: str
) -> None:
    for headers in (None, ADMIN):
        for method in ("GET", "POST", "PUT", "DELETE"):
            code, tree = await site.request(method, path, client=None, headers=headers)
            assert (code, tree["kind"], tree["reason"]) == (401, "Status", "Unauthorized")


async def test_a_certificate_of_another_authority_gets_no_connection(site: Site) -> None:
    with pytest.raises(aiohttp.ClientError):
        await site.request("GET", "/apis", client=site.keys.admin, headers=ADMIN)


async def test_a_certificate_of_the_same_name_by_another_authority_gets_none_either(
    site: Site, tmp_path: Path
) -> None:
    other = make_certificates(tmp_path / "other")
    with pytest.raises(aiohttp.ClientError):
        await site.request("GET", "/apis", client=other.front_proxy, headers=ADMIN)


async def test_a_name_that_is_not_allowed_is_refused(site: Site) -> None:
    await site.publish(site.keys, names=("aggregator",))
    code, tree = await site.request("GET", "/apis", client=site.keys.front_proxy, headers=ADMIN)
    assert (code, tree["reason"]) == (401, "Unauthorized")


async def test_an_empty_list_of_names_allows_every_certificate_of_the_authority(site: Site) -> None:
    await site.publish(site.keys, names=())
    code, _ = await site.request("GET", "/apis", client=site.keys.front_proxy, headers=ADMIN)
    assert code == 200


async def test_the_front_proxy_has_to_name_a_user(site: Site) -> None:
    code, tree = await site.request("GET", "/apis", client=site.keys.front_proxy)
    assert (code, tree["reason"]) == (401, "Unauthorized")


async def test_a_user_for_whom_the_front_proxy_speaks_still_needs_the_right(site: Site) -> None:
    code, tree = await site.sub("POST", "app", "sync", **{"X-Remote-User": "nobody"})
    assert (code, tree["reason"]) == (403, "Forbidden")
    assert 'User "nobody" cannot create resource "releases/sync"' in tree["message"]

    assert (await site.sub("POST", "app", "sync"))[0] == 404


async def test_health_is_told_to_everybody(site: Site) -> None:
    for path in ("/healthz", "/livez", "/readyz"):
        assert await site.request("GET", path, client=None) == (200, "ok")


async def test_it_is_ready_only_while_it_knows_the_front_proxy(site: Site) -> None:
    from convoy.kube.resources import CONFIG_MAPS
    from tests.kube.server.site import CONFIG_MAP

    await site.home.patch(
        CONFIG_MAPS, site.namespace, CONFIG_MAP, {"data": {"requestheader-client-ca-file": None}}
    )
    await until(lambda: site.trust.proxy is None)

    code, why = await site.request("GET", "/readyz", client=None)
    assert code == 503
    assert "requestheader-client-ca-file" in why
    assert (await site.request("GET", "/livez", client=None))[0] == 200
