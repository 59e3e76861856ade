"""The ledger as plain data: it covers what was applied, keeps the order of the apply, and stays small."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convoy.api.inventory import InventorySpec
from convoy.api.objects import ObjectKey
from convoy.kube.encode import encode
from convoy.sync.inventory import (
    Entry,
    Record,
    drop,
    exact,
    group,
    not_sent,
    plan,
    sending,
    stamp,
    ungroup,
    union,
    withdraw,
)

keys = st.builds(
    ObjectKey,
    st.sampled_from(["", "apps"]),
    st.sampled_from(["ConfigMap", "Deployment"]),
    st.sampled_from(["", "demo"]),
    st.sampled_from("abcdef"),
)
entries = st.builds(
    Entry, keys, st.integers(-2, 2), st.sampled_from(["", "u1", "u2"]), st.sampled_from(["", "7", "9"])
)
entry_lists = st.lists(entries, unique_by=lambda entry: entry.key).map(tuple)


@st.composite
def record_trees(draw: st.DrawFn) -> Record:
    objects = draw(entry_lists)
    taken = {entry.key for entry in objects}
    planned = tuple(
        entry._replace(sent=draw(st.booleans()) and bool(entry.recorded_at))
        for entry in draw(entry_lists)
        if entry.key not in taken
    )
    return Record(
        cluster="c", target_uid="t", render_ref="r", epoch="e", objects=objects, planned=planned, claims=()
    )


def entry(name: str, wave: int = 0, uid: str = "", recorded_at: str = "") -> Entry:
    return Entry(ObjectKey("", "ConfigMap", "demo", name), wave, uid, recorded_at)


@given(entry_lists)
def test_groups_give_the_same_entries_in_the_same_order(given_entries: tuple[Entry, ...]) -> None:
    assert ungroup(group(given_entries)) == given_entries


@given(record_trees())
def test_a_record_survives_being_stored(record: Record) -> None:
    assert Record.from_tree(record.tree()) == record


@given(record_trees())
def test_the_stored_form_is_the_one_of_the_api_model(record: Record) -> None:
    stored = InventorySpec.model_validate(record.tree())
    assert Record.from_tree(stored.tree()) == record


def test_ten_thousand_objects_fit_into_etcd() -> None:
    uid = "c0ffee00-1234-4abc-9def-0123456789ab"
    many = tuple(entry(f"{number:045d}", uid=uid, recorded_at="123456") for number in range(10_000))
    assert len(encode(Record(objects=many).tree())) < 1_100_000


@given(record_trees(), entry_lists)
def test_a_plan_covers_the_whole_render(record: Record, wanted: tuple[Entry, ...]) -> None:
    planned = plan(record, wanted)
    assert {each.key for each in wanted} <= planned.held().keys()


@given(record_trees(), entry_lists)
def test_a_plan_forgets_nothing_that_may_be_applied(record: Record, wanted: tuple[Entry, ...]) -> None:
    maybe = {each.key for each in record.objects} | {each.key for each in record.planned if each.sent}
    assert maybe <= plan(record, wanted).held().keys()


@given(record_trees(), entry_lists)
def test_planning_twice_is_planning_once(record: Record, wanted: tuple[Entry, ...]) -> None:
    once = plan(record, wanted)
    assert plan(once, wanted) == once
    stamped = stamp(once, "11")
    assert plan(stamped, wanted) == stamped


def test_planned_keys_are_stamped_once() -> None:
    record = stamp(Record(planned=(entry("old", recorded_at="7"), entry("new"))), "9")
    assert [each.recorded_at for each in record.planned] == ["7", "9"]


def test_a_plan_drops_what_the_render_lacks_and_nobody_sent() -> None:
    record = plan(Record(planned=(entry("old", recorded_at="7"), entry("x", recorded_at="7"))), [entry("x")])
    assert record.planned == (entry("x", recorded_at="7"),)


def test_planned_keys_take_the_uid_that_was_seen_when_they_are_sent() -> None:
    names = ("a", "b", "later")
    record = Record(planned=tuple(entry(name, recorded_at="7") for name in names))
    sent = sending(record, {entry("a").key, entry("b").key}, {entry("a").key: "u1"})
    assert [(each.uid, each.sent) for each in sent.planned] == [("u1", True), ("", True), ("", False)]


def test_an_applied_object_that_is_gone_or_another_one_loses_its_uid_when_it_is_sent() -> None:
    names = ("same", "gone", "another", "later")
    record = Record(objects=tuple(entry(name, uid="u1") for name in names))
    keys = {entry(name).key for name in names[:3]}
    sent = sending(record, keys, {entry("same").key: "u1", entry("another").key: "u2"})
    assert [each.uid for each in sent.objects] == ["u1", "", "", "u1"]


@given(record_trees())
def test_what_was_not_sent_after_all_is_a_plan_again(record: Record) -> None:
    keys = {each.key for each in record.planned}
    assert withdraw(not_sent(record, keys)).planned == ()


@given(record_trees(), entry_lists)
def test_a_union_loses_no_record(record: Record, applied: tuple[Entry, ...]) -> None:
    merged = union(record, applied)
    assert merged.held().keys() == record.held().keys() | {each.key for each in applied}


@given(record_trees(), entry_lists)
def test_a_union_holds_what_was_applied_with_its_uid(record: Record, applied: tuple[Entry, ...]) -> None:
    merged = {each.key: each for each in union(record, applied).objects}
    assert all(merged[each.key].uid == each.uid for each in applied)


def test_a_union_keeps_when_a_key_was_first_recorded() -> None:
    record = Record(objects=(entry("a", uid="u1", recorded_at="3"),), planned=(entry("b", recorded_at="5"),))
    merged = union(record, [entry("a", uid="u9"), entry("b", uid="u2")])
    assert [(each.uid, each.recorded_at) for each in merged.objects] == [("u9", "3"), ("u2", "5")]
    assert merged.planned == ()


@given(record_trees(), entry_lists)
def test_the_exact_set_is_the_render_in_its_order(record: Record, wanted: tuple[Entry, ...]) -> None:
    merged = union(record, [each._replace(uid="u") for each in wanted])
    final = exact(merged, wanted, render_ref="new")
    assert [each.key for each in final.objects] == [each.key for each in wanted]
    assert (final.planned, final.claims, final.render_ref) == ((), (), "new")


def test_there_is_no_exact_set_of_what_was_not_applied() -> None:
    with pytest.raises(KeyError):
        exact(Record(), [entry("a")], render_ref="new")


def test_a_pass_that_ends_keeps_only_what_may_be_applied() -> None:
    maybe = entry("maybe", recorded_at="3")._replace(sent=True)
    record = Record(
        objects=(entry("applied"),),
        planned=(maybe, entry("now", recorded_at="9"), entry("unstamped")),
        claims=(entry("wanted"),),
    )
    assert withdraw(record) == replace(record, planned=(maybe,), claims=())


def test_a_dropped_key_is_neither_applied_nor_planned() -> None:
    record = Record(objects=(entry("a"),), planned=(entry("b"), entry("c")))
    assert [key.name for key in drop(record, {entry("a").key, entry("b").key}).held()] == ["c"]
