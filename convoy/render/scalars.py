"""The meaning of a plain YAML scalar, as kubectl has it: YAML 1.1 booleans, octals, no base 60, no dates.

After the resolver of go-yaml v2 behind `sigs.k8s.io/yaml`; a test compares each rule with kubectl itself.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any, Final

_INF: Final = float("inf")
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), _INF),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -_INF),
}
_MAYBE_NUMBER: Final = frozenset("+-.0123456789")
_INTEGER: Final = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INT64: Final = 2**63
_UINT64: Final = 2**64
_LONGEST_INTEGER: Final = 72


def plain_scalar(text: str) -> Any:
    """Return what an unquoted scalar means: None, a boolean, an int, a float or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _MAYBE_NUMBER:
        return text
    # Underscores are dropped, except in numbers that begin with a point.
    digits = text if text[0] == "." else text.replace("_", "")
    integer = _integer(digits)
    if integer is not None:
        return integer
    if not _FLOAT.fullmatch(digits):
        return text
    number = float(digits)
    return text if abs(number) == _INF else number


def json_number(number: int | float) -> int | float:
    """Return the number as Go's JSON hands it on: integers have 64 bits, 1.0 is 1, the rest is a float."""
    if -_INT64 <= number < _INT64:
        return int(number) if isinstance(number, int) or number.is_integer() else number
    return float(number)


def key_text(value: Any) -> str | None:
    """Return the text that a scalar becomes as the key of a mapping; None if it cannot be one."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value < _INT64 else None
    return _float_text(value) if isinstance(value, float) else None


def _integer(digits: str) -> int | None:
    match = _INTEGER.fullmatch(digits)
    if match is None or len(digits) > _LONGEST_INTEGER:
        return None
    sign, hexadecimal, binary, octal, decimal = match.groups()
    if hexadecimal is not None:
        value = int(hexadecimal, 16)
    elif binary is not None:
        value = int(binary, 2)
    elif octal is not None:
        value = int(octal, 8)
    else:
        value = int(decimal)
    if sign == "-":
        return -value if value <= _INT64 else None
    return value if value < (_INT64 if sign else _UINT64) else None


def _float_text(number: float) -> str:
    """Write a float as go-yaml does for keys: the shortest decimal of the same 32-bit float, in %g style."""
    if number != number:
        return ".nan"
    single = ctypes.c_float(number).value
    if abs(single) == _INF:
        return ".inf" if single > 0 else "-.inf"
    for precision in range(9):
        text = f"{single:.{precision}e}"
        if ctypes.c_float(float(text)).value == single:
            break
    exponent = int(text.partition("e")[2])
    return text if exponent < -4 or exponent >= 6 else f"{float(text):.{max(precision - exponent, 0)}f}"
