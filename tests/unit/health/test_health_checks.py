"""`spec.healthChecks`: CEL over the live object, which beats the other rules for its kind (D26)."""

from __future__ import annotations

import asyncio

import pytest

from convoy.api.errors import Unsupported
from convoy.api.objects import Manifest, ObjectKey
from convoy.api.release import HealthCheck
from convoy.health.cel_process import beside_the_loop
from convoy.health.checks import HealthChecks, health_checks
from convoy.health.judge import judge

BOX = ObjectKey("example.org", "Box", "here", "it")


def checks(
    healthy: str, failed: str | None = None, *, group: str = BOX.group, kind: str = BOX.kind
) -> HealthChecks:
    return health_checks([HealthCheck(group=group, kind=kind, healthy=healthy, failed=failed)])


def box(**status: object) -> Manifest:
    metadata = {"name": "it", "namespace": "here", "generation": 1}
    return {"apiVersion": "example.org/v1", "kind": "Box", "metadata": metadata, "status": status}


READY = checks("object.status.phase == 'Ready'", "object.status.phase == 'Error'")


@pytest.mark.parametrize(
    ("phase", "expected"), [("Ready", "Healthy"), ("Error", "Degraded"), ("Busy", "Progressing")]
)
def test_the_expressions_decide(phase: str, expected: str) -> None:
    assert judge(BOX, box(phase=phase), checks=READY).phase == expected


def test_a_field_that_is_not_written_yet_is_progress_and_told() -> None:
    found = judge(BOX, box(), checks=READY)
    assert found.phase == "Progressing"
    assert 'Key not found in map : "phase"' in found.message


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("object.?status.?phase.orValue('') == 'Ready'", "Progressing"),
        ("!object.?status.phase.hasValue()", "Healthy"),
        ("object.?status.conditions.orValue([]).exists(c, c.type == 'Up')", "Progressing"),
        ("object.metadata.name.upperAscii().split('T')[0] == 'I'", "Healthy"),
    ],
)
def test_optional_fields_and_the_functions_on_texts_are_those_of_kubernetes(
    expression: str, expected: str
) -> None:
    found = judge(BOX, box(), checks=checks(expression))
    assert found.phase == expected
    assert found.message in ("", "its health check does not hold yet")


def test_a_check_beats_the_conditions_and_a_built_in_rule() -> None:
    not_ready = box(phase="Ready", conditions=[{"type": "Ready", "status": "False"}])
    assert judge(BOX, not_ready, checks=READY).phase == "Healthy"
    deployment = {**box(), "apiVersion": "apps/v1", "kind": "Deployment"}
    always = checks("true", group="apps", kind="Deployment")
    assert judge(ObjectKey("apps", "Deployment", "here", "it"), deployment, checks=always).phase == "Healthy"


def test_a_status_of_an_older_generation_is_not_judged() -> None:
    assert judge(BOX, box(phase="Ready", observedGeneration=0), checks=READY).phase == "Progressing"


def test_a_check_counts_for_its_group_and_kind_alone() -> None:
    other = ObjectKey("example.com", "Box", "here", "it")
    assert judge(other, box(), checks=READY).phase == "Healthy"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("object.status.phase ==", "Syntax error"),
        ("phase == 'Ready'", "undeclared reference to 'phase'"),
        ("size(object.status)", "type INT and not a boolean"),
    ],
)
def test_a_bad_expression_names_its_field_and_what_is_wrong(expression: str, why: str) -> None:
    with pytest.raises(Unsupported) as raised:
        checks(expression)
    assert "spec.healthChecks[0].healthy" in raised.value.message
    assert why in raised.value.message
    assert "\n" not in raised.value.message
    with pytest.raises(Unsupported, match=r"spec\.healthChecks\[0\]\.failed"):
        checks("true", expression)


def test_a_value_that_is_no_boolean_is_told() -> None:
    found = judge(BOX, box(phase="Ready"), checks=checks("object.status.phase"))
    assert (found.phase, "type STRING and not a boolean" in found.message) == ("Progressing", True)


@pytest.mark.parametrize(
    "expression",
    [
        "object.status.list.all(a, object.status.list.all(b, object.status.list.all(c, a == b)))",
        "object.status.text.matches('(a+)+$')",
        "object.status.list.map(a, object.status.list.map(b, object.status.list)).size() > 0",
    ],
)
def test_an_expression_that_would_take_for_ever_ends(expression: str) -> None:
    live = box(list=[1] * 5000, text="a" * 5000 + "b")
    assert judge(BOX, live, checks=checks(expression)).phase == "Progressing"


def test_no_value_of_a_secret_is_in_a_message() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "aHVzaA=="}}
    rule = checks("object.data.k + 1 == 2 || object.data.k > 3", kind="Secret", group="")
    found = judge(ObjectKey("", "Secret", "here", "s"), secret, checks=rule)
    assert found.message == "its health check does not hold yet; healthy has no value"


@pytest.mark.parametrize("odd", [None, 2**70, {1: 2}, [None, {}], "\ud83d", 1.5])
def test_no_live_object_whatever_it_holds_raises(odd: object) -> None:
    judge(BOX, box(phase=odd), checks=READY)


HUGE = "'aaaaaaaaaa'" + ".replace('a', 'aaaaaaaaaa')" * 9 + " != ''"
LONG = "object.status.l.all(x, object.status.s.replace('a', 'b').size() > 0)"


@pytest.mark.parametrize(
    ("expression", "status"),
    [(HUGE, {}), (LONG, {"l": list(range(5000)), "s": "a" * 1_000_000})],
    ids=["memory", "time"],
)
def test_an_expression_that_costs_too_much_has_no_value_and_does_no_harm(
    expression: str, status: dict[str, object]
) -> None:
    for _ in range(2):
        found = judge(BOX, box(**status), checks=checks(expression))
        assert found.phase == "Progressing"
        assert found.message.endswith("; healthy: its evaluation takes more than 0.5 s or 256 MiB")
        assert judge(BOX, box(phase="Ready"), checks=READY).phase == "Healthy"


async def test_the_event_loop_goes_on_while_an_expression_is_evaluated() -> None:
    status = {"l": list(range(5000)), "s": "b" * 1_000_000}
    judging = asyncio.create_task(
        beside_the_loop(lambda: judge(BOX, box(**status), checks=checks(LONG + " && true")))
    )
    turns = 0
    while not judging.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert "takes more than" in (await judging).message
    assert turns > 5
