"""What ends a command: one line on stderr and an exit code, never a traceback."""

from __future__ import annotations


class Failure(Exception):
    """A command could not do what it was asked. The message names what is at fault and what to do."""

    def __init__(self, message: str, *, code: int = 1) -> None:
        super().__init__(message)
        self.message = " ".join(message.split())
        self.code = code
