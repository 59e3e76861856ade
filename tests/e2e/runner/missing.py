"""What a case needs and convoy does not do yet, found by what the case says, never by its id.

`convoy.api.unsupported` knows which fields are not acted on; whoever implements one takes its row out there, and the
cases that need it run.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from convoy.api.objects import Manifest
from convoy.api.release import Release
from convoy.api.unsupported import unsupported_fields
from tests.e2e.runner.case import Case
from tests.e2e.runner.merge import merge, release_manifest
from tests.e2e.runner.steps import PatchRelease

HEALTH = "issue 9 (health, waves, hooks, progressive rollout)"

_WAITS_FOR = {
    "lifecycle": HEALTH,
}


def missing(case: Case) -> str | None:
    """Return what the case waits for, or None where it can be run."""
    needs = dict.fromkeys(field for tree in _releases(case) for field in _unsupported(tree))
    if any(expectation.hooks for expectation in case.expectations()):
        needs.setdefault("lifecycle: status.hooks")
    if not needs:
        return None
    return "; ".join(f"{field} waits for {_issue(field)}" for field in needs)


def _releases(case: Case) -> Iterator[Manifest]:
    """Every Release of the case, as it begins and after each step that patches it."""
    trees = {name: release_manifest("cases", name, over) for name, over in case.releases.items()}
    yield from trees.values()
    for step in case.steps:
        if isinstance(step, PatchRelease):
            trees[step.release] = merge(trees[step.release], step.patch)
            yield trees[step.release]


def _unsupported(tree: Manifest) -> list[str]:
    try:
        return unsupported_fields(Release.model_validate(tree))
    except ValidationError:
        return []  # what the schema refuses is for the API server to say


def _issue(field: str) -> str:
    return next((issue for prefix, issue in _WAITS_FOR.items() if field.startswith(prefix)), "a later issue")
