"""The process that evaluates CEL: it has limits of its own, since an expression may cost any time and memory.

`'aaaaaaaaaa'.replace('a', 'aaaaaaaaaa')` a few times over is gigabytes, and the library holds Python's lock meanwhile.
Whoever goes beyond a limit ends this process, and nothing else.

A request is a line of JSON, `[expression, object]`; so is the answer, `[true or false, ""]` or `[null, "why not"]`.
"""

from __future__ import annotations

import resource
import signal
import sys
from functools import lru_cache
from typing import Any

import msgspec

from convoy.health.cel import sentence, typed

CPU_SECONDS = 0.5
"""For one evaluation; it takes microseconds."""
MEMORY_BYTES = 256 * 1024**2
"""Private memory of the process (RLIMIT_DATA)."""


def main() -> None:
    """Answer requests until there are no more."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    compiled = lru_cache(maxsize=512)(typed)
    for line in sys.stdin.buffer:
        text, live = msgspec.json.decode(line)
        expression = compiled(text)
        # SIGPROF ends the process in the middle of the library too.
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        answer = evaluate(expression, live)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()


def evaluate(expression: Any, live: Any) -> tuple[bool | None, str]:
    """Return whether the expression holds, or why it has no value."""
    from cel_expr_python import cel

    try:
        value = expression.eval(data={"object": live})
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:
        return None, sentence(error)
    if value.type() == cel.Type.ERROR:  # an error is a value of its own
        return None, sentence(value.value())
    if value.type() != cel.Type.BOOL:
        return None, f"its value is of type {value.type().name()} and not a boolean"
    return bool(value.value()), ""
