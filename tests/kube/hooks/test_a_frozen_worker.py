"""D27: a worker that has lost its lease makes no Job any more, also in the middle of its tries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from convoy.hooks.jobs import create_job
from convoy.kube.client import Answer, KubeClient
from convoy.kube.errors import ServerFault
from convoy.sync.interruptions import Interrupted
from tests.kube.hooks.rig import HookRig, job


class Freezing(KubeClient):
    """A client whose worker is frozen while its first request fails."""

    frozen = False

    async def request(self, method: str, path: str, **more: Any) -> Answer:
        """Fail, and freeze for longer than the lease; later requests arrive."""
        if not self.frozen:
            self.frozen = True
            raise ServerFault("the server is starting", status=503)
        return await super().request(method, path, **more)


async def test_the_lease_is_asked_again_before_each_try_to_make_a_job(rig: HookRig) -> None:
    wanted = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "migrate", "namespace": rig.namespace},
        "spec": job(),
    }
    async with Freezing(replace(rig.client.endpoint, refresh=None)) as client:
        with pytest.raises(Interrupted):
            await create_job(client, wanted, should_stop=lambda: client.frozen)

    assert await rig.jobs() == []
