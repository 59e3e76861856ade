"""JSON as it goes over the wire, and JSON in the one form that is hashed.

An apply body is parsed as YAML by the API server even when it is JSON. Hence the hazards that this module
answers: surrogate pairs (`\\ud83d\\ude00`) are refused, a raw U+0085 silently becomes a space (in the dry
run too, so that drift cannot see it), and raw U+007F, C1 controls, U+FFFE and U+FFFF are refused.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from typing import Any, Final

import msgspec

_encoder = msgspec.json.Encoder()
_canonical = msgspec.json.Encoder(order="sorted")

# UTF-8 of U+007F–U+009F, U+FFFE and U+FFFF. Outside string literals JSON is ASCII, so each match is inside
# one.
_HAZARDS = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xef\xbf[\xbe\xbf]")

_DEEPEST: Final = 500
"""Levels of what `decode_cut` keeps. The API server stores ten thousand, Python's stack takes a thousand."""
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_CUT: Final = secrets.token_hex(16)
"""Stands for what was cut: nobody can write it into an object."""


def _escape(match: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(match.group().decode("utf-8"))


def apply_body(manifest: Mapping[str, Any]) -> bytes:
    """Encode an object for server-side apply, in a form that survives the server's YAML parser (D11).

    Raises:
        ValueError: a text holds a lone surrogate, or a number is not finite; JSON has no form for either.
    """
    body = encode(manifest)
    if body.isascii() and b"\x7f" not in body:
        return body  # almost every object, and much faster than the search
    return _HAZARDS.sub(_escape, body)


def encode(tree: object) -> bytes:
    """Encode a tree as compact JSON in raw UTF-8.

    Raises:
        ValueError: a text holds a lone surrogate; JSON in UTF-8 has no form for it.
    """
    return _encoder.encode(tree)


def canonical(tree: object) -> bytes:
    """Encode a tree so that equal trees give equal bytes: sorted keys, no insignificant space.

    Raises:
        ValueError: as `encode`.
    """
    return _canonical.encode(tree)


def decode(body: bytes) -> Any:
    """Decode JSON.

    Raises:
        msgspec.DecodeError: the body is no JSON.
        RecursionError: it is nested more deeply than Python takes; see `decode_cut`.
    """
    return msgspec.json.decode(body)


def decode_cut(body: bytes) -> Any:
    """Decode JSON that is nested too deeply, without what lies below; `is_cut` tells which parts are not whole.

    Raises:
        msgspec.DecodeError: the body is no JSON.
    """
    parts: list[bytes] = []
    depth = kept = 0
    for match in _BRACKETS.finditer(body):
        bracket = match.group()
        if bracket in (b"{", b"["):
            depth += 1
            if depth == _DEEPEST + 1:
                parts += body[kept : match.start()], b'"', _CUT.encode(), b'"'
        elif bracket in (b"}", b"]"):
            if depth == _DEEPEST + 1:
                kept = match.end()
            depth -= 1
    parts.append(body[kept:] if depth <= _DEEPEST else b"")
    return msgspec.json.decode(b"".join(parts))


def is_cut(tree: object) -> bool:
    """Return whether `decode_cut` left a part of a tree out."""
    return _CUT.encode() in encode(tree)
