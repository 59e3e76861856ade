"""The processes of convoy: `python -m workers run|worker|watcher|up|crds`."""
