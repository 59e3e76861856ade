"""D6, D27: the Release's own hooks by batch, then its chart's by weight."""

from __future__ import annotations

import pytest

from convoy.api.hooks import HookStage
from convoy.hooks.definition import JobTemplate, StageHook, stage_hooks
from convoy.hooks.plan import batches
from tests.unit.hooks.making import JOB, A, B, chart_hook, due, job, release, render

PRE, POST = HookStage.PRE_SYNC, HookStage.POST_SYNC
BOTH = "pre-install,pre-upgrade"


def names(*hooks: StageHook) -> list[list[str]]:
    return [[hook.name for hook in batch] for batch in batches(hooks)]


def test_batches_in_order_and_the_chart_after_the_release() -> None:
    found = stage_hooks(
        release(job("c", batch=5), job("b"), job("a"), job("first", batch=-1)),
        render(
            chart_hook("Job", "late", BOTH, weight="3"),
            chart_hook("Job", "early", BOTH, weight="-9"),
            chart_hook("ServiceAccount", "late", BOTH, weight="3", api="v1"),
            chart_hook("Role", "late", BOTH, weight="3", api="rbac.authorization.k8s.io/v1"),
        ),
        PRE,
    )

    assert names(*found) == [
        ["first"],
        ["b", "a"],
        ["c"],
        ["chart-pre/web/early"],
        ["chart-pre/objects/3"],
        ["chart-pre/web/late"],
    ]
    assert [item.key.kind for item in found[-2].objects] == ["ServiceAccount", "Role"]


@pytest.mark.parametrize(
    ("events", "stages"),
    [
        ("pre-install", [("install", PRE)]),
        ("pre-upgrade", [("upgrade", PRE)]),
        ("post-install, post-upgrade", [("install", POST), ("upgrade", POST)]),
        ("pre-install,post-upgrade,pre-delete,test", [("install", PRE), ("upgrade", POST)]),
    ],
)
def test_a_chart_hook_runs_in_the_moments_that_it_names(
    events: str, stages: list[tuple[str, HookStage]]
) -> None:
    hooks = render(chart_hook("Job", "h", events))
    moments = {"install": release(), "upgrade": release(applied=(B,))}

    ran = [
        (moment, stage)
        for moment, found in moments.items()
        for stage in HookStage
        if stage_hooks(found, hooks, stage)
    ]

    assert ran == stages


def test_a_release_is_installed_as_long_as_no_other_render_was_applied() -> None:
    hook = [chart_hook("Job", "h", "post-install")]

    assert due(release(applied=(A,)), stage=POST, hooks=hook) == [("chart-post/web/h", 1)]
    assert due(release(applied=(A, B)), stage=POST, hooks=hook) == []


@pytest.mark.parametrize(
    ("policy", "ours"),
    [
        ("", "BeforeCreation"),
        ("before-hook-creation", "BeforeCreation"),
        ("hook-succeeded", "OnSuccess"),
        ("before-hook-creation, hook-succeeded", "OnSuccess"),
        ("hook-failed", "BeforeCreation"),
    ],
)
def test_the_policies_of_helm(policy: str, ours: str) -> None:
    (hook,) = stage_hooks(release(), render(chart_hook("Job", "h", BOTH, policy=policy)), PRE)

    assert hook.job == JobTemplate("h", "web", JOB, {"app": "x"}, {"team": "shop"}, ours)


def test_defaults() -> None:
    found = stage_hooks(
        release(job("a"), {"name": "go", "approval": {}}, job("b", timeout="90s")), render(), PRE
    )

    assert [(hook.timeout, hook.is_approval) for hook in found] == [(600, False), (86400, True), (90, False)]
