"""Cutting Secret values out of what an API server says about a Secret.

The server prints the value that it could not use (`expected string, got &{…}`, `Invalid value: "…"`), and an
admission policy may print anything. So a message is cut where a value may begin; what stays names the field,
the policy or the user.
"""

from __future__ import annotations

import re

from convoy.kube.errors import Cause

MESSAGE_LIMIT = 4096
"""Characters of a server's message that are kept: `got …` may print a whole object."""
CAUSE_LIMIT = 1024
"""Characters of one cause that are kept."""

_HIDDEN = "(the value is not shown)"

# What follows one of these may hold a value. The text before it names the field or the policy.
_BEFORE_VALUE = re.compile(
    r"\b(?:got|Invalid value|Unsupported value|Duplicate value|parsing|unmarshal \w+"
    r"|denied (?:the )?request)\b"
)


def scrub(message: str, causes: tuple[Cause, ...] = ()) -> str:
    """Cut a message about a Secret where a value may begin; what its (scrubbed) causes name is kept."""
    head, invalid, _ = message.partition(" is invalid: ")
    if invalid and causes:
        return head + invalid + "; ".join(str(cause) for cause in causes)
    match = _BEFORE_VALUE.search(message)
    if match is None:
        return message
    return f"{message[: match.end()]} {_HIDDEN}"


def scrub_cause(cause: Cause) -> Cause:
    """Keep the field and the type of a cause about a Secret, and of its message what names no value."""
    return Cause(cause.field, cause.type, scrub(cause.message))


def shorten(message: str, limit: int = MESSAGE_LIMIT) -> str:
    """Cut the middle of a message that is too long, saying how much was cut.

    Not its end: the server prints a whole pod template before it says "field is immutable" (D10).
    """
    if len(message) <= limit:
        return message
    head, tail = limit - limit // 4, limit // 4
    return f"{message[:head]}… ({len(message) - limit} more characters) …{message[-tail:]}"
