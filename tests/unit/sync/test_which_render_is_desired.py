"""`reference/drift`, The desired render: pin, last healthy where rolled back, fresh."""

from __future__ import annotations

from typing import Any

from convoy.api.release import Release
from convoy.sync.desired_order import Origin, Wish, ends_rollback, needed_renders, pin_advice, stored_wishes


def ref(letter: str) -> str:
    return f"sha256:{letter * 64}"


def release(*, pin: str = "", policy: str = "Rollback", **status: Any) -> Release:
    tree: dict[str, Any] = {
        "apiVersion": "convoy.kumodo.io/v1alpha1",
        "kind": "Release",
        "metadata": {"name": "shop", "namespace": "team", "uid": "1"},
        "spec": {
            "clusterRef": {"name": "here"},
            "source": {"inline": {"files": {"a.yaml": ""}}},
            "content": {"manifests": {}},
        }
        | ({"failurePolicy": {"action": policy}} if policy else {}),
        "status": status,
    }
    if pin:
        tree["pin"] = {"renderRef": pin}
    return Release.read(tree)


def rollout(phase: str) -> dict[str, str]:
    return {"phase": phase, "renderRef": ref("e"), "lastHealthyRenderRef": ref("b")}


def test_without_pin_and_rollback_it_is_the_fresh_one() -> None:
    assert stored_wishes(release()) == ()


def test_the_pin_comes_first_and_the_last_healthy_one_second() -> None:
    wishes = stored_wishes(release(pin=ref("a"), rollout=rollout("RolledBack")))

    assert wishes == (Wish(Origin.PIN, ref("a")), Wish(Origin.LAST_HEALTHY, ref("b")))


def test_the_last_healthy_one_counts_only_where_the_rollout_is_rolled_back() -> None:
    for phase in ("Progressing", "Healthy", "Failed"):
        assert stored_wishes(release(rollout=rollout(phase))) == ()


def test_without_a_failure_policy_nothing_is_rolled_back_any_more() -> None:
    assert stored_wishes(release(policy="", rollout=rollout("RolledBack"))) == ()


def test_a_rollback_ends_with_a_fresh_render_that_is_another_one_than_what_failed() -> None:
    rolled_back = release(rollout=rollout("RolledBack"))

    assert not ends_rollback(rolled_back, ref("e"))
    assert ends_rollback(rolled_back, ref("f"))
    assert ends_rollback(rolled_back, ref("b")), "the source went back by itself"
    assert not ends_rollback(release(), ref("f"))


def test_nothing_that_the_release_may_ask_for_is_deleted() -> None:
    needed = needed_renders(
        release(
            pin=ref("a"),
            rollout=rollout("RolledBack"),
            lastAttempted={"renderRef": ref("c")},
            lastSuccessful={"renderRef": ref("d")},
            history=[{"renderRef": ref("0")}, {"renderRef": ref("1")}],
        )
    )

    assert needed == {ref(letter) for letter in "abcde01"}


def test_a_pin_that_cannot_be_followed_names_the_renders_that_could_be() -> None:
    history = [{"renderRef": ref(letter)} for letter in "0a1023456"]

    advice = pin_advice(release(pin=ref("a"), history=history))

    assert advice.startswith(f"remove the pin, or pin a render of the history: {ref('0')}, {ref('1')}, ")
    assert ref("a") not in advice
    assert advice.endswith("and 2 more")


def test_without_a_history_there_is_only_one_thing_to_do() -> None:
    assert pin_advice(release(pin=ref("a"))) == "remove the pin"
