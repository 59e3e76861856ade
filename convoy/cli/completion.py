"""Shell completion: the scripts, the names of Releases and Clusters, and what kubectl asks of a plugin.

kubectl completes `kubectl convoy …` by running an executable `kubectl_complete-convoy`; the hidden command `__complete`
answers in the form that it wants.
"""

from __future__ import annotations

import os
from enum import StrEnum

import click

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


@click.command()
@click.argument("shell", type=click.Choice([each.value for each in Shell]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    For example: source <(kubectl-convoy completion bash)
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    say(found(context.find_root().command, {}, PROGRAM, _VARIABLE).source())


@click.command("__complete", hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def complete_for_kubectl(context: click.Context, words: tuple[str, ...]) -> None:
    """Answer kubectl: the last word is the one to complete."""
    from click.shell_completion import ShellComplete

    *before, last = words or ("",)
    shell = ShellComplete(context.find_root().command, {}, PROGRAM, _VARIABLE)
    for candidate in shell.get_completions(before, last):
        say(f"{candidate.value}\t{candidate.help}" if candidate.help else candidate.value)
    say(_NO_FILES)


def answer_shell(command: click.Command) -> bool:
    """Answer a completion script that asks through its variable; False if none does."""
    asked = os.environ.get(_VARIABLE)
    if not asked:
        return False
    from click.shell_completion import shell_complete

    shell_complete(command, {}, PROGRAM, _VARIABLE, asked)
    return True


def release_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the Releases of the namespace that the line names."""
    return _names(context, "Release", incomplete)


def cluster_names(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Return the Clusters of the namespace that the line names."""
    return _names(context, "Cluster", incomplete)


def _names(context: click.Context, kind: str, incomplete: str) -> list[str]:
    from convoy.kube.errors import ApiError
    from convoy.kube.resources import CLUSTERS, RELEASES

    resource = RELEASES if kind == RELEASES.kind else CLUSTERS
    flags = {name: context.params.get(name) for name in ("namespace", "context", "kubeconfig")}
    try:
        with open_session(**flags) as session:
            pages = list(session.api.list(resource, session.namespace))
    except (Failure, ApiError):
        return []  # A shell that waits for words has no use for an error.
    names = [item["metadata"]["name"] for page in pages for item in page.get("items") or ()]
    return [name for name in names if name.startswith(incomplete)]
