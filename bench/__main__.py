"""`.venv/bin/python -m bench [name]`: every benchmark, or one.

Progress goes to stderr, one line of JSON each to stdout.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import (
    cli,
    diff_500,
    drift_500,
    drift_many,
    failing_1000,
    health_200,
    render_helm,
    render_kustomize,
    sync_500,
    sync_5000,
    trigger_latency,
    unchanged_source,
    wave_latency,
)
from bench.harness import installed, note
from deploy.stack.local import Stack
from deploy.stack.providers import provider

BENCHES = {
    bench.NAME: bench.run
    for bench in (
        trigger_latency,
        sync_500,
        sync_5000,
        drift_500,
        diff_500,
        drift_many,
        failing_1000,
        health_200,
        wave_latency,
        render_kustomize,
        render_helm,
        unchanged_source,
        cli,
    )
}


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for and return the exit code."""
    unknown = [name for name in arguments if name not in BENCHES]
    if unknown:
        print(f"no benchmark {unknown[0]}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    with provider(os.environ).provide(say=note) as stack:
        for name in arguments or BENCHES:
            note(f"running {name}")
            asyncio.run(_run(name, stack))
    return 0


async def _run(name: str, stack: Stack) -> None:
    with tempfile.TemporaryDirectory(prefix="convoy-bench-") as folder:
        async with installed(stack, Path(folder)) as bench:
            try:
                await BENCHES[name](bench)
            except Exception:
                note((bench.folder / "convoy.log").read_text(errors="replace")[-5000:])
                raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
