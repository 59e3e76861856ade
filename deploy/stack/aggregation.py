"""Convoy's aggregated API on a local cluster: a certificate to serve with, and where kube-apiserver finds it.

The API runs on this machine and not in a Pod: the Service is an ExternalName of `localhost`, and kube-apiserver takes
the port from the APIService. It still wants a certificate for the Service's own name, by an authority that the
APIService names.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.stack.certificates import Pair, issue_serving

SERVICE = "convoy-apiserver"
GROUP = "subresources.convoy.kumodo.io"
VERSION = "v1alpha1"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The aggregated API of one process."""

    serving: Pair
    """What the process serves with."""
    authority: Path
    """Who signed it."""
    namespace: str
    port: int

    def manifests(self) -> list[dict[str, Any]]:
        """Return the Service and the APIService, in the order of the apply."""
        return [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": SERVICE, "namespace": self.namespace},
                "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": self.port}]},
            },
            {
                "apiVersion": "apiregistration.k8s.io/v1",
                "kind": "APIService",
                "metadata": {"name": f"{VERSION}.{GROUP}"},
                "spec": {
                    "group": GROUP,
                    "version": VERSION,
                    "groupPriorityMinimum": 100,
                    "versionPriority": 10,
                    "service": {"name": SERVICE, "namespace": self.namespace, "port": self.port},
                    "caBundle": base64.b64encode(self.authority.read_bytes()).decode(),
                },
            },
        ]


def make_aggregation(folder: Path, *, namespace: str, port: int) -> Aggregation:
    """Make a certificate in `folder` for an API that will listen on `port` of this machine."""
    authority, serving = issue_serving(
        folder, SERVICE, ["localhost", f"{SERVICE}.{namespace}.svc"], addresses=["127.0.0.1"]
    )
    return Aggregation(serving, authority, namespace, port)
