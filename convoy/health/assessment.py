"""From the health of objects to that of waves and of a render: what the inventory and the condition say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from convoy.api.conditions import cut_message
from convoy.api.objects import Manifest, ObjectKey, counted
from convoy.api.rendered import Render, RenderedObject
from convoy.health.cel_process import beside_the_loop
from convoy.health.checks import HealthChecks
from convoy.health.judge import NO_CHECKS, judge, needs_reading
from convoy.health.phase import ObjectHealth, Phase, healthy, worst

OBJECTS_NAMED: Final = 10
"""Objects in a message."""
OBJECTS_LISTED: Final = 50
"""Objects in the inventory's status, which must not grow with a render of thousands."""
_MESSAGE: Final = 300
"""Characters of one object's message: a controller may write anything into a condition."""


@dataclass(frozen=True, slots=True)
class ObjectFound:
    """An object and what the rules say about it."""

    key: ObjectKey
    health: ObjectHealth

    def __str__(self) -> str:
        message = self.health.message[:_MESSAGE]
        return f"{self.key}: {message}" if message else f"{self.key} is {self.health.phase}"


@dataclass(frozen=True, slots=True)
class WaveFound:
    """A wave's objects, as far as anything is to be said of them."""

    wave: int
    objects: int
    unhealthy: tuple[ObjectFound, ...]
    notes: tuple[ObjectFound, ...] = ()
    applied: bool = True

    @property
    def phase(self) -> Phase:
        """The wave's phase: Unknown before it is applied."""
        if not self.applied:
            return Phase.UNKNOWN
        return worst(found.health.phase for found in self.unhealthy)


@dataclass(frozen=True, slots=True)
class RenderHealth:
    """The health of a render, or of its first waves while a sync waits between two of them."""

    render_ref: str
    waves: tuple[WaveFound, ...]
    unknown: str = ""
    """Why nothing of it is known; then there are no waves."""

    @property
    def unhealthy(self) -> tuple[ObjectFound, ...]:
        """The objects that are not healthy, in apply order."""
        return tuple(found for wave in self.waves for found in wave.unhealthy)

    @property
    def phase(self) -> Phase:
        """The phase of the whole: a render whose last waves are not applied yet is Progressing at best."""
        if self.unknown:
            return Phase.UNKNOWN
        phase = worst(wave.phase for wave in self.waves if wave.applied)
        complete = all(wave.applied for wave in self.waves)
        return phase if complete or phase is not Phase.HEALTHY else Phase.PROGRESSING

    @property
    def message(self) -> str:
        """Why, for people: the same text for the same findings."""
        if self.unknown:
            return cut_message(self.unknown)
        applied = [wave for wave in self.waves if wave.applied]
        total = counted(sum(wave.objects for wave in applied), "object")
        if self.unhealthy:
            return cut_message(f"{len(self.unhealthy)} of {total} not healthy: {_named(self.unhealthy)}")
        waiting = [str(wave.wave) for wave in self.waves if not wave.applied]
        if waiting:
            return f"{total} healthy; not applied yet: wave {', '.join(waiting)}"
        notes = _named(tuple(note for wave in applied for note in wave.notes))
        return f"{total} healthy" + (f" ({notes})" if notes else "")

    def tree(self) -> dict[str, Any]:
        """Return it as `status.health` of the inventory holds it."""
        return {
            "renderRef": self.render_ref,
            "phase": self.phase.value,
            "waves": [{"wave": wave.wave, "phase": wave.phase.value} for wave in self.waves],
            "unhealthy": [
                {
                    "ref": str(found.key),
                    "phase": found.health.phase.value,
                    "message": found.health.message[:_MESSAGE],
                }
                for found in self.unhealthy[:OBJECTS_LISTED]
            ],
        }


class Assessment:
    """What is known so far about the health of a render's objects. Somebody else reads them."""

    def __init__(
        self,
        render: Render,
        *,
        checks: HealthChecks = NO_CHECKS,
        late_classes: frozenset[str] = frozenset(),
        applied: int | None = None,
    ) -> None:
        """`applied`: how many waves are; None: all."""
        self._ref = render.ref
        self._checks = checks
        self._late_classes = late_classes
        self._waves = render.waves()
        self._applied = len(self._waves) if applied is None else applied
        self._found: dict[ObjectKey, ObjectHealth] = {}

    def to_read(self, wave: int | None = None) -> list[RenderedObject]:
        """Return the applied objects that must be read to know anything: of all waves, or of one by its index."""
        chosen = self._waves[: self._applied] if wave is None else [self._waves[wave]]
        return [item for _, items in chosen for item in items if needs_reading(item, self._checks)]

    def to_see(self) -> list[RenderedObject]:
        """Return the objects that must be read and that nobody has seen yet."""
        return [item for item in self.to_read() if item.key not in self._found]

    async def see(self, key: ObjectKey, live: Manifest | None) -> None:
        """Judge a live object; None: it does not exist."""

        def judged() -> ObjectHealth:
            return judge(key, live, checks=self._checks, late_classes=self._late_classes)

        self._found[key] = judged() if self._checks.of(key) is None else await beside_the_loop(judged)

    def note(self, key: ObjectKey, health: ObjectHealth) -> None:
        """Take what somebody else found about an object, such as that it cannot be read."""
        self._found[key] = health

    def unhealthy_keys(self) -> set[ObjectKey]:
        """Return the objects seen so far that are not healthy."""
        return {key for key, health in self._found.items() if not health.healthy}

    def health(self) -> RenderHealth:
        """Return the health of the render; what nobody has seen is healthy by its kind."""
        return RenderHealth(self._ref, tuple(self._of_waves()))

    def wave(self, index: int) -> RenderHealth:
        """Return the health of one wave alone."""
        return RenderHealth(self._ref, (list(self._of_waves())[index],))

    def _of_waves(self) -> Iterator[WaveFound]:
        for index, (number, items) in enumerate(self._waves):
            applied = index < self._applied
            found = [ObjectFound(item.key, self._found.get(item.key, healthy())) for item in items if applied]
            yield WaveFound(
                wave=number,
                objects=len(items),
                unhealthy=tuple(each for each in found if not each.health.healthy),
                notes=tuple(each for each in found if each.health.healthy and each.health.message),
                applied=applied,
            )


def has_claims(items: Sequence[RenderedObject]) -> bool:
    """Return whether the storage classes matter."""
    return any((item.key.group, item.key.kind) == ("", "PersistentVolumeClaim") for item in items)


def late_classes(classes: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of the storage classes that bind a claim with its first Pod."""
    return frozenset(
        each["metadata"]["name"]
        for each in classes
        if each.get("volumeBindingMode") == "WaitForFirstConsumer"
    )


def _named(found: tuple[ObjectFound, ...]) -> str:
    named = [str(each) for each in found[:OBJECTS_NAMED]]
    more = [f"and {len(found) - OBJECTS_NAMED} more"] if len(found) > OBJECTS_NAMED else []
    return "; ".join([*named, *more])
