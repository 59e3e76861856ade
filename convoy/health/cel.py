"""CEL, behind a class of convoy's own: one boolean expression over one live object.

Expressions are compiled here, to find those that are wrong, and evaluated in a process of their own (`cel_child`). The
library is imported where the first one is compiled, since most Releases have none.
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
    """An expression over the variable `object`, found right."""

    def __init__(self, text: str) -> None:
        """Compile; raises `BadExpression`."""
        typed(text)
        self._text = text

    def holds_for(self, live: Manifest) -> bool:
        """Evaluate for a live object, which takes time of the thread; raises `NotEvaluated`."""
        from convoy.health.cel_process import evaluator

        holds, why = evaluator().ask(self._text, live)
        if holds is None:
            raise NotEvaluated(why)
        return holds


@lru_cache(maxsize=512)
def compiled(text: str) -> Expression:
    """Return the expression of a text, compiled once; raises `BadExpression`."""
    return Expression(text)


def typed(text: str) -> Any:
    """Return what the library compiles of a text; raises `BadExpression`."""
    from cel_expr_python import cel

    try:
        expression = _environment().compile(text)
    except RuntimeError as error:
        raise BadExpression(sentence(error)) from None
    kind = expression.return_type()
    if kind not in (cel.Type.BOOL, cel.Type.DYN):
        raise BadExpression(f"its value is of type {kind.name()} and not a boolean")
    return expression


@lru_cache(maxsize=1)
def _environment() -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_optional, ext_strings

    # What people know from CEL in Kubernetes: `object.?status.phase.orValue('')`, `text.lowerAscii()`.
    extensions = [ext_optional.ExtOptional(), ext_strings.ExtStrings()]
    return cel.NewEnv(variables={"object": cel.Type.DYN}, extensions=extensions)


def sentence(error: object) -> str:
    """Return the sentence of an error: the library adds the expression, an arrow, and its code, twice."""
    line = next(iter(str(error).splitlines()), "")
    code, _, rest = line.partition(": ")
    told = (rest if code.isupper() else line).removeprefix("ERROR: <input>:")
    return told.partition(" [")[0][:300] or type(error).__name__
