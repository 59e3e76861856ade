"""From a Cluster to a connection, kept for as long as neither the Cluster nor its Secret changes.

What can go wrong is the tenant's to mend, so each failure is `ClusterNotReady` and names the Cluster, the
Secret and what to do. A cluster that does not answer is asked once at a time and then left alone for a few
seconds, and nobody waits while it is asked again: a thousand Releases of it must not fill every slot of a worker.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from dataclasses import dataclass, field, replace

import msgspec

from convoy.api.cluster import Cluster, SecretKeyRef
from convoy.api.errors import ClusterNotReady
from convoy.api.names import ACCEPT_TARGET
from convoy.kube.client import KubeClient, Limits
from convoy.kube.connection import connect_secret, impersonating
from convoy.kube.discovery import Discovery
from convoy.kube.errors import ApiError, Forbidden, NotFound, Unauthorized
from convoy.kube.resources import NAMESPACES, SECRETS

VERIFY_SECONDS = 10.0
"""A connection older than this is asked again who it is before it is handed out (D38)."""
FAILURE_SECONDS = 5.0
"""A cluster that did not answer is not asked again before."""
SHORTEST_TIMEOUT = 1.0
"""A tenant must not be able to leave requests in doubt on purpose: what may be applied is held (D13)."""
IDLE_SECONDS = 600.0
"""A connection that nobody used for so long is closed. Longer than any single request."""


@dataclass(frozen=True, slots=True)
class Target:
    """A cluster that Releases are applied to."""

    client: KubeClient
    discovery: Discovery
    uid: str
    """UID of its kube-system namespace: two Clusters may be one API server (D14)."""
    name: str
    """Name of the Cluster, for messages."""
    version: str
    """Kubernetes version, such as `v1.34.4`."""


@dataclass(frozen=True, slots=True)
class _Secret:
    version: str
    kubeconfig: bytes


@dataclass(slots=True)
class _Slot:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    identity: tuple[str, ...] = ()
    target: Target | None = None
    asker: KubeClient | None = None
    """The client that asks who the target is; not impersonated, so that the other needs no rights for it."""
    verified_at: float = 0.0
    failure: str = ""
    failed_at: float = 0.0


class Targets:
    """All clusters that one worker talks to."""

    def __init__(
        self,
        home: KubeClient,
        *,
        allow_own_identity: bool = False,
        allow_private: bool = False,
        verify_seconds: float = VERIFY_SECONDS,
    ) -> None:
        """`allow_own_identity`: an inCluster Cluster may use convoy's own rights. `allow_private`: see D41."""
        self._home = home
        self._allow_own_identity = allow_own_identity
        self._allow_private = allow_private
        self._verify_seconds = verify_seconds
        self._slots: dict[tuple[str, str], _Slot] = {}
        self._retired: list[KubeClient] = []

    async def get(self, cluster: Cluster) -> Target:
        """Return the connection of a Cluster, made anew if the Cluster or its Secret changed.

        Raises:
            ClusterNotReady: it is refused, incomplete, unreachable, or another cluster than before (D38).
        """
        secret = await self._secret(cluster)
        identity = (cluster.metadata.uid, str(cluster.metadata.generation), secret.version if secret else "")
        where = (cluster.metadata.namespace, cluster.metadata.name)
        slot = self._slots.setdefault(where, _Slot())
        if slot.failure and slot.identity == identity and slot.lock.locked():
            # Somebody is asking it again, which may take as long as a request may.
            raise ClusterNotReady(slot.failure)
        async with slot.lock:
            if slot.identity != identity:
                self._retire(slot)
                slot.identity, slot.failure = identity, ""
            if slot.failure and time.monotonic() - slot.failed_at < FAILURE_SECONDS:
                raise ClusterNotReady(slot.failure)
            try:
                target = await self._current(slot, cluster, secret)
            except ClusterNotReady as error:
                slot.failure, slot.failed_at = error.message, time.monotonic()
                raise
            slot.failure = ""
        _check_same(cluster, target)
        await self._close_idle()
        return target

    async def close(self) -> None:
        """Close every connection."""
        for slot in self._slots.values():
            self._retire(slot)
        self._slots.clear()
        retired, self._retired = self._retired, []
        for client in retired:
            await client.close()

    async def _current(self, slot: _Slot, cluster: Cluster, secret: _Secret | None) -> Target:
        if slot.target is None:
            client, slot.asker = await self._connect(cluster, secret)
            try:
                uid, version = await asyncio.gather(_uid(slot.asker), _version(slot.asker))
            except ApiError as error:
                await self._close_both(client, slot.asker)
                raise _not_ready(cluster, error) from error
            slot.target = Target(client, Discovery(client), uid, cluster.metadata.name, version)
            slot.verified_at = time.monotonic()
        elif time.monotonic() - slot.verified_at >= self._verify_seconds and slot.asker is not None:
            try:
                uid = await _uid(slot.asker)
            except ApiError as error:
                raise _not_ready(cluster, error) from error
            if uid != slot.target.uid:
                slot.target = replace(slot.target, uid=uid, discovery=Discovery(slot.target.client))
            slot.verified_at = time.monotonic()
        return slot.target

    async def _connect(self, cluster: Cluster, secret: _Secret | None) -> tuple[KubeClient, KubeClient]:
        spec = cluster.spec
        limits = Limits(
            connect_timeout=spec.connect_timeout.total_seconds() or Limits().connect_timeout,
            request_timeout=max(
                SHORTEST_TIMEOUT, spec.request_timeout.total_seconds() or Limits().request_timeout
            ),
            max_in_flight=spec.max_in_flight,
        )
        account = (
            f"system:serviceaccount:{cluster.metadata.namespace}:{spec.service_account_name}"
            if spec.service_account_name
            else None
        )
        if secret is not None:
            try:
                asker = await connect_secret(
                    secret.kubeconfig, limits=limits, allow_private=self._allow_private
                )
            except ClusterNotReady as error:
                raise ClusterNotReady(f"{_subject(cluster)}: {error.message}") from error
            return (impersonating(asker, account) if account else asker), asker
        if account:
            return impersonating(self._home, account, limits=limits), self._home
        if not self._allow_own_identity:
            raise ClusterNotReady(
                f"{_subject(cluster)}: inCluster without serviceAccountName would use convoy's own rights: "
                "set spec.serviceAccountName, or start the worker with --allow-own-identity"
            )
        return KubeClient(replace(self._home.endpoint, refresh=None), limits=limits), self._home

    async def _secret(self, cluster: Cluster) -> _Secret | None:
        ref = cluster.spec.kubeconfig_secret_ref
        if ref is None:
            return None
        try:
            tree = await self._home.get(SECRETS, cluster.metadata.namespace, ref.name)
        except NotFound as error:
            raise ClusterNotReady(
                f"{_subject(cluster)}: {_ref(cluster, ref)} does not exist: create it with the key {ref.key}"
            ) from error
        except ApiError as error:
            raise ClusterNotReady(
                f"{_subject(cluster)}: {_ref(cluster, ref)} cannot be read: {error.message}"
            ) from error
        value = (tree.get("data") or {}).get(ref.key)
        if not value:
            raise ClusterNotReady(f"{_subject(cluster)}: {_ref(cluster, ref)} has no key {ref.key}")
        try:
            kubeconfig = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise ClusterNotReady(
                f"{_subject(cluster)}: key {ref.key} of {_ref(cluster, ref)} is no base64"
            ) from None
        metadata = tree["metadata"]
        return _Secret(f"{metadata['uid']}/{metadata['resourceVersion']}", kubeconfig)

    def _retire(self, slot: _Slot) -> None:
        # Not closed at once: an apply that is under way goes on with the connection that it began with.
        for client in {slot.target.client, slot.asker} if slot.target is not None else ():
            if client is not None and client is not self._home:
                self._retired.append(client)
        slot.target = slot.asker = None

    async def _close_both(self, client: KubeClient, asker: KubeClient) -> None:
        for each in {client, asker}:
            if each is not self._home:
                await each.close()

    async def _close_idle(self) -> None:
        now = time.monotonic()
        for where, slot in list(self._slots.items()):
            used = slot.target.client.last_used if slot.target is not None else slot.failed_at
            if not slot.lock.locked() and now - used > IDLE_SECONDS:
                self._retire(slot)
                del self._slots[where]
        idle = [client for client in self._retired if now - client.last_used > IDLE_SECONDS]
        self._retired = [client for client in self._retired if client not in idle]
        for client in idle:
            await client.close()


