"""When a Release is reconciled and when it is applied: pure decisions, which workflows import.

Nothing here reads a clock, a cluster or a file. Times and random numbers come in as arguments, so that a
test of a backoff of 1000 s takes no time.
"""
