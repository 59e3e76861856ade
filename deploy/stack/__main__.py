"""`.venv/bin/python -m deploy.stack up|down|status [FOLDER]`: a stack that outlives the command."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deploy.stack import local, state
from deploy.stack.processes import ServerFailed

DEFAULT_FOLDER = Path(".state/stack")
_TOOLS = ("kubectl", "helm", "kustomize", "temporal")
"""What people and a worker from the checkout call beside the servers: `up` puts them on the PATH."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code."""
    parser = argparse.ArgumentParser(prog=".venv/bin/python -m deploy.stack", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("up", "start the servers, or find them running; print what to export"),
        ("down", "stop the servers and remove their state"),
        ("status", "tell which servers run; exit code 1 when one does not"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER, help="the state folder")
    options = parser.parse_args(arguments)
    folder: Path = options.folder.resolve()
    try:
        return {"up": _up, "down": _down, "status": _status}[options.command](folder)
    except (state.StackError, ServerFailed) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _up(folder: Path) -> int:
    stack = local.find(folder) or local.start_detached(folder, say=_progress)
    for name in _TOOLS:
        stack.tool(name, _progress)
    print("export CONVOY_STACK=existing")
    print(f"export KUBECONFIG={stack.kubeconfig}")
    print(f"export TEMPORAL_ADDRESS={stack.temporal_address}")
    print(f"export CONVOY_TEMPORAL_UI={stack.temporal_ui}")
    print(f'export PATH="{stack.tools}:$PATH"')
    return 0


def _down(folder: Path) -> int:
    print(f"stopped {state.clear(folder)} servers")
    return 0


def _status(folder: Path) -> int:
    found = state.read(folder)
    if found is None:
        print(f"no stack in {folder}")
        return 1
    for server in found.servers:
        print(f"{'running' if server.is_running() else 'ended':8} {server.pid:8} {server.name}")
    return 0 if found.is_running() else 1


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
