"""One of several processes leads; another follows when it ends, fails or loses its lease."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

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


class CancelledAtAnAnswer(KubeClient):
    """A client that cancels a task in the very moment of an answer, counted from 1."""

    def __init__(self, home: KubeClient, at: int) -> None:
        super().__init__(home.endpoint)
        self.left = at
        self.task: asyncio.Task[None] | None = None

    async def get(self, *args: Any, **options: Any) -> Any:
        return self._counted(await super().get(*args, **options))

    async def patch(self, *args: Any, **options: Any) -> Any:
        return self._counted(await super().patch(*args, **options))

    def _counted(self, answer: Any) -> Any:
        self.left -= 1
        if self.left == 0 and self.task is not None:
            self.task.cancel()
        return answer


@pytest.mark.parametrize(("holder", "at"), [("stranger", 2), ("", 4)], ids=["acquiring", "renewing"])
async def test_a_candidate_that_is_cancelled_in_the_moment_of_an_answer_ends(
    home: KubeClient, namespace: str, holder: str, at: int
) -> None:
    await home.create(
        {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": "it", "namespace": namespace},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 1},
        },
        LEASES,
    )
    client = CancelledAtAnAnswer(home, at)
    candidates = Candidates(home, namespace)
    candidates.start("a", client)
    client.task = candidates.tasks["a"]
    try:
        done, _ = await asyncio.wait({client.task}, timeout=20)
        assert done, "it goes on as if nothing had been said"
        assert client.task.cancelled()
    finally:
        await client.close()
