"""Drift: how the live objects differ from the desired render, who did it, and what that means."""
