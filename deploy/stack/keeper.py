"""Stop a stack when the program that owns it dies without doing so: `python -m deploy.stack.keeper FOLDER`.

Hazard: SIGKILL and a crash leave no chance to clean up, and the kernel's parent-death signal follows the
*thread* that started a child. This small process holds the read end of a pipe whose write end only the owner
has: at end of file the owner is gone, however it went. It imports next to nothing, so it costs a few MB.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from deploy.stack.state import clear

_CHECKOUT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Have the stack in `folder` stopped if this process dies inside the block."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", "deploy.stack.keeper", str(folder.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=_CHECKOUT,
    )
    try:
        yield
    finally:
        keeper.communicate()


def main() -> None:
    """Wait for the end of standard input, then clear the folder, if the owner has not done so."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stdin.buffer.read()
    clear(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
