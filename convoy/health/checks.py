"""`spec.healthChecks`: a Release's own rules for kinds, in CEL. They beat the built-in and the generic rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from convoy.api.errors import Unsupported
from convoy.api.objects import Manifest, ObjectKey
from convoy.api.release import HealthCheck
from convoy.health.builtin import Kind
from convoy.health.cel import BadExpression, Expression, NotEvaluated, compiled
from convoy.health.phase import ObjectHealth, degraded, healthy, progressing

_SECRET: Kind = ("", "Secret")


@dataclass(frozen=True, slots=True)
class Check:
    """One kind's rule."""

    healthy: Expression
    failed: Expression | None
    quotes_values: bool = True
    """False for Secrets: why an expression has no value may quote one."""

    def judge(self, live: Manifest) -> ObjectHealth:
        """Judge a live object. An expression without a value, such as for a status not written yet, does not hold."""
        faults: list[str] = []
        if self.failed is not None and self._holds("failed", self.failed, live, faults):
            return degraded("its health check says that it failed")
        if self._holds("healthy", self.healthy, live, faults):
            return healthy()
        return progressing("; ".join(["its health check does not hold yet", *faults]))

    def _holds(self, name: str, expression: Expression, live: Manifest, faults: list[str]) -> bool:
        try:
            return expression.holds_for(live)
        except NotEvaluated as error:
            faults.append(f"{name}: {error}" if self.quotes_values else f"{name} has no value")
            return False


@dataclass(frozen=True, slots=True)
class HealthChecks:
    """The checks of one Release by kind."""

    by_kind: Mapping[Kind, Check]

    def of(self, key: ObjectKey) -> Check | None:
        """Return the check of an object's kind."""
        return self.by_kind.get((key.group, key.kind))


def health_checks(checks: Iterable[HealthCheck]) -> HealthChecks:
    """Compile `spec.healthChecks`; of two for one kind the first counts.

    Raises:
        Unsupported: an expression is wrong; the message names its field and what is wrong.
    """
    by_kind: dict[Kind, Check] = {}
    for index, check in enumerate(checks):
        kind = (check.group, check.kind)
        field = f"spec.healthChecks[{index}]"
        rule = Check(
            healthy=_compiled(f"{field}.healthy", check.healthy),
            failed=_compiled(f"{field}.failed", check.failed) if check.failed is not None else None,
            quotes_values=kind != _SECRET,
        )
        by_kind.setdefault(kind, rule)
    return HealthChecks(by_kind)


def _compiled(field: str, text: str) -> Expression:
    try:
        return compiled(text)
    except BadExpression as error:
        raise Unsupported(f"{field} is no CEL expression over `object`: {error}") from error
