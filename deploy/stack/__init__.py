"""The local stack: real servers as plain processes on the loopback address, for demo, tests and benchmarks.

`deploy.stack.local` starts and stops it from a program, `.venv/bin/python -m deploy.stack up|down|status` from a shell.
"""
