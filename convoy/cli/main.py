"""The entry of `kubectl-convoy`: the commands, and how any of them ends.

Only this module and what declares flags is imported for `--help`: no Kubernetes client, no models.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

import typer

from convoy.api.errors import ConvoyError
from convoy.cli import clusters, local, release_actions, release_compare, release_views
from convoy.cli.completion import complete_for_kubectl, completion
from convoy.cli.errors import Failure
from convoy.kube.errors import ApiError

USAGE_ERROR = 2
USED_AS = "kubectl convoy"
"""How help and errors speak of it: kubectl does not tell its plugins that it runs them."""

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _group(text: str) -> typer.Typer:
    # No rich markup: plain help pages as kubectl's, at a third of the CPU.
    return typer.Typer(help=text, add_completion=False, rich_markup_mode=None, context_settings=_SETTINGS)


app = _group("See and steer convoy's Releases and Clusters.")
release = _group("See and steer Releases.")
cluster = _group("See Clusters.")

for room in (release_views, release_compare, release_actions):
    room.add_to(release)
clusters.add_to(cluster)
app.add_typer(release, name="release")
app.add_typer(cluster, name="cluster")
local.add_to(app)
app.command()(completion)
app.command("__complete", hidden=True, context_settings={"ignore_unknown_options": True})(
    complete_for_kubectl
)


def main() -> None:
    """Run the command line that this process was started with."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. An error is one line on stderr; a traceback is a bug."""
    from typer.main import get_command

    # kubectl takes `-o=json` too.
    words = [re.sub(r"^(-[a-zA-Z])=", r"\1", word) for word in arguments] or ["--help"]
    try:
        result = get_command(app).main(args=words, prog_name=USED_AS, standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        where = getattr(getattr(error, "ctx", None), "command_path", USED_AS)
        return _fail(f"{error.format_message()} See `{where} --help`.", USAGE_ERROR)
    except Failure as error:
        return _fail(error.message, error.code)
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except (ApiError, ConvoyError) as error:
        return _fail(error.message, 1)
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return code
