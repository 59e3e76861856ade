"""Certificates change while the server runs."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import aiohttp
import pytest

from deploy.stack.certificates import issue_serving, make_certificates
from tests.kube.server.site import ADMIN, Site
from tests.waiting import eventually


async def test_a_new_authority_of_the_front_proxy_takes_over_without_a_restart(
    site: Site, tmp_path: Path
) -> None:
    old, new = site.keys.front_proxy, make_certificates(tmp_path / "new")
    async with site.session(old) as kept:
        assert (await site.request("GET", "/apis", client=None, headers=ADMIN, session=kept))[0] == 200

        await site.publish(new)

        assert (await site.request("GET", "/apis", client=new.front_proxy, headers=ADMIN))[0] == 200
        with pytest.raises(aiohttp.ClientError):
            await site.request("GET", "/apis", client=old, headers=ADMIN)
        # The connection from before was made under the old authority, and is closed.
        with pytest.raises(aiohttp.ClientError):
            await site.request("GET", "/apis", client=None, headers=ADMIN, session=kept)


async def test_a_renewed_serving_certificate_is_served_without_a_restart(site: Site, tmp_path: Path) -> None:
    before = await served(site)
    _, new = issue_serving(tmp_path / "renewed", "server", ["localhost"])

    # Renewed as two files, one after the other: in between nothing fits, and the old pair is served on.
    site.serving.certificate.write_bytes(new.certificate.read_bytes())
    await asyncio.sleep(0.5)
    assert await served(site) == before
    site.serving.key.write_bytes(new.key.read_bytes())

    async def renewed() -> bool:
        return await served(site) != before

    await eventually(renewed)
    assert await served(site) == ssl.PEM_cert_to_DER_cert(new.certificate.read_text())
    context = ssl.create_default_context(cafile=str(tmp_path / "renewed" / "server-ca.crt"))
    context.load_cert_chain(site.keys.front_proxy.certificate, site.keys.front_proxy.key)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        code, _ = await site.request("GET", "/apis", client=None, headers=ADMIN, session=session)
    assert code == 200


async def served(site: Site) -> bytes:
    """The certificate that a new connection gets, in DER."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    _, writer = await asyncio.open_connection("localhost", site.port, ssl=context)
    found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return found
