"""The sync: dry run, apply, inventory, ownership, prune and teardown (`reference/apply-and-prune`)."""
