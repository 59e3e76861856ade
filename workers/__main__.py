"""`convoy COMMAND [--flag value …]`: the processes. From a checkout: `.venv/bin/python -m workers COMMAND`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import uvloop
import yaml
from pydantic import ValidationError

from convoy.api.crd import generate_crds
from convoy.api.errors import ConvoyError
from convoy.kube.errors import ApiError
from convoy.settings import Settings
from workers.logs import set_up_logs
from workers.processes import run_all, run_apiserver, run_process, run_watcher, run_worker

USAGE = """\
convoy: a Kubernetes release orchestrator whose every sync is a durable Temporal workflow

usage: convoy COMMAND [--flag value …]      (convoy COMMAND --help lists the flags)

  run        worker, watcher and apiserver in one process, for small installations
  worker     run the workflows and their activities
  watcher    turn Kubernetes events into signals; one of several leads
  apiserver  serve the subresources of Releases behind kube-apiserver
  up         run everything on a local stack, with an example applied [--once]
  crds       print the CustomResourceDefinitions
"""

PROCESSES = {"run": run_all, "worker": run_worker, "watcher": run_watcher, "apiserver": run_apiserver}


def main(argv: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    command, flags = (argv[0], list(argv[1:])) if argv else ("", [])
    if command == "crds":
        sys.stdout.write(yaml.safe_dump_all(generate_crds(), sort_keys=False))
        return 0
    if command == "up":
        from workers.up import up

        return up(flags)
    process = PROCESSES.get(command)
    if process is None:
        print(USAGE, end="", file=sys.stdout if command in ("--help", "-h", "help") else sys.stderr)
        return 0 if command in ("--help", "-h", "help") else 2
    try:
        settings = Settings(_cli_parse_args=flags, _cli_prog_name=f"convoy {command}")
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            field = "-".join(str(part) for part in fault["loc"]).replace("_", "-")
            print(f"convoy {command}: --{field}: {fault['msg']}", file=sys.stderr)
        return 2
    set_up_logs(settings)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(run_process(command, process, settings))
    except (RuntimeError, ConvoyError, ApiError) as error:
        print(f"convoy {command}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
