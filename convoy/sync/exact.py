"""Step 6: the inventory becomes exactly the render. From here on convoy has forgotten what the prune
handled."""

from __future__ import annotations

from collections.abc import Sequence

from convoy.api.errors import DeployFailed
from convoy.sync.inventory import Entry, exact
from convoy.sync.ledger import Ledger


async def write_exact(ledger: Ledger, wanted: Sequence[Entry], *, render_ref: str) -> None:
    """Write the exact set of a render that was applied completely; also without a prune (D21b).

    `wanted` are the entries of the render in apply order; their UIDs come from the union. Nothing is sent
    where nothing changes.

    Raises:
        DeployFailed: an object of the render is not recorded as applied: somebody wrote the inventory by
        hand. Fenced, Unsupported: as `Ledger.write`.
    """
    recorded = {entry.key for entry in ledger.record.objects}
    missing = next((entry.key for entry in wanted if entry.key not in recorded), None)
    if missing is not None:
        raise DeployFailed(f"the ReleaseInventory {ledger.name} does not record {missing} as applied")
    await ledger.write(lambda record: exact(record, wanted, render_ref=render_ref))
