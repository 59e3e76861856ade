"""What ends a command: one line on stderr and an exit code, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from convoy.api.errors import ConvoyError
from convoy.kube.errors import ApiError


class Failure(Exception):
    """A command could not do what it was asked. The message names what is at fault and what to do."""

    def __init__(self, message: str, *, code: int = 1) -> None:
        super().__init__(message)
        self.message = " ".join(message.split())
        self.code = code


@contextmanager
def errors_end_with(code: int) -> Iterator[None]:
    """Give the errors of a command, those of its connection too, a code that is none of its answers.

    A decorator, so that it stands around `@connected`.
    """
    try:
        yield
    except (ApiError, ConvoyError, Failure) as error:
        raise Failure(error.message, code=code) from None
