"""Drift passes on request: the update `check` of a Release's Drift workflow."""

from __future__ import annotations

import secrets
from time import perf_counter
from typing import Any

from temporalio.client import Client

from bench.harness import HOME
from workers.converter import DATA_CONVERTER


class Checks:
    """Asks for passes."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @staticmethod
    async def connect(address: str) -> Checks:
        """Connect to the Temporal server that convoy uses."""
        return Checks(await Client.connect(address, data_converter=DATA_CONVERTER))

    async def check(self, release: str, *, verdict: str = "InSync") -> float:
        """Make one pass and return the seconds until its answer; another verdict ends the benchmark."""
        began = perf_counter()
        handle = self._client.get_workflow_handle(f"drift/{HOME}/{release}")
        report: dict[str, Any] = await handle.execute_update("check", id=secrets.token_hex(8))
        if report["verdict"] != verdict:
            raise RuntimeError(f"the check of {release} found {report['verdict']}: {report['message']}")
        return perf_counter() - began
