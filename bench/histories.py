"""How large convoy's workflow histories are: what Temporal limits, and what each restart of a worker replays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.client import Client


@dataclass(frozen=True, slots=True)
class Sizes:
    """The largest of what was found."""

    runs: int
    events: int
    """Of one run."""
    payload: int
    """Bytes of one payload."""


async def measure(address: str, query: str) -> Sizes:
    """Read the histories of all runs that a query finds."""
    client = await Client.connect(address)
    events, payloads, runs = [0], [0], 0
    async for run in client.list_workflows(query):
        runs += 1
        history = await client.get_workflow_handle(run.id, run_id=run.run_id).fetch_history()
        events.append(len(history.events))
        payloads += [found for event in history.events for found in _payloads(event)]
    return Sizes(runs, max(events), max(payloads))


def _payloads(message: Message) -> Iterator[int]:
    if isinstance(message, Payload):
        yield len(message.data)
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        values: Any = [value]
        if field.message_type.GetOptions().map_entry:
            values = value.values()
        elif field.is_repeated:
            values = value
        for each in values:
            if isinstance(each, Message):
                yield from _payloads(each)
