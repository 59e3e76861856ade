"""The files of a render as a case writes them: a text, or a text that is repeated and padded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from tests.e2e.runner.strict import Strict

INLINE_LIMIT: Final = 512 * 1024
"""Bytes of files above which a Release gets them from git: it must itself fit into etcd."""


class Repeated(Strict):
    """A large input made from a small one."""

    text: str
    repeat: int = Field(default=1, ge=0)
    pad: int = Field(default=0, ge=0)

    def expand(self) -> str:
        """Return the content: `$SEQ` counts the repetitions, `$PAD` is `pad` times the letter x."""
        text = self.text.replace("$PAD", "x" * self.pad)
        if text and not text.endswith("\n"):
            text += "\n"
        return "---\n".join(text.replace("$SEQ", f"{number:04}") for number in range(1, self.repeat + 1))


File = str | Repeated


def expand(files: Mapping[str, File]) -> dict[str, str]:
    """Return the content of each file."""
    return {name: file if isinstance(file, str) else file.expand() for name, file in files.items()}


def is_large(files: Mapping[str, str]) -> bool:
    """Tell whether the files together are too large for a Release."""
    return sum(len(content.encode()) for content in files.values()) > INLINE_LIMIT
