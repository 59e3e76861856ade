"""The index of inventories: looks up by target and object, and names who waits for what was let go."""

from __future__ import annotations

from convoy.api.objects import Manifest, ObjectKey
from convoy.kube.reflector import Change
from convoy.sync.claims import Hold, Holder
from convoy.sync.inventory import Entry, Record
from convoy.sync.ownership import OwnershipIndex, held

X = ObjectKey("", "ConfigMap", "demo", "x")


class Feed:
    """Hands inventories to an index as a reflector does."""

    def __init__(self) -> None:
        self.freed: list[str] = []
        self.index = OwnershipIndex(on_free=self.freed.append)
        self._known: dict[str, Manifest] = {}

    def put(
        self,
        name: str,
        *,
        objects: str = "",
        planned: str = "",
        claims: str = "",
        target: str = "t",
        epoch: str = "",
        version: int = 1,
    ) -> None:
        record = Record(
            target_uid=target,
            epoch=epoch,
            objects=(Entry(X, uid="u", recorded_at=objects),) if objects else (),
            planned=(Entry(X, recorded_at="" if planned == "now" else planned),) if planned else (),
            claims=(Entry(X),) if claims else (),
        )
        metadata = {"namespace": "demo", "name": name, "resourceVersion": str(version)}
        tree = {"metadata": metadata, "spec": record.tree()}
        before = self._known.get(name)
        self._known[name] = tree
        self.index.on_event(
            Change(
                "MODIFIED" if before else "ADDED",
                "demo",
                name,
                "uid",
                held(tree),
                held(before) if before is not None else None,
            )
        )

    def remove(self, name: str) -> None:
        last = held(self._known.pop(name))
        self.index.on_event(Change("DELETED", "demo", name, "uid", last, last))

    def seen_by(self, name: str, target: str = "t") -> list[Holder]:
        return list(self.index.lookup(target, release=f"demo/{name}")(X))


def test_names_the_others_and_not_oneself() -> None:
    feed = Feed()
    feed.put("a", objects="7")
    assert feed.seen_by("b") == [Holder("demo/a", Hold.RECORDED, 7)]
    assert feed.seen_by("a") == []


def test_tells_planned_from_recorded_from_claimed() -> None:
    feed = Feed()
    feed.put("a", planned="now")
    assert feed.seen_by("b") == [Holder("demo/a", Hold.PLANNED)]
    feed.put("a", planned="8")
    assert feed.seen_by("b") == [Holder("demo/a", Hold.RECORDED, 8)]
    feed.put("a", claims="yes")
    assert feed.seen_by("b") == [Holder("demo/a", Hold.CLAIMED)]


def test_another_target_is_another_object() -> None:
    feed = Feed()
    feed.put("a", objects="7", target="elsewhere")
    assert feed.seen_by("b") == []


def test_forgets_what_an_inventory_no_longer_names() -> None:
    feed = Feed()
    feed.put("a", objects="7")
    feed.put("a")
    assert feed.seen_by("b") == []


def test_forgets_a_deleted_inventory() -> None:
    feed = Feed()
    feed.put("a", objects="7")
    feed.remove("a")
    assert feed.seen_by("b") == []


def test_wakes_the_claimant_when_the_owner_lets_go() -> None:
    feed = Feed()
    feed.put("a", objects="7")
    feed.put("b", claims="yes")
    assert feed.freed == []
    feed.put("a")
    assert feed.freed == ["demo/b"]


def test_wakes_the_claimant_when_the_owner_is_deleted() -> None:
    feed = Feed()
    feed.put("a", objects="7")
    feed.put("b", claims="yes")
    feed.remove("a")
    assert feed.freed == ["demo/b"]


def test_a_claim_taken_back_wakes_nobody() -> None:
    feed = Feed()
    feed.put("a", claims="yes")
    feed.put("b", claims="yes")
    feed.put("a")
    assert feed.freed == []


def test_finds_who_waits_for_nothing_after_a_start() -> None:
    feed = Feed()
    feed.put("b", claims="yes")
    assert feed.index.claimants_of_free() == {"demo/b"}
    feed.put("a", objects="7")
    assert feed.index.claimants_of_free() == set()


def test_an_attempt_is_overtaken_by_a_later_write_of_another_one() -> None:
    feed = Feed()
    feed.put("a", epoch="run-2/apply", version=12)
    assert feed.index.is_overtaken("demo/a", epoch="run-1/apply", since="9")


def test_an_attempt_is_not_overtaken_by_what_it_took_over_itself() -> None:
    feed = Feed()
    feed.put("a", epoch="run-1/claim", version=9)
    assert not feed.index.is_overtaken("demo/a", epoch="run-1/apply", since="12"), "its write is not seen yet"
    feed.put("a", epoch="run-1/apply", version=12)
    assert not feed.index.is_overtaken("demo/a", epoch="run-1/apply", since="12")


def test_a_later_write_of_the_observer_overtakes_nobody() -> None:
    feed = Feed()
    feed.put("a", epoch="run-1/apply", version=15)
    assert not feed.index.is_overtaken("demo/a", epoch="run-1/apply", since="12")


def test_where_there_is_no_inventory_nobody_is_overtaken() -> None:
    feed = Feed()
    feed.put("a", epoch="run-2/apply", version=12)
    feed.remove("a")
    assert not feed.index.is_overtaken("demo/a", epoch="run-1/apply", since="9")
    assert not feed.index.is_overtaken("demo/b", epoch="run-1/apply", since="")
