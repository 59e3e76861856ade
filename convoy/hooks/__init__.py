"""Lifecycle hooks (D27): which ones a pass runs, their Jobs, their results, and what is told of them."""