async def _uid(client: KubeClient) -> str:
    uid: str = (await client.get(NAMESPACES, None, "kube-system"))["metadata"]["uid"]
    return uid


class _Info(msgspec.Struct):
    gitVersion: str = ""


async def _version(client: KubeClient) -> str:
    answer = await client.request("GET", "/version")
    try:
        return msgspec.json.decode(answer.body, type=_Info).gitVersion if answer.status == 200 else ""
    except msgspec.DecodeError:
        return ""


def _check_same(cluster: Cluster, target: Target) -> None:
    recorded = cluster.status.target_uid
    accepted = cluster.metadata.annotations.get(ACCEPT_TARGET)
    if recorded and recorded != target.uid and accepted != target.uid:
        raise ClusterNotReady(
            f"{_subject(cluster)} now leads to another cluster (kube-system UID {target.uid}, before "
            f"{recorded}): what was applied to the old one would be orphaned. Delete its Releases, or accept "
            f"the new one: annotate the Cluster with {ACCEPT_TARGET}={target.uid}"
        )


def _not_ready(cluster: Cluster, error: ApiError) -> ClusterNotReady:
    ref = cluster.spec.kubeconfig_secret_ref
    source = f"key {ref.key} of {_ref(cluster, ref)}" if ref is not None else "convoy's own service account"
    match error:
        case Unauthorized():
            why = f"the credentials of {source} are not accepted: {error.message}"
        case Forbidden():
            why = f"{error.message}: {source} needs the permission to get the namespace kube-system"
        case NotFound():
            why = f"what {source} leads to has no kube-system namespace"
        case _:
            why = f"not reachable: {error.message}"
    return ClusterNotReady(f"{_subject(cluster)}: {why}")


def _subject(cluster: Cluster) -> str:
    return f"Cluster {cluster.metadata.namespace}/{cluster.metadata.name}"


def _ref(cluster: Cluster, ref: SecretKeyRef) -> str:
    return f"Secret {cluster.metadata.namespace}/{ref.name}"
