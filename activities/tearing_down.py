"""The end of a Release (`spec.syncPolicy.onDelete`)."""

from __future__ import annotations

from temporalio import activity

from activities.collecting import forget_renders
from activities.context import epoch, this_release
from activities.hook_jobs import end_hooks
from activities.lease import Lease
from activities.services import Services
from activities.siblings import cut
from convoy.kube.errors import NotFound
from convoy.kube.resources import RELEASES
from convoy.kube.retry import with_retries
from convoy.kube.targets import Target
from convoy.sync.teardown import teardown
from workflows.contract import Activity, Plan


class TearingDown:
    """The activity `teardown`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @activity.defn(name=Activity.TEARDOWN)
    async def teardown(self, plan: Plan) -> str:
        """Delete or leave what was applied, then let the Release go; returns what became of the objects."""
        home, name = self._services.home, this_release()
        async with Lease() as lease:
            try:
                tree = await with_retries(lambda: home.get(RELEASES, name.namespace, name.name))
            except NotFound:
                return f"Release {name} is gone"
            if tree["metadata"]["uid"] != plan.uid:
                return f"Release {name} was made again"
            release = cut(tree)  # what is wrong with a spec must not keep a Release from being deleted

            async def connect() -> Target:
                return (await self._services.desired.destination(release)).target

            await end_hooks(release, tree, connect)
            # Before the teardown, since nobody comes back once the Release is let go.
            await forget_renders(self._services, plan.uid)
            done = await teardown(
                home,
                release,
                connect=connect,
                ownership=self._services.ownership,
                epoch=epoch(),
                should_stop=lease.should_stop,
            )
        await self._services.signals.deleted(name, plan.uid)
        return f"deleted {len(done.pruned.deleted)} objects, left {done.left} on the cluster"
