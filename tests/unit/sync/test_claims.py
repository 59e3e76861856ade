"""Who has an object that two Releases render (D14): the rule alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from convoy.api.objects import ObjectKey
from convoy.sync.claims import Hold, Holder, Lookup, concede, give_up, rule
from convoy.sync.inventory import Entry, Record


def key(name: str) -> ObjectKey:
    return ObjectKey("", "ConfigMap", "demo", name)


def entry(name: str, recorded_at: str = "") -> Entry:
    return Entry(key(name), recorded_at=recorded_at)


def others(known: Mapping[str, Sequence[Holder]]) -> Lookup:
    return lambda asked: known.get(asked.name, ())


def recorded(version: int) -> Holder:
    return Holder("demo/other", Hold.RECORDED, version)


PLANNED = Holder("demo/other", Hold.PLANNED)
CLAIMED = Holder("demo/other", Hold.CLAIMED)


def lost(record: Record, lookup: Lookup) -> list[str]:
    return [loss.key.name for loss in rule(record, [entry("x")], lookup).losses]


def test_the_earlier_record_wins() -> None:
    record = Record(planned=(entry("x", "10"),))
    assert lost(record, others({"x": [recorded(9)]})) == ["x"]
    assert lost(record, others({"x": [recorded(11)]})) == []


def test_versions_are_compared_as_numbers() -> None:
    assert lost(Record(planned=(entry("x", "10"),)), others({"x": [recorded(9)]})) == ["x"]
    assert lost(Record(planned=(entry("x", "9"),)), others({"x": [recorded(10)]})) == []


def test_an_object_that_nobody_else_has_is_free() -> None:
    assert lost(Record(planned=(entry("x", "10"),)), others({})) == []


def test_a_claim_of_another_one_takes_nothing() -> None:
    assert lost(Record(planned=(entry("x", "10"),)), others({"x": [CLAIMED]})) == []


def test_a_key_without_a_record_is_lost_to_any_record() -> None:
    assert lost(Record(), others({"x": [recorded(99)]})) == ["x"]


def test_two_that_plan_at_the_same_moment_are_undecided() -> None:
    ruling = rule(Record(planned=(entry("x", "10"),)), [entry("x")], others({"x": [PLANNED]}))
    assert [loss.key.name for loss in ruling.undecided] == ["x"]


def test_an_applied_object_is_not_questioned_by_a_new_plan() -> None:
    ruling = rule(Record(objects=(entry("x", "10"),)), [entry("x")], others({"x": [PLANNED]}))
    assert ruling.undecided == ()


def test_of_two_that_see_each_other_exactly_one_wins() -> None:
    for mine, theirs in ((10, 20), (20, 10)):
        first = lost(Record(planned=(entry("x", str(mine)),)), others({"x": [recorded(theirs)]}))
        second = lost(Record(planned=(entry("x", str(theirs)),)), others({"x": [recorded(mine)]}))
        assert sorted([first, second]) == [[], ["x"]]


def test_the_loser_claims_all_that_was_new() -> None:
    record = Record(objects=(entry("old", "1"),), planned=(entry("x", "10"), entry("y", "10")))
    conceded = concede(
        record, [entry("old"), entry("x"), entry("y")], [key("x")], proved=[key("x"), key("y")]
    )
    assert [each.key.name for each in conceded.claims] == ["x", "y"]
    assert conceded.planned == ()
    assert conceded.objects == record.objects


def test_the_loser_keeps_what_an_earlier_sync_may_have_applied() -> None:
    maybe = entry("maybe", "5")._replace(sent=True)
    record = Record(planned=(maybe, entry("x", "10")))
    conceded = concede(record, [entry("maybe"), entry("x")], [key("x")], proved=[key("maybe"), key("x")])
    assert conceded.planned == (maybe,)
    assert [each.key.name for each in conceded.claims] == ["x"]


def test_the_loser_claims_nothing_that_it_may_not_write() -> None:
    record = Record(planned=(entry("x", "10"), entry("y", "10")))
    conceded = concede(record, [entry("x"), entry("y")], [key("x")], proved=[key("y")])
    assert [each.key.name for each in conceded.claims] == ["y"]


def test_conceding_twice_is_conceding_once() -> None:
    wanted = [entry("old"), entry("x")]
    once = concede(Record(objects=(entry("old", "1"),)), wanted, [key("x")], proved=[key("x")])
    assert concede(once, wanted, [key("x")], proved=[key("x")]) == once


def test_gives_up_what_another_one_claims_and_the_own_render_lacks() -> None:
    record = Record(objects=(entry("x", "1"), entry("y", "1")))
    freed = give_up(record, [entry("y")], others({"x": [CLAIMED], "y": [CLAIMED]}))
    assert [each.key.name for each in freed.objects] == ["y"]
