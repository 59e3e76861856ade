"""What a pass needs to know of other Releases, without a request: a local copy of all of them, cut small."""

from __future__ import annotations

from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.reflector import Change, Reflector
from convoy.kube.resources import RELEASES
from convoy.kube.retry import with_retries
from convoy.policy.cluster_waves import lower_waves_changed, seen_lower_waves
from convoy.policy.wave_index import WaveIndex

_SPEC = ("clusterRef", "clusterWave", "suspend")
_STATUS = ("conditions", "lastAttempted", "lastSuccessful", "unrecorded")


class Siblings:
    """The Releases of the installation, as far as cluster waves ask for them."""

    def __init__(self, home: KubeClient) -> None:
        self._home = home
        self._waves = WaveIndex()
        self._reflector = Reflector(home, RELEASES, project=cut, on_event=self._changed)

    async def run(self) -> None:
        """Keep the copy true; ends by cancellation only."""
        await self._reflector.run()

    async def synced(self) -> None:
        """Wait until the copy is complete."""
        await self._reflector.synced()

    def is_there(self, namespace: str, name: str, uid: str) -> bool:
        """Return whether a Release with this UID is there and not being deleted, as far as the copy knows."""
        found = self._reflector.get(namespace, name)
        return found is not None and found.metadata.uid == uid and found.metadata.deletion_timestamp is None

    def lower(self, release: Release) -> list[Release]:
        """Return the Releases of lower cluster waves on the Cluster of this one."""
        return self._waves.lower(release)

    async def lower_as_told(self, release: Release) -> list[Release]:
        """Return the same for a pass that is made since a lower wave changed.

        Where the copy knows nothing of that yet, it lags behind the watcher's, and the Releases are read live.
        """
        local, handled = self.lower(release), release.status.handled.lower_waves or ""
        if lower_waves_changed(handled, seen_lower_waves(release, local)):
            return local
        namespace = release.metadata.namespace
        return [cut(tree) for tree in await with_retries(lambda: self._home.list(RELEASES, namespace))]

    def _changed(self, change: Change[Release]) -> None:
        self._waves.change(change.previous, None if change.type == "DELETED" else change.value)


def cut(tree: Manifest) -> Release:
    """Keep only what decides about waves and about a Release's end.

    Ten thousand inline sources would not fit into memory; and a Release whose spec the models refuse, since an older
    schema let it in, must still be seen, answered and deleted.
    """
    spec, status = tree.get("spec") or {}, tree.get("status") or {}
    policy = spec.get("syncPolicy") or {}
    return Release.model_validate(
        {
            "metadata": {k: v for k, v in tree["metadata"].items() if k != "managedFields"},
            "spec": {k: spec[k] for k in _SPEC if k in spec}
            | {
                "source": {"inline": {"files": {}}},
                "content": {"manifests": {}},
                "syncPolicy": {"onDelete": policy.get("onDelete", "Orphan")},
            },
            "status": {k: status[k] for k in _STATUS if k in status},
        }
    )
