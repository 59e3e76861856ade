"""Kubernetes events become signals. Stateless: it compares Releases with `status.handled`, and may run twice."""
