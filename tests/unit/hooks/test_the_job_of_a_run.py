"""D27: the Job of one run has one name, and holds its result back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from convoy.api.names import HOOK_FINALIZER, RELEASE_UID
from convoy.hooks.definition import JobTemplate
from convoy.hooks.job import JobEnd, JobRun, build_job, end_of, is_of, job_name
from tests.unit.hooks.making import JOB, A, B

TEMPLATE = JobTemplate("shop-migrate", "web", JOB, {"app": "x"}, {"team": "shop"}, "BeforeCreation")
RUN = JobRun(release="team/shop", uid="u-1", render_ref=A, hook="migrate", number=1)


def test_the_name_is_always_the_same_for_one_run_and_another_for_every_other() -> None:
    others = [
        replace(RUN, uid="u-2"),
        replace(RUN, render_ref=B),
        replace(RUN, hook="other"),
        replace(RUN, number=2),
    ]

    names = {job_name(TEMPLATE, run) for run in (RUN, *others)}

    assert len(names) == 5
    assert job_name(TEMPLATE, RUN) == job_name(replace(TEMPLATE, spec={}), RUN)
    assert job_name(TEMPLATE, RUN).startswith("shop-migrate-")


@pytest.mark.parametrize("name", ["shop.v1-migrate", "x" * 200, "a" * 51 + "-b", "UPPER_case"])
def test_a_name_is_readable_and_fits_into_a_label(name: str) -> None:
    found = job_name(replace(TEMPLATE, name=name), RUN)

    assert len(found) <= 63
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", found)
    assert found[:4] == name.lower().replace(".", "-")[:4]


def test_a_job_says_what_it_is_of_and_keeps_its_result() -> None:
    job = build_job(TEMPLATE, RUN, timeout=600)

    metadata = job["metadata"]
    assert metadata["namespace"] == "web"
    assert metadata["labels"] == {"app": "x", RELEASE_UID: "u-1"}
    assert metadata["annotations"] == {
        "team": "shop",
        "convoy.kumodo.io/release": "team/shop",
        "convoy.kumodo.io/hook": "migrate",
        "convoy.kumodo.io/hook-run": "1",
        "convoy.kumodo.io/render-ref": A,
        "convoy.kumodo.io/hook-delete-policy": "BeforeCreation",
    }
    assert metadata["finalizers"] == [HOOK_FINALIZER]
    assert job["spec"]["template"] == JOB["template"]
    assert is_of(job, "u-1")
    assert not is_of(job, "u-2")


@pytest.mark.parametrize(("wanted", "found"), [(None, 90), (30, 30), (1000, 90)])
def test_a_job_ends_by_itself_at_the_deadline_of_its_hook(wanted: int | None, found: int) -> None:
    spec = JOB | ({"activeDeadlineSeconds": wanted} if wanted else {})

    assert (
        build_job(replace(TEMPLATE, spec=spec), RUN, timeout=89.5)["spec"]["activeDeadlineSeconds"] == found
    )


@pytest.mark.parametrize(
    ("status", "deleted", "end"),
    [
        (None, False, None),
        ({"conditions": None}, False, None),
        ({"conditions": [{"type": "FailureTarget", "status": "True"}]}, False, None),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, False, JobEnd(True)),
        ({"conditions": [{"type": "Complete", "status": "True"}]}, True, JobEnd(True)),
        (
            {"conditions": [{"type": "Failed", "status": "True", "reason": "Late", "message": "too slow"}]},
            False,
            JobEnd(False, "Late: too slow"),
        ),
        (None, True, JobEnd(False, "it was deleted while it ran")),
    ],
)
def test_how_a_job_ended(status: object, deleted: bool, end: JobEnd | None) -> None:
    metadata = {"deletionTimestamp": "2026-11-29T10:00:00Z"} if deleted else {}

    assert end_of({"metadata": metadata, "status": status}) == end
