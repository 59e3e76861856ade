"""What `make cases` prints: a line a case, and how many passed, failed and were skipped as the last line."""

from __future__ import annotations

from collections import Counter

import pytest

_WHY = 300
"""Characters of a reason in a case's line; the whole of it follows below."""


class CaseReport:
    """Replaces pytest's own progress; the details of failures stay as pytest prints them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._counts: Counter[str] = Counter()
        self._outcome = ""
        self._why = ""
        self._seconds = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(
        self, report: pytest.TestReport | pytest.CollectReport
    ) -> tuple[str, str, str] | None:
        """Print no dots."""
        if isinstance(report, pytest.CollectReport) or (report.when != "call" and report.passed):
            return None
        return report.outcome, "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Put the three phases of a test together, and print its line after the last."""
        if report.when == "setup":
            self._outcome, self._why, self._seconds = "passed", "", 0.0
        self._seconds += report.duration
        if not report.passed and self._outcome != "failed":
            self._outcome, self._why = report.outcome, _why(report)
        if report.when == "teardown":
            self._counts[self._outcome] += 1
            self._print(report.nodeid)

    def pytest_unconfigure(self) -> None:
        """Close with the sum: after everything that pytest itself says."""
        if self._counts:
            print(
                ", ".join(f"{self._counts[name]} {name}" for name in ("passed", "failed", "skipped")),
                flush=True,
            )

    def _print(self, nodeid: str) -> None:
        name = nodeid.partition("[")[2].removesuffix("]") or nodeid
        why = f": {self._why}" if self._why else ""
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        assert isinstance(terminal, pytest.TerminalReporter)
        terminal.ensure_newline()
        terminal.write_line(f"{self._outcome:7} {self._seconds:6.1f} s  {name}{why}")


def _why(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return " ".join(text.removeprefix("Failed: ").split())[:_WHY]
