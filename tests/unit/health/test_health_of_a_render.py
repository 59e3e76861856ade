"""From objects to waves and to the render: the inventory's status and the message of Healthy."""

from __future__ import annotations

from convoy.api.objects import Manifest, key_of
from convoy.api.release import HealthCheck
from convoy.api.rendered import Render, RenderedObject
from convoy.health.assessment import OBJECTS_LISTED, OBJECTS_NAMED, Assessment, RenderHealth
from convoy.health.checks import health_checks
from convoy.health.judge import needs_reading
from convoy.health.phase import ObjectHealth, Phase


def item(kind: str, name: str, wave: int = 0, *, api_version: str = "v1", **spec: object) -> RenderedObject:
    metadata = {"name": name, "namespace": "here"}
    manifest: Manifest = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}
    return RenderedObject(key_of(manifest), api_version, wave, manifest)


def pod(name: str, phase: str) -> Manifest:
    return {"metadata": {"name": name}, "status": {"phase": phase}}


POD, JOB, MAP = item("Pod", "a"), item("Pod", "b", 1), item("ConfigMap", "c", 1)
RENDER = Render("sha256:1", "main@1", (POD, JOB, MAP))


async def test_a_render_is_as_its_worst_object() -> None:
    found = Assessment(RENDER)
    await found.see(POD.key, pod("a", "Succeeded"))
    assert found.health().phase is Phase.HEALTHY
    found.note(JOB.key, ObjectHealth(Phase.UNKNOWN, "cannot be read"))
    assert found.health().phase is Phase.UNKNOWN
    await found.see(JOB.key, pod("b", "Pending"))
    assert found.health().phase is Phase.PROGRESSING
    await found.see(POD.key, pod("a", "Failed"))
    health = found.health()
    assert health.phase is Phase.DEGRADED
    assert health.tree() == {
        "renderRef": "sha256:1",
        "phase": "Degraded",
        "waves": [{"wave": 0, "phase": "Degraded"}, {"wave": 1, "phase": "Progressing"}],
        "unhealthy": [
            {"ref": "Pod here/a", "phase": "Degraded", "message": "has failed"},
            {"ref": "Pod here/b", "phase": "Progressing", "message": "is not ready"},
        ],
    }
    assert health.message == "2 of 3 objects not healthy: Pod here/a: has failed; Pod here/b: is not ready"


async def test_a_wave_that_is_not_applied_yet_is_unknown_and_keeps_the_render_progressing() -> None:
    found = Assessment(RENDER, applied=1)
    await found.see(POD.key, pod("a", "Succeeded"))
    health = found.health()
    assert [wave["phase"] for wave in health.tree()["waves"]] == ["Healthy", "Unknown"]
    assert (health.phase, health.message) == (Phase.PROGRESSING, "1 object healthy; not applied yet: wave 1")
    assert found.to_read() == [POD]


def test_a_render_that_nobody_can_look_at_is_unknown_and_says_why() -> None:
    health = RenderHealth("sha256:1", (), unknown="no route to the cluster")
    assert (health.phase, health.message) == (Phase.UNKNOWN, "no route to the cluster")
    assert health.tree() == {"renderRef": "sha256:1", "phase": "Unknown", "waves": [], "unhealthy": []}


async def test_one_wave_is_judged_alone() -> None:
    found = Assessment(RENDER)
    await found.see(POD.key, pod("a", "Failed"))
    assert (found.wave(0).phase, found.wave(1).phase) == (Phase.DEGRADED, Phase.HEALTHY)


async def test_a_note_of_a_healthy_object_is_told() -> None:
    found = Assessment(Render("r", "main", (POD,)))
    await found.see(POD.key, pod("a", "Succeeded"))
    assert found.health().message == "1 object healthy (Pod here/a: has completed)"


async def test_the_lists_are_bounded_and_say_how_much_is_left_out() -> None:
    pods = tuple(item("Pod", f"p{number}") for number in range(200))
    found = Assessment(Render("r", "main", pods))
    for each in pods:
        await found.see(each.key, {"metadata": {}, "status": {"phase": "Failed", "message": "x" * 5000}})
    health = found.health()
    assert len(health.tree()["unhealthy"]) == OBJECTS_LISTED
    assert health.message.endswith(f"; and {200 - OBJECTS_NAMED} more")
    assert len(health.message) < 5000


def test_only_what_can_be_unhealthy_is_read() -> None:
    plain = item("Service", "s", type="ClusterIP")
    balanced = item("Service", "l", type="LoadBalancer")
    role = item("Role", "r", api_version="rbac.authorization.k8s.io/v1")
    box = item("Box", "x", api_version="example.org/v1")
    assert [each for each in (plain, balanced, role, box, MAP) if needs_reading(each)] == [balanced, box]
    checks = health_checks([HealthCheck(kind="ConfigMap", healthy="true")])
    assert needs_reading(MAP, checks)
