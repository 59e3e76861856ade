"""`status.hooks`, the only memory that hooks have: what an attempt writes there and never takes back. Pure.

A run goes from Pending (its Job is about to be made) to Running (it was seen) and to its result, and its number only
grows. The first result of a run stays: an attempt that was frozen can neither undo nor change what another one, or a
person, has written since.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from convoy.api.objects import Manifest
from convoy.api.release_status import HookStatus
from convoy.hooks.plan import PENDING, RUNNING, hook_is_over
from convoy.sync.interruptions import Fenced

_RANK: Final = {PENDING: 0, RUNNING: 1}
_RESULT: Final = 2


def read_entries(tree: Manifest) -> dict[str, HookStatus]:
    """Return what is known of each hook."""
    listed = (tree.get("status") or {}).get("hooks") or ()
    return {entry.name: entry for entry in map(HookStatus.model_validate, listed)}


def with_entries(
    tree: Manifest, changed: Iterable[HookStatus], *, order: Sequence[str] = (), drop: Collection[str] = ()
) -> Manifest | None:
    """Return the full set of `convoy-progress` with these hooks in it, or None where it has them already.

    `order` is that of the list; hooks that it does not name keep their places behind it. `drop` takes entries out.

    Raises:
        Fenced: another attempt has gone further already.
    """
    known = read_entries(tree)
    before = dict(known)
    for entry in changed:
        _check_is_newer(entry, known.get(entry.name))
        known[entry.name] = entry
    kept = {name: entry for name, entry in known.items() if name not in drop}
    if kept == before:
        return None
    names = [name for name in order if name in kept] + [name for name in kept if name not in order]
    waves = (tree.get("status") or {}).get("waves")
    return ({"waves": waves} if waves else {}) | {"hooks": [kept[name].tree() for name in names]}


def _check_is_newer(entry: HookStatus, stored: HookStatus | None) -> None:
    if stored is None or (stored.run or 0) < (entry.run or 0):
        return
    same = (stored.run, stored.render_ref) == (entry.run, entry.render_ref)
    is_another_result = hook_is_over(stored) and entry != stored
    if not same or is_another_result or _rank(stored) > _rank(entry):
        raise Fenced(f"another attempt has taken hook {entry.name} further")


def _rank(entry: HookStatus) -> int:
    return _RESULT if hook_is_over(entry) else _RANK.get(entry.phase or PENDING, 0)
