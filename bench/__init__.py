"""Benchmarks beside their peers and floors: `python -m bench [name]`, one line of JSON each."""
