"""What a prune deletes and what it keeps, with the reason (D14, D17–D19, D21)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.api.objects import ObjectKey
from convoy.sync.claims import Hold, Holder
from convoy.sync.inventory import Entry, Record
from convoy.sync.live import Live
from convoy.sync.prune_plan import Action, Candidate, candidates, decide, exceeds

KEY = ObjectKey("", "ConfigMap", "demo", "box")


def candidate(key: ObjectKey = KEY, *, uid: str = "u1", planned: bool = False) -> Candidate:
    return Candidate(Entry(key, uid=uid), planned=planned)


def live(uid: str = "u1", *, applied: bool = True, **annotations: str) -> Live:
    return Live(
        uid,
        "5",
        annotations={k.replace("__", "/"): v for k, v in annotations.items()},
        applied_by_convoy=applied,
    )


def test_deletes_what_the_render_no_longer_contains() -> None:
    assert decide(candidate(), live(), (), ()).action is Action.DELETE


def test_an_absent_object_is_done() -> None:
    assert decide(candidate(), None, (), ()).action is Action.ABSENT


@pytest.mark.parametrize(
    ("group", "kind", "action"),
    [
        ("", "Namespace", Action.KEEP),
        ("apiextensions.k8s.io", "CustomResourceDefinition", Action.KEEP),
        ("example.org", "Namespace", Action.DELETE),
        ("", "PersistentVolume", Action.DELETE),
    ],
)
def test_protects_two_kinds_by_group_and_kind(group: str, kind: str, action: Action) -> None:
    assert decide(candidate(ObjectKey(group, kind, "", "x")), live(), (), ()).action is action


def test_keeps_what_somebody_else_made_anew() -> None:
    decision = decide(candidate(), live("u2"), (), ())
    assert (decision.action, decision.reason) == (Action.KEEP, "somebody else made it anew")


def test_keeps_the_same_object_that_was_applied_under_another_group() -> None:
    assert decide(candidate(), live(), (), {"u1"}).action is Action.KEEP


@pytest.mark.parametrize("hold", list(Hold))
def test_keeps_what_another_release_has_plans_or_claims(hold: Hold) -> None:
    decision = decide(candidate(), live(), [Holder("demo/other", hold, 3)], ())
    assert decision.action is Action.KEEP
    assert "demo/other" in decision.reason


@pytest.mark.parametrize(
    "annotation",
    [
        {"convoy.kumodo.io__prune": "disabled"},
        {"helm.sh__resource-policy": "keep"},
        {"helm.sh__resource-policy": " Keep "},
    ],
)
def test_keeps_what_is_annotated_to_be_kept(annotation: dict[str, str]) -> None:
    source = live()
    names = {name.replace("__", "/"): value for name, value in annotation.items()}
    kept = Live(source.uid, "5", annotations=names, applied_by_convoy=True)
    assert decide(candidate(), kept, (), ()).action is Action.KEEP


@pytest.mark.parametrize("name", ["convoy.kumodo.io/prune", "helm.sh/resource-policy"])
def test_another_value_of_the_annotation_keeps_nothing(name: str) -> None:
    other = Live("u1", "5", annotations={name: "enabled"}, applied_by_convoy=True)
    assert decide(candidate(), other, (), ()).action is Action.DELETE


def test_a_key_that_was_only_planned_is_deleted_only_if_convoy_applied_it() -> None:
    planned = candidate(uid="", planned=True)
    assert decide(planned, live(applied=False), (), ()).action is Action.KEEP
    assert decide(planned, live(applied=True), (), ()).action is Action.DELETE


def test_a_planned_key_keeps_the_uid_that_was_seen() -> None:
    assert decide(candidate(uid="seen", planned=True), live("new"), (), ()).action is Action.KEEP


def test_goes_backwards_through_waves_and_through_each_wave() -> None:
    record = Record(
        objects=tuple(
            Entry(ObjectKey("", "ConfigMap", "demo", name), wave)
            for name, wave in [("a", 1), ("b", -1), ("c", 1), ("d", -1)]
        ),
        planned=(Entry(ObjectKey("", "ConfigMap", "demo", "e"), 1),),
    )
    assert [each.entry.key.name for each in candidates(record, set())] == ["e", "c", "a", "d", "b"]


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")))
def test_looks_only_at_what_is_recorded_and_not_in_the_render(recorded: set[str], wanted: set[str]) -> None:
    def key(name: str) -> ObjectKey:
        return ObjectKey("", "ConfigMap", "demo", name)

    record = Record(objects=tuple(Entry(key(name)) for name in sorted(recorded)))
    found = candidates(record, {key(name) for name in wanted})
    assert {each.entry.key.name for each in found} == recorded - wanted


@pytest.mark.parametrize(
    ("deletes", "percent", "held"),
    [(1, 50, None), (2, 50, None), (3, 50, (3, 4)), (4, 100, None), (1, 0, (1, 4))],
)
def test_holds_back_a_prune_of_more_than_the_allowed_share(
    deletes: int, percent: int, held: tuple[int, int] | None
) -> None:
    record = Record(objects=tuple(Entry(ObjectKey("", "ConfigMap", "demo", name)) for name in "abcd"))
    decisions = [decide(candidate(), live(), (), ()) for _ in range(deletes)]
    assert exceeds(decisions, record, percent) == held


def test_an_empty_prune_is_never_held_back() -> None:
    assert exceeds([], Record(), 0) is None
