"""The processes of convoy: `.venv/bin/python -m workers run|worker|watcher|up|crds`."""
