"""The inventory of one Release as one attempt writes it: fenced, so that a late writer cannot undo a newer
one.

A worker that was frozen goes on writing when it wakes (design 04, rule 11). So each attempt puts its epoch
into the inventory with its first write and carries the resourceVersion it knows in every later one. A
conflict is either the observer's status (the epoch is still ours: read again and go on) or another attempt
(stop).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Self, TypeVar

from convoy.api.errors import ClusterNotReady, DeployFailed, Unsupported
from convoy.api.names import API_VERSION, FINALIZER, MANAGER
from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.kube.classify import error_of
from convoy.kube.client import KubeClient
from convoy.kube.encode import encode
from convoy.kube.errors import AlreadyExists, ApiError, Conflict, NotFound, Rejected
from convoy.kube.resources import INVENTORIES
from convoy.kube.retry import is_retryable, with_retries
from convoy.sync.finalizers import let_inventory_go
from convoy.sync.interruptions import Fenced
from convoy.sync.inventory import Record
from convoy.sync.live import METADATA_ONLY, decode_live

T = TypeVar("T")

_TRIES = 8
"""Conflicts in a row with the observer's status writes, until something else must be wrong."""


class Ledger:
    """The inventory of one Release, held by one attempt."""

    def __init__(self, home: KubeClient, release: Release, *, target_uid: str, epoch: str) -> None:
        self._home = home
        self._release = release
        self.target_uid = target_uid
        self.epoch = epoch
        """The attempt that holds it."""
        self._found_epoch = ""
        self._finalizers: tuple[str, ...] = ()
        self.uid = ""
        """UID of the inventory; empty before it exists."""
        self.resource_version = ""
        """Version of the last write or read; empty before the inventory exists."""
        self.record = Record()
        """What is recorded for this target."""
        self._stored = Record()

    @classmethod
    async def open(
        cls, home: KubeClient, *, release: Release, target_uid: str = "", epoch: str, accept_target: str = ""
    ) -> Self:
        """Read the inventory, for one attempt on one target. The first `write` takes it over, or creates it.

        `target_uid` is empty for a step that does not touch the target: the recorded one stays.
        `epoch` is unique to the attempt of the activity. `accept_target` is the Cluster's annotation of
        that name: a target other than the recorded one is refused without it (D38), and with it the records
        of the old target are forgotten. The inventory of a deleted Release of the same name is put away,
        its objects stay (D39).

        Raises:
            ClusterNotReady: the records are those of another target.
            DeployFailed: the inventory cannot be read.
        """
        ledger = cls(home, release, target_uid=target_uid, epoch=epoch)
        tree = await ledger._read()
        if tree is not None and not is_of(tree, release):
            await let_inventory_go(home, tree)
            tree = None
        if tree is not None:
            stored = Record.from_tree(tree.get("spec") or {})
            ledger._found_epoch = stored.epoch
            ledger.target_uid = target_uid or stored.target_uid
            ledger._check_target(stored, accept_target)
            ledger._take(tree)
        return ledger

    @property
    def name(self) -> str:
        """`namespace/name` of the Release and of its inventory."""
        return f"{self._release.metadata.namespace}/{self._release.metadata.name}"

    async def begin(self) -> None:
        """Take the inventory over without changing what it records; before anything is written to the target.

        Raises:
            Fenced: another attempt took it over in between.
            DeployFailed: it cannot be written.
        """
        await self.write(lambda record: record)

    async def write(self, change: Callable[[Record], Record]) -> None:
        """Write what `change` makes of the record; it may be called again with a record that was read anew.

        Nothing is sent where nothing changes, so that a sync without news costs no write but the epoch.

        Raises:
            Fenced: another attempt has taken over, or the Release was torn down.
            Unsupported: the inventory would be larger than etcd takes.
            DeployFailed: it cannot be written.
        """
        for _ in range(_TRIES):
            wanted = replace(
                change(self.record),
                epoch=self.epoch,
                cluster=self._release.spec.cluster_ref.name,
                target_uid=self.target_uid,
            )
            if self.uid and wanted == self._stored and FINALIZER in self._finalizers:
                return
            try:
                await (self._patch(wanted) if self.uid else self._create(wanted))
            except (Conflict, AlreadyExists, NotFound):
                await self._read_again()
                continue
            except Rejected as error:
                raise self._rejected(error, wanted) from error
            except ApiError as error:
                raise DeployFailed(
                    f"the ReleaseInventory {self.name} cannot be written: {error.message}"
                ) from error
            self.record = self._stored = wanted
            return
        raise DeployFailed(
            f"the ReleaseInventory {self.name} was changed by somebody else {_TRIES} times in a row"
        )

    async def _read(self) -> Manifest | None:
        metadata = self._release.metadata
        try:
            return await _retried(lambda: self._home.get(INVENTORIES, metadata.namespace, metadata.name))
        except NotFound:
            return None
        except ApiError as error:
            raise DeployFailed(f"the ReleaseInventory {self.name} cannot be read: {error.message}") from error

    async def _read_again(self) -> None:
        tree = await self._read()
        if tree is None or not is_of(tree, self._release):
            if self.uid or tree is not None:
                raise Fenced(f"the ReleaseInventory {self.name} is no longer that of this Release")
            return
        epoch = (tree.get("spec") or {}).get("epoch", "")
        if epoch not in {self.epoch, self._found_epoch}:
            raise Fenced(f"the ReleaseInventory {self.name} was taken over by {epoch}")
        self._take(tree)

    async def _patch(self, wanted: Record) -> None:
        before, after = self._stored.tree(), wanted.tree()
        metadata: dict[str, Any] = {"resourceVersion": self.resource_version, "uid": self.uid}
        if FINALIZER not in self._finalizers:
            metadata["finalizers"] = [*self._finalizers, FINALIZER]
        # A merge patch of what changed: an epoch alone must not send a megabyte.
        patch = {
            "metadata": metadata,
            "spec": {name: value for name, value in after.items() if value != before[name]},
        }
        body = encode(patch)
        answer = await _retried(
            lambda: self._send(
                "PATCH", body, "application/merge-patch+json", name=self._release.metadata.name
            )
        )
        self._wrote(answer)

    async def _create(self, wanted: Record) -> None:
        metadata = self._release.metadata
        body = encode(
            {
                "apiVersion": API_VERSION,
                "kind": INVENTORIES.kind,
                "metadata": {
                    "name": metadata.name,
                    "namespace": metadata.namespace,
                    "finalizers": [FINALIZER],
                    "ownerReferences": [
                        {
                            "apiVersion": API_VERSION,
                            "kind": "Release",
                            "name": metadata.name,
                            "uid": metadata.uid,
                            "controller": True,
                            "blockOwnerDeletion": True,
                        }
                    ],
                },
                "spec": wanted.tree(),
            }
        )
        self._wrote(await _retried(lambda: self._send("POST", body, "application/json")))

    async def _send(
        self, method: str, body: bytes, content_type: str, *, name: str | None = None
    ) -> tuple[str, str]:
        """Send a write and return UID and resourceVersion: the answer with the spec would be another
        megabyte."""
        answer = await self._home.request(
            method,
            INVENTORIES.path(self._release.metadata.namespace, name),
            params={"fieldManager": MANAGER},
            body=body,
            content_type=content_type,
            accept=METADATA_ONLY,
        )
        if answer.status >= 300:
            raise error_of(answer.status, answer.headers, answer.body, resource=INVENTORIES, name=name or "")
        live = decode_live(answer)
        return live.uid, live.resource_version

    def _wrote(self, answer: tuple[str, str]) -> None:
        self.uid, self.resource_version = answer
        if FINALIZER not in self._finalizers:
            self._finalizers = (*self._finalizers, FINALIZER)
        self._found_epoch = self.epoch

    def _take(self, tree: Mapping[str, Any]) -> None:
        metadata = tree["metadata"]
        self.uid = metadata["uid"]
        self.resource_version = metadata["resourceVersion"]
        self._finalizers = tuple(metadata.get("finalizers") or ())
        self._stored = Record.from_tree(tree.get("spec") or {})
        # What was applied to another target that was accepted in its place is forgotten (D38).
        is_ours = self._stored.target_uid in {"", self.target_uid}
        self.record = self._stored if is_ours else Record(render_ref=self._stored.render_ref)

    def _check_target(self, stored: Record, accept_target: str) -> None:
        is_other = stored.target_uid not in {"", self.target_uid}
        if is_other and (stored.objects or stored.planned) and accept_target != self.target_uid:
            raise ClusterNotReady(
                f"Cluster {stored.cluster} is now another API server ({self.target_uid}) than the one that "
                f"{len(stored.held())} objects were applied to ({stored.target_uid})"
            )

    def _rejected(self, error: Rejected, wanted: Record) -> Exception:
        if error.status == 413 or "too large" in error.message:
            return Unsupported(
                f"{len(wanted.held())} objects do not fit into the ReleaseInventory {self.name}: "
                f"{error.message}; split the Release"
            )
        return DeployFailed(f"the ReleaseInventory {self.name} cannot be written: {error.message}")


def is_of(inventory: Mapping[str, Any], release: Release) -> bool:
    """Return whether an inventory is that of this Release, and not of an earlier one of the same name
    (D39)."""
    owners = inventory["metadata"].get("ownerReferences") or ()
    return any(owner.get("uid") == release.metadata.uid for owner in owners)


async def _retried(call: Callable[[], Awaitable[T]]) -> T:
    # A conflict is answered by reading again, never by the same request.
    return await with_retries(
        call, retry_on=lambda error: is_retryable(error) and not isinstance(error, Conflict)
    )
