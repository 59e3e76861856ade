"""Shell completion: the scripts, the names of Releases and Clusters, and what kubectl asks of a plugin.

kubectl completes `kubectl convoy …` by running an executable `kubectl_complete-convoy`; the hidden command `__complete`
answers in the form that it wants.
"""

from __future__ import annotations

import os
import shlex
from contextlib import redirect_stdout, suppress
from enum import StrEnum
from io import StringIO
from typing import Annotated

import typer

from convoy.cli.errors import Failure
from convoy.cli.output import say
from convoy.cli.session import open_session

PROGRAM = "kubectl-convoy"
_VARIABLE = "_KUBECTL_CONVOY_COMPLETE"
_NO_FILES = ":4"
"""What ends an answer to kubectl: complete nothing else, in particular no file names."""


class Shell(StrEnum):
    """The shells that there is a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="Your shell.")]) -> None:
    """Print the completion script of a shell.

    For example: source <(kubectl-convoy completion bash)
    """
    os.environ[_VARIABLE] = f"source_{shell}"
    _complete()


def complete_for_kubectl(words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Answer kubectl: the last word is the one to complete."""
    *before, last = words or [""]
    line = " ".join([PROGRAM, *map(shlex.quote, before), shlex.quote(last) if last else ""])
    os.environ[_VARIABLE] = "complete_fish"
    os.environ["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    os.environ["_TYPER_COMPLETE_ARGS"] = line
    answer = StringIO()
    with redirect_stdout(answer), suppress(SystemExit):
        _complete()
    for candidate in filter(None, answer.getvalue().splitlines()):
        say(candidate)
    say(_NO_FILES)


def release_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the Releases of the namespace that the line names."""
    return _names(ctx, "Release", incomplete)


def cluster_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the Clusters of the namespace that the line names."""
    return _names(ctx, "Cluster", incomplete)


def _names(ctx: typer.Context, kind: str, incomplete: str) -> list[str]:
    from convoy.kube.errors import ApiError
    from convoy.kube.resources import CLUSTERS, RELEASES

    resource = RELEASES if kind == RELEASES.kind else CLUSTERS
    flags = {name: ctx.params.get(name) for name in ("namespace", "context", "kubeconfig")}
    try:
        with open_session(**flags) as session:
            pages = list(session.api.list(resource, session.namespace))
    except (Failure, ApiError):
        return []  # A shell that waits for words has no use for an error.
    names = [item["metadata"]["name"] for page in pages for item in page.get("items") or ()]
    return [name for name in names if name.startswith(incomplete)]


def _complete() -> None:
    from typer.completion import get_completion_inspect_parameters
    from typer.main import get_command

    from convoy.cli.main import app

    get_completion_inspect_parameters()  # registers the shells
    get_command(app).main(args=[], prog_name=PROGRAM, complete_var=_VARIABLE, standalone_mode=False)
