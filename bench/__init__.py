"""Benchmarks beside their peers and floors: `.venv/bin/python -m bench [name]`, one line of JSON each."""
