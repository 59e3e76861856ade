"""Temporal workflows: decisions and waiting only. No I/O, no client, no clock but `workflow.now()`."""
