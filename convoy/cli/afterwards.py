"""`-o` of commands that change a Release: the Release as it is afterwards.

One decorator for all of them. What a command tells a person on its way, the progress of a wait too, goes to stderr
then, so that stdout holds the Release and nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from functools import wraps
from typing import Any

import click

from convoy.cli.arguments import OneOf
from convoy.cli.output import ObjectFormat, print_object
from convoy.cli.session import Session, connected
from convoy.kube.resources import RELEASES


def changes_release(command: Callable[..., None]) -> Callable[..., int | None]:
    """Connect a command, and give it `-o`."""

    @click.option("--output", "-o", type=OneOf(ObjectFormat), help="Print the Release as it is afterwards.")
    @connected
    @wraps(command)
    def run(session: Session, name: str, output: ObjectFormat | None, **values: Any) -> None:
        with redirect_stdout(sys.stderr) if output is not None else nullcontext():
            command(session, name, **values)
        if output is not None:
            print_object(session.api.get(RELEASES, session.namespace, name), output)

    return run
