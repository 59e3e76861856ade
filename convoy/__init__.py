"""convoy: a Kubernetes release orchestrator whose every sync is a durable workflow.

This package is the domain: it renders, dry-runs, applies, prunes and compares. It knows neither Temporal nor
any process; `workflows`, `activities`, `workers` and `watcher` build those around it.
"""
