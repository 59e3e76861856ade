"""CEL, behind a class of convoy's own: one boolean expression over one live object.

The library evaluates in microseconds and bounds itself: a comprehension may take so many steps in all, and regular
expressions are RE2's. It is imported where the first expression is compiled, since most Releases have none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from convoy.api.objects import Manifest


class BadExpression(Exception):
    """The text is no boolean expression; the message says where and why."""


class NotEvaluated(Exception):
    """The expression has no value for this object, such as for a field that it lacks.

    The message may quote values of the object: it is not for objects with Secret values.
    """


class Expression:
    """A compiled expression over the variable `object`."""

    def __init__(self, text: str) -> None:
        """Compile; raises `BadExpression`."""
        from cel_expr_python import cel

        try:
            self._compiled = _environment().compile(text)
        except RuntimeError as error:
            raise BadExpression(_sentence(error)) from None
        kind = self._compiled.return_type()
        if kind not in (cel.Type.BOOL, cel.Type.DYN):
            raise BadExpression(f"its value is of type {kind.name()} and not a boolean")

    def holds_for(self, live: Manifest) -> bool:
        """Evaluate for a live object; raises `NotEvaluated`."""
        from cel_expr_python import cel

        try:
            value = self._compiled.eval(data={"object": live})
        except (RuntimeError, TypeError, ValueError, OverflowError) as error:
            raise NotEvaluated(_sentence(error)) from None
        if value.type() == cel.Type.ERROR:  # an error is a value of its own
            raise NotEvaluated(_sentence(value.value()))
        if value.type() != cel.Type.BOOL:
            raise NotEvaluated(f"its value is of type {value.type().name()} and not a boolean")
        return bool(value.value())


@lru_cache(maxsize=512)
def compiled(text: str) -> Expression:
    """Return the expression of a text, compiled once; raises `BadExpression`."""
    return Expression(text)


@lru_cache(maxsize=1)
def _environment() -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional, ext_strings

    # What people know from CEL in Kubernetes: `object.?status.phase.orValue('')`, `text.lowerAscii()`.
    extensions = [ext_optional.ExtOptional(), ext_strings.ExtStrings()]
    return cel.NewEnv(variables={"object": cel.Type.DYN}, extensions=extensions)


def _sentence(error: object) -> str:
    """Return the sentence of an error: the library adds the expression, an arrow, and its code, twice."""
    line = next(iter(str(error).splitlines()), "")
    code, _, rest = line.partition(": ")
    sentence = (rest if code.isupper() else line).removeprefix("ERROR: <input>:")
    return sentence.partition(" [")[0][:300] or type(error).__name__
