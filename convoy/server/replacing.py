"""`mutations` and `lifecycle`: read them, or replace them by others that the Release can be rendered with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from pydantic import ValidationError

from convoy.api.common import ApiModel, faults
from convoy.api.hooks import Lifecycle
from convoy.api.mutations import Mutation
from convoy.api.release import Release
from convoy.hooks.check import refused_jobs
from convoy.server.answers import ReleaseLifecycle, ReleaseMutations
from convoy.server.call import Call
from convoy.server.content import expect
from convoy.server.refusals import Invalid
from convoy.sync.desired import Desired

_M = TypeVar("_M", bound=ApiModel)


class _Mutations(ApiModel):
    mutations: tuple[Mutation, ...]


async def read_mutations(call: Call) -> ReleaseMutations:
    """Tell the mutations."""
    release = await call.release()
    return ReleaseMutations(metadata=call.metadata(release), mutations=_trees(release.mutations))


async def write_mutations(call: Call) -> ReleaseMutations:
    """Replace the mutations, once the Release was rendered with them, and request a sync.

    Raises:
        BadRequest, Invalid: the body has no mutations that make sense.
        TooMany: a diff or a preview of this Release runs already.
        ConvoyError: the Release cannot be rendered with them.
        ApiError: the Release cannot be read or written.
    """
    precondition = expect(call.body, kind="ReleaseMutations", fields=("mutations",))
    given = _list(call.body, "mutations")
    release = await call.release()
    wanted = _strictly(_Mutations, {"mutations": given}).mutations
    await _render(call, release.model_copy(update={"mutations": wanted}), needed=bool(given))
    changes = {"mutations": given or None}
    requested_at = await call.write(release.metadata.uid, changes, precondition=precondition)
    return ReleaseMutations(metadata=call.metadata(), mutations=tuple(given), requested_at=requested_at)


async def read_lifecycle(call: Call) -> ReleaseLifecycle:
    """Tell the hooks."""
    release = await call.release()
    hooks = release.lifecycle
    return ReleaseLifecycle(
        metadata=call.metadata(release), pre_sync=_trees(hooks.pre_sync), post_sync=_trees(hooks.post_sync)
    )


async def write_lifecycle(call: Call) -> ReleaseLifecycle:
    """Replace the hooks, once the Release was rendered with them and the target took their Jobs as a dry run; request
    a sync.

    Raises:
        BadRequest, Invalid: the body has no hooks that make sense, or the target refuses a Job.
        TooMany: a diff or a preview of this Release runs already.
        ConvoyError: the Release cannot be rendered with them, or the target did not answer.
        ApiError: the Release cannot be read or written.
    """
    precondition = expect(call.body, kind="ReleaseLifecycle", fields=("preSync", "postSync"))
    given = {name: _list(call.body, name) for name in ("preSync", "postSync")}
    release = await call.release()
    wanted = release.model_copy(update={"lifecycle": _strictly(Lifecycle, given)})
    desired = await _render(call, wanted, needed=any(given.values()))
    if desired is not None:
        refused = await refused_jobs(desired.destination.target.client, wanted)
        if refused:
            raise Invalid("; ".join(refused), name=call.name)
    changes = {"lifecycle": {name: entries or None for name, entries in given.items()}}
    requested_at = await call.write(release.metadata.uid, changes, precondition=precondition)
    return ReleaseLifecycle(
        metadata=call.metadata(),
        pre_sync=tuple(given["preSync"]),
        post_sync=tuple(given["postSync"]),
        requested_at=requested_at,
    )


async def _render(call: Call, release: Release, *, needed: bool) -> Desired | None:
    """Render the Release as it would be, also where a pin holds it on a stored render.

    Taking everything away needs no proof, also where the source is gone.
    """
    if not needed:
        return None
    with call.alone():
        return await call.services.desired.resolve_fresh(release)


def _list(body: dict[str, Any], name: str) -> list[Any]:
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Invalid(f"{name}: expected a list")
    return value


def _strictly(model: type[_M], tree: dict[str, Any]) -> _M:
    """Read what somebody typed: a field that nobody knows is a mistake."""
    try:
        return model.model_validate(tree, extra="forbid")
    except ValidationError as error:
        raise Invalid(faults(error)) from None


def _trees(models: Iterable[ApiModel]) -> tuple[dict[str, Any], ...]:
    return tuple(each.tree() for each in models)
