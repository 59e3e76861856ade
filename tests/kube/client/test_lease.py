"""One of several processes leads; another follows when it ends, fails or loses its lease."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from convoy.kube.client import KubeClient
from convoy.kube.lease import Lease, LeaseOptions
from convoy.kube.resources import LEASES

FAST = LeaseOptions(duration=5.0, renew_deadline=3.0, retry=0.5)


class Candidates:
    """Candidates of one lease, with who leads at the moment."""

    def __init__(self, home: KubeClient, namespace: str) -> None:
        self.home = home
        self.namespace = namespace
        self.leading: list[str] = []
        self.most = 0
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, identity: str, home: KubeClient | None = None) -> None:
        lease = Lease(home or self.home, namespace=self.namespace, name="it", identity=identity, options=FAST)
        self.tasks[identity] = asyncio.create_task(lease.run(self._lead(identity)))

    def _lead(self, identity: str) -> Callable[[], Awaitable[None]]:
        async def lead() -> None:
            self.leading.append(identity)
            self.most = max(self.most, len(self.leading))
            try:
                await asyncio.Event().wait()
            finally:
                self.leading.remove(identity)

        return lead

    async def until_leads(self, *expected: str) -> None:
        async with asyncio.timeout(60):
            while True:
                if self.leading == list(expected):
                    return
                await asyncio.sleep(0.01)

    async def stop(self, *identities: str) -> None:
        for identity in identities or tuple(self.tasks):
            task = self.tasks.pop(identity)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_one_leads_and_the_next_follows_at_its_end(home: KubeClient, namespace: str) -> None:
    candidates = Candidates(home, namespace)
    candidates.start("a")
    await candidates.until_leads("a")
    candidates.start("b")
    await asyncio.sleep(1.2 * FAST.duration)
    assert candidates.leading == ["a"]
    await candidates.stop("a")
    lease = await home.get(LEASES, namespace, "it")
    assert lease["spec"]["holderIdentity"] in {"", "b"}
    await candidates.until_leads("b")
    await candidates.stop()
    assert candidates.most == 1


async def test_a_leader_that_lost_its_lease_stops(home: KubeClient, namespace: str) -> None:
    candidates = Candidates(home, namespace)
    candidates.start("a")
    await candidates.until_leads("a")
    await home.patch(LEASES, namespace, "it", {"spec": {"holderIdentity": "stranger"}})
    await candidates.until_leads()
    # The stranger never renews, so the lease comes back.
    await candidates.until_leads("a")
    await candidates.stop()


async def test_a_leader_that_cannot_renew_stops_before_another_may_start(
    home: KubeClient, namespace: str
) -> None:
    candidates = Candidates(home, namespace)
    cut_off = KubeClient(home.endpoint)
    candidates.start("a", cut_off)
    await candidates.until_leads("a")
    candidates.start("b")
    await cut_off.close()
    await candidates.until_leads("b")
    await candidates.stop()
    assert candidates.most == 1


async def test_what_the_leader_raises_is_raised(home: KubeClient, namespace: str) -> None:
    async def lead() -> None:
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        await Lease(home, namespace=namespace, name="it", identity="a", options=FAST).run(lead)
    assert (await home.get(LEASES, namespace, "it"))["spec"]["holderIdentity"] == ""
