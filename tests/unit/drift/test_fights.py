"""The same field of the same object healed 5 times within 10 passes is a fight (D32)."""

from convoy.api.objects import ObjectKey
from convoy.drift.fights import PASSES, TRACKED, Fight, FightState, Heal, detect_fights
from convoy.drift.owners import Owner

KEY = ObjectKey("apps", "Deployment", "demo", "web")


def heal(pointer: str = "/spec/replicas", *, key: ObjectKey = KEY, manager: str | None = "scaler") -> Heal:
    return Heal(key, pointer, Owner(manager, "Update") if manager else None)


def run(passes: list[list[Heal]]) -> tuple[FightState, list[list[Fight]]]:
    state, found = FightState(), []
    for heals in passes:
        state, fights = detect_fights(state, heals)
        found.append(list(fights))
    return state, found


def test_four_heals_are_no_fight() -> None:
    assert not any(run([[heal()]] * 4)[1])


def test_the_fifth_heal_is_a_fight_that_names_object_pointer_and_manager() -> None:
    (fight,) = run([[heal()]] * 5)[1][-1]
    assert (fight.key, fight.pointer) == (KEY, "/spec/replicas")
    assert "Deployment.apps demo/web: /spec/replicas" in fight.message
    assert "scaler" in fight.message


def test_passes_in_sync_in_between_count_as_passes() -> None:
    assert run([[heal()], []] * 5)[1][8]
    assert not any(run([[heal()], [], []] * 5)[1])


def test_another_field_or_another_object_is_another_count() -> None:
    other = ObjectKey("apps", "Deployment", "demo", "api")
    passes = [[heal("/spec/paused")], [heal(key=other)]] * 4
    assert not any(run(passes)[1])


def test_a_fight_that_goes_on_is_reported_at_every_fifth_heal() -> None:
    assert [bool(fights) for fights in run([[heal()]] * 10)[1]] == [False] * 4 + [True] + [False] * 4 + [True]


def test_a_webhook_that_changes_convoys_own_requests_is_named_as_such() -> None:
    (fight,) = run([[heal(manager="convoy")]] * 5)[1][-1]
    assert "admission webhook" in fight.message


def test_an_unknown_manager_is_still_a_fight() -> None:
    assert run([[heal(manager=None)]] * 5)[1][-1]


def test_the_state_is_bounded_and_holds_no_names() -> None:
    many = [heal(f"/data/{number}") for number in range(5000)]
    state, _ = run([many] * 4 + [[]] * 3 + [many] * 30)
    assert len(state.passes) <= PASSES
    assert all(len(digests) <= TRACKED for digests in state.passes)
    assert "data" not in repr(state)
