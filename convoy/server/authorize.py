"""May this user do this: asked of the cluster again, although kube-apiserver has asked already.

A second front proxy, or one that forwards more than it should, must not widen what RBAC allows. The answers
are remembered for ten seconds, as kube-apiserver does by default.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from convoy.kube.classify import error_of
from convoy.kube.client import KubeClient
from convoy.kube.encode import encode
from convoy.kube.errors import ApiError
from convoy.kube.retry import with_retries
from convoy.server.front_proxy import User
from convoy.server.names import GROUP, VERSION
from convoy.server.refusals import Forbidden

CACHE_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 10.0
"""How long the cluster may take for one answer."""
_REMEMBERED: Final = 5000
_PATH: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@dataclass(frozen=True, slots=True)
class Access:
    """What somebody wants to do."""

    verb: str
    namespace: str
    name: str
    subresource: str

    def attributes(self) -> dict[str, str]:
        """Return it as a SubjectAccessReview names it."""
        return {
            "group": GROUP,
            "version": VERSION,
            "resource": "releases",
            "subresource": self.subresource,
            "verb": self.verb,
            "namespace": self.namespace,
            "name": self.name,
        }


class _ReviewStatus(msgspec.Struct):
    allowed: bool = False


class _Review(msgspec.Struct):
    status: _ReviewStatus = msgspec.field(default_factory=_ReviewStatus)


class Authorizer:
    """Asks the home cluster with SubjectAccessReviews."""

    def __init__(self, home: KubeClient, *, clock: Callable[[], float] | None = None) -> None:
        self._home = home
        self._clock = clock or asyncio.get_running_loop().time
        self._known: OrderedDict[tuple[User, Access], tuple[bool, float]] = OrderedDict()

    async def check(self, user: User, access: Access) -> None:
        """Return if the user may.

        Raises:
            Forbidden: he may not.
            ApiError: the cluster did not say; then he may not either.
        """
        known = self._known.get((user, access))
        if known is None or known[1] <= self._clock():
            known = (await with_retries(lambda: self._ask(user, access)), self._clock() + CACHE_SECONDS)
            self._known[user, access] = known
            self._known.move_to_end((user, access))
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        if not known[0]:
            raise Forbidden(
                f'releases.{GROUP} "{access.name}" is forbidden: User "{user.name}" cannot {access.verb} resource '
                f'"releases/{access.subresource}" in API group "{GROUP}" in the namespace "{access.namespace}"',
                name=access.name,
            )

    async def _ask(self, user: User, access: Access) -> bool:
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {**user.attributes(), "resourceAttributes": access.attributes()},
        }
        answer = await self._home.request(
            "POST",
            _PATH,
            body=encode(review),
            content_type="application/json",
            timeout=_ANSWER_SECONDS,
        )
        if answer.status >= 300:
            raise error_of(answer.status, answer.headers, answer.body)
        try:
            return msgspec.json.decode(answer.body, type=_Review).status.allowed
        except msgspec.DecodeError as error:
            raise ApiError("the answer to a SubjectAccessReview cannot be read") from error
