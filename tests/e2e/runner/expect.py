"""Checking an expectation: every part of it, so that a failure tells all that is wrong and not the first thing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec

from convoy.api.names import HOOK, RELEASE_UID
from convoy.api.objects import Manifest, ObjectKey
from convoy.drift.results import ObjectDrift
from convoy.kube.errors import NotFound
from convoy.kube.resources import INVENTORIES
from convoy.sync.inventory import Record
from tests.e2e.harness.convoy import condition_of, told
from tests.e2e.runner import expectation as form
from tests.e2e.runner.leaks import leaks
from tests.e2e.runner.owners import owners_of
from tests.e2e.runner.pointer import ABSENT, is_at_or_below, resolve, same
from tests.e2e.runner.reference import parse_kind, parse_reference
from tests.e2e.runner.world import World
from workflows.contract import Verdict

GONE_WITHIN = 30.0
"""Seconds that a deleted object may take to be gone."""
KIND_WITHIN = 30.0
"""Seconds that a new kind may take to be in discovery."""
HEALTH_WITHIN = 5.0
"""Seconds that the conditions which follow the cluster by themselves may be behind it: no step waits for them."""
_FOLLOWS_THE_CLUSTER = {"Healthy", "Ready", "Reconciling", "Stalled"}


async def faults_of(world: World, expected: form.Expectation) -> list[str]:
    """Return a sentence for each thing that is not as expected."""
    parts: list[AsyncIterator[str]] = [
        *(_condition(world, each) for each in expected.conditions),
        *(_drift(world, each) for each in expected.drift),
        *(_object(world, each) for each in expected.objects),
        *(_inventory(world, each) for each in expected.inventory),
        *(_release(world, each) for each in expected.releases),
        *(_hook(world, each) for each in expected.hooks),
        *(_count(world, each) for each in expected.counts),
        _order(world, expected.order),
    ]
    if expected.nowhere:
        releases = [world.release(name) for name in world.case.releases]
        parts.append(
            leaks(
                world.convoy, expected.nowhere,
                namespace=world.namespace, releases=releases, log_mark=world.log_mark,
            )
        )  # fmt: skip
    return [fault for part in parts async for fault in part]


async def _condition(world: World, expected: form.Condition) -> AsyncIterator[str]:
    deadline = time.monotonic() + (HEALTH_WITHIN if expected.type in _FOLLOWS_THE_CLUSTER else 0.0)
    while True:
        tree = await world.convoy.read(world.release(expected.release))
        faults = list(_condition_faults(tree, expected))
        if not faults or time.monotonic() >= deadline:
            break
        await asyncio.sleep(0.1)
    for fault in faults:
        yield fault


def _condition_faults(tree: Manifest, expected: form.Condition) -> Iterator[str]:
    found = condition_of(tree, expected.type)
    subject = f"condition {expected.type} of Release {expected.release}"
    if not found:
        yield f"{subject} is not there; there are: {told(tree)}"
        return
    message = found["message"]
    is_what = f"is {found['status']} {found['reason']}: {message}"
    if expected.status is not None and found["status"] != expected.status:
        yield f"{subject} should be {expected.status}; it {is_what}"
    reasons = (expected.reason,) if isinstance(expected.reason, str) else expected.reason
    if reasons is not None and found["reason"] not in reasons:
        yield f"{subject} should have the reason {' or '.join(reasons)}; it {is_what}"
    for text in expected.contains:
        if text not in message:
            yield f"the message of {subject} should contain {text!r}; it {is_what}"
    for text in expected.lacks:
        if text in message:
            yield f"the message of {subject} should lack {text!r}; it {is_what}"
    if expected.max_length is not None and len(message) > expected.max_length:
        yield f"the message of {subject} has {len(message)} characters, more than {expected.max_length}"


async def _drift(world: World, expected: form.Drifted) -> AsyncIterator[str]:
    last = world.passes.get(expected.release)
    if last is None:
        yield f"drift: no pass of Release {expected.release} was made"
        return
    key = parse_reference(expected.object)
    found = last.found.get(str(key))
    if found is not None:
        status = found.status.value
    elif last.report.verdict in (Verdict.IN_SYNC, Verdict.DRIFTED) and await world.convoy.objects.get(key):
        # The stored findings are of objects that differ; the pass compared all, and this one is there.
        status = "InSync"
    else:
        status = f"not reported ({last.report.verdict}: {last.report.message})"
    if expected.status is not None and status != expected.status:
        yield f"drift: {key} should be {expected.status}; it is {status}{_changes(found)}"
    pointers = [change.pointer for change in found.changes] if found is not None else []
    for pointer in pointers if expected.paths is not None else ():
        if not any(is_at_or_below(pointer, above) for above in expected.paths or ()):
            yield f"drift: {key} reports a change at {pointer}, which is below none of {list(expected.paths or ())}"
    for above in expected.paths or ():
        if not any(is_at_or_below(pointer, above) for pointer in pointers):
            yield f"drift: {key} reports no change at {above}{_changes(found)}"
    for above, manager in expected.managers.items():
        named = {
            change.owner.manager if change.owner else ""
            for change in (found.changes if found is not None else ())
            if is_at_or_below(change.pointer, above)
        }
        if named != {manager}:
            yield f"drift: {key} should name {manager} at {above}; it names {sorted(named)}"


def _changes(found: ObjectDrift | None) -> str:
    return f", with changes at {[change.pointer for change in found.changes]}" if found is not None else ""


async def _object(world: World, expected: form.Object) -> AsyncIterator[str]:
    key = parse_reference(expected.object)
    if not expected.exists:
        if not await _is_gone(world, key):
            yield f"{key} should not exist"
        return
    live = await world.convoy.objects.get(key, within=KIND_WITHIN)
    if live is None:
        yield f"{key} should exist"
        return
    if expected.same_uid and live["metadata"]["uid"] != world.remembered.get(key):
        yield f"{key} is another object than the one remembered ({world.remembered.get(key, 'none')})"
    for fault in _fields(live, str(key), expected.fields, expected.absent):
        yield fault
    for pointer, wanted in expected.owners.items():
        managers = {wanted} if isinstance(wanted, str) else set(wanted)
        found = owners_of(live, pointer)
        if found != managers:
            yield f"{key}: {pointer} should be owned by {sorted(managers)}; it is owned by {sorted(found)}"


async def _is_gone(world: World, key: ObjectKey) -> bool:
    deadline = time.monotonic() + GONE_WITHIN
    while await world.convoy.objects.get(key) is not None:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.1)
    return True


def _fields(
    tree: Manifest, subject: str, fields: Mapping[str, Any], absent: tuple[str, ...]
) -> Iterator[str]:
    for pointer, wanted in fields.items():
        found = resolve(tree, pointer)
        if found is ABSENT:
            yield f"{subject}: {pointer} should be {wanted!r}; it is not there"
        elif not same(found, wanted):
            yield f"{subject}: {pointer} should be {wanted!r}; it is {found!r}"
    for pointer in absent:
        found = resolve(tree, pointer)
        if found is not ABSENT:
            yield f"{subject}: {pointer} should not be there; it is {found!r}"


async def _inventory(world: World, expected: form.Inventory) -> AsyncIterator[str]:
    subject = f"the inventory of Release {expected.release}"
    try:
        tree = await world.convoy.read(world.release(expected.release), INVENTORIES)
    except NotFound:
        tree = {}
    keys = [entry.key for entry in Record.from_tree(tree.get("spec") or {}).objects]
    for text in expected.has:
        if parse_reference(text) not in keys:
            yield f"{subject} should have {text}; {_some(keys)}"
    for text in expected.lacks:
        if parse_reference(text) in keys:
            yield f"{subject} should lack {text}; {_some(keys)}"
    if expected.count is not None and len(keys) != expected.count:
        yield f"{subject} should have {expected.count} objects, not {len(keys)}; {_some(keys)}"
    size = len(msgspec.json.encode(tree))
    if expected.max_bytes is not None and size > expected.max_bytes:
        yield f"{subject} takes {size} bytes, more than {expected.max_bytes}"


def _some(keys: list[ObjectKey]) -> str:
    more = f" and {len(keys) - 10} more" if len(keys) > 10 else ""
    return f"it has {', '.join(map(str, keys[:10])) or 'none'}{more}"


async def _release(world: World, expected: form.ReleaseFields) -> AsyncIterator[str]:
    tree = await world.convoy.read(world.release(expected.release))
    for fault in _fields(tree, f"Release {expected.release}", expected.fields, expected.absent):
        yield fault


async def _hook(world: World, expected: form.Hook) -> AsyncIterator[str]:
    tree = await world.convoy.read(world.release(expected.release))
    subject = f"hook {expected.name} of Release {expected.release}"
    known = {each["name"]: each for each in (tree.get("status") or {}).get("hooks") or ()}
    found = known.get(expected.name, {})
    if expected.state is not None and found.get("phase") != expected.state:
        yield f"{subject} should be {expected.state}; it is {found.get('phase')}: {found.get('message', '')}"
    # Each run makes one Job, and its number is that of the Job; but for a run whose Job the cluster refused.
    runs = found.get("run", 0) - (found.get("phase") == "Failed" and not found.get("job"))
    if expected.runs is not None and runs != expected.runs:
        yield f"{subject} should have run {expected.runs} times; it ran {runs} times"
    if expected.jobs is not None:
        left = await _jobs_left(world, tree["metadata"]["uid"], expected)
        if len(left) != expected.jobs:
            yield f"{subject} should have {expected.jobs} Jobs, not {len(left)}: {left}"


async def _jobs_left(world: World, uid: str, expected: form.Hook) -> list[str]:
    """Return the Jobs of a hook that are not being deleted; one with a TTL may take a moment to go."""
    deadline = time.monotonic() + GONE_WITHIN
    while True:
        found = await world.convoy.objects.list(
            "batch", "Job", namespace=None, selector=f"{RELEASE_UID}={uid}"
        )
        left = [
            each["metadata"]["name"]
            for each in found
            if each["metadata"]["annotations"][HOOK] == expected.name
            and "deletionTimestamp" not in each["metadata"]
        ]
        if len(left) == expected.jobs or time.monotonic() > deadline:
            return left
        await asyncio.sleep(0.1)


async def _count(world: World, expected: form.Count) -> AsyncIterator[str]:
    group, kind = parse_kind(expected.kind)
    found = await world.convoy.objects.list(
        group, kind, namespace=expected.namespace, selector=expected.selector
    )
    if len(found) != expected.count:
        names = [each["metadata"]["name"] for each in found[:10]]
        yield f"there should be {expected.count} {expected.kind}, not {len(found)}; the first are {names}"


async def _order(world: World, references: tuple[str, ...]) -> AsyncIterator[str]:
    before, latest = "", 0
    for text in references:
        live = await world.convoy.objects.get(parse_reference(text), within=KIND_WITHIN)
        if live is None:
            yield f"order: {text} should exist"
            continue
        version = int(live["metadata"]["resourceVersion"])
        if version <= latest:
            yield f"order: {text} ({version}) should be younger than {before} ({latest})"
        before, latest = text, version
