"""The entry of `kubectl-convoy`: the commands, and how any of them ends.

Only this module and what declares flags is imported for `--help`: no Kubernetes client, no models.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence

import click

from convoy.api.errors import ConvoyError
from convoy.cli import clusters, local, release_actions, release_compare, release_views
from convoy.cli.completion import answer_shell, complete_for_kubectl, completion
from convoy.cli.errors import Failure
from convoy.cli.output import note, say
from convoy.kube.errors import ApiError

USAGE_ERROR = 2
BUG = 2
"""A traceback is no answer either, and 1 may be one: `diff` says by it that there is a difference."""
READER_GONE = 128 + 13
"""As by SIGPIPE, which is how kubectl ends then: what was said is not all, so it is no answer."""
INTERRUPTED = 128 + 2
USED_AS = "kubectl convoy"
"""How help and errors speak of it: kubectl does not tell its plugins that it runs them."""

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.command()
def version() -> None:
    """Print the version of this command line."""
    from importlib import metadata

    say(metadata.version("convoy-release"))


def _group(name: str, text: str, *commands: click.Command) -> click.Group:
    # Without a command: one line that says so, as for any other mistake.
    group = click.Group(name, help=text, no_args_is_help=False, context_settings=_SETTINGS)
    for command in commands:
        group.add_command(command)
    return group


app = _group(
    "kubectl-convoy",
    "See and steer convoy's Releases and Clusters.",
    _group(
        "release",
        "See and steer Releases.",
        *release_views.COMMANDS,
        *release_compare.COMMANDS,
        *release_actions.COMMANDS,
    ),
    _group("cluster", "See Clusters.", *clusters.COMMANDS),
    *local.COMMANDS,
    completion,
    version,
    complete_for_kubectl,
)


def main() -> None:
    """Run the command line that this process was started with."""
    if not answer_shell(app):
        sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. An error is one line on stderr; a traceback is a bug."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough: the interpreter must not flush once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:  # noqa: BLE001 (the interpreter's own code for it would be 1)
        traceback.print_exc()
        return BUG
    return code


def _run(arguments: Sequence[str]) -> int:
    # kubectl takes `-o=json` too.
    words = [re.sub(r"^(-[a-zA-Z])=", r"\1", word) for word in arguments] or ["--help"]
    try:
        with app.make_context(USED_AS, words) as context:
            result = app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx is not None else USED_AS
        return _fail(f"{error.format_message()} See `{where} --help`.", USAGE_ERROR)
    except Failure as error:
        return _fail(error.message, error.code)
    except (ApiError, ConvoyError) as error:
        return _fail(error.message, 1)
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    note(f"error: {' '.join(message.split())}")
    return code
