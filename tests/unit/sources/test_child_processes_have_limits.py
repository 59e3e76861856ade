"""D5: time, output, memory and file size of every child process; nothing of the worker's environment."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from convoy.sources.process import ChildFailed, ProcessLimits, run

ENV = {"PATH": os.environ["PATH"]}


def runs(pid: str) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


async def python(code: str, folder: Path, limits: ProcessLimits | None = None) -> tuple[int, bytes, str]:
    done = await run([sys.executable, "-c", code], cwd=folder, env=ENV, limits=limits)
    return done.code, done.output, done.errors


def limited(what: str, value: int) -> str:
    """Return code that waits for its limit: it is set from outside, a moment after the child has begun."""
    return (
        "import resource, time\n"
        f"while resource.getrlimit(resource.RLIMIT_{what})[0] != {value}: time.sleep(0.01)\n"
    )


async def test_output_errors_and_code_are_returned(tmp_path: Path) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"

    assert await python(code, tmp_path) == (3, b"out\n", "err\n")


async def test_nothing_of_the_environment_and_no_input_reaches_it(tmp_path: Path) -> None:
    code = (
        "import os, sys; print(sorted(set(os.environ) - {'LC_CTYPE'}), repr(sys.stdin.read()), os.getcwd())"
    )

    assert await python(code, tmp_path) == (0, f"['PATH'] '' {tmp_path}\n".encode(), "")


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match="nosuch cannot be started: No such file"):
        await run(["/usr/nosuch"], cwd=tmp_path, env=ENV)


async def test_time_is_limited_and_grandchildren_go_too(tmp_path: Path) -> None:
    code = "import subprocess, sys, time\n" + (
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('pid', 'w').write(str(child.pid)); time.sleep(60)"
    )
    with pytest.raises(ChildFailed, match="did not finish within 1 s"):
        await python(code, tmp_path, ProcessLimits(seconds=1))

    assert not runs((tmp_path / "pid").read_text())


async def test_output_is_limited(tmp_path: Path) -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 100000)"

    with pytest.raises(ChildFailed, match="wrote more than 1000000 bytes"):
        await python(code, tmp_path, ProcessLimits(output_bytes=1_000_000))


async def test_what_nobody_reads_any_more_does_not_hold_up_the_end(tmp_path: Path) -> None:
    code = (
        "import fcntl, os\n"
        "fcntl.fcntl(1, fcntl.F_SETPIPE_SZ, 2**20)\n"  # more than a reader takes at once
        "while True: os.write(1, b'x' * 2**20)"
    )
    with pytest.raises(ChildFailed, match="wrote more than 100000 bytes"):
        async with asyncio.timeout(30):
            await python(code, tmp_path, ProcessLimits(output_bytes=100_000))


async def test_a_grandchild_that_keeps_the_pipes_does_not_hold_up_the_end(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
        "open('pid', 'w').write(str(child.pid))"
    )
    with pytest.raises(ChildFailed, match="did not finish within 1 s"):
        async with asyncio.timeout(30):
            await python(code, tmp_path, ProcessLimits(seconds=1))
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


async def test_endless_errors_are_cut(tmp_path: Path) -> None:
    code, _, errors = await python("import sys; sys.stderr.write('x' * 10**7)", tmp_path)

    assert code == 0
    assert len(errors) == 16 * 1024


async def test_memory_is_limited(tmp_path: Path) -> None:
    code = limited("DATA", 200_000_000) + "x = bytearray(10**9); print(len(x))"

    ended, output, errors = await python(code, tmp_path, ProcessLimits(memory_bytes=200_000_000))

    assert (ended, output) == (1, b"")
    assert "MemoryError" in errors


async def test_the_size_of_a_file_is_limited(tmp_path: Path) -> None:
    code = limited("FSIZE", 1000) + "open('big', 'wb').write(b'x' * 10**6)"

    ended, _, _ = await python(code, tmp_path, ProcessLimits(file_bytes=1000))

    assert ended != 0
    assert (tmp_path / "big").stat().st_size <= 1000
