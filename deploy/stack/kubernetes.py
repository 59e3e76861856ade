"""The command lines of one small Kubernetes cluster, its kubeconfig, and when it counts as ready.

Controllers and scheduler are the real ones, so Deployments roll out and Jobs finish; kwok plays the kubelet.
Everyone in the stack is the administrator: roles under test are made by the tests, through impersonation or
tokens.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from deploy.stack.certificates import FRONT_PROXY_NAME, Certificates, write_private
from deploy.stack.ports import LOOPBACK

NODE = "fake-node"
_SERVICE_RANGE = "10.0.0.0/24"
_POD_RANGE = "10.64.0.0/10"
Command = list[str | Path]


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the servers of one cluster agree on."""

    folder: Path
    certificates: Certificates
    etcd_port: int
    etcd_peer_port: int
    port: int

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder / "kubeconfig"

    @property
    def url(self) -> str:
        """Where the API server answers."""
        return f"https://{LOOPBACK}:{self.port}"


def etcd(binary: Path, cluster: Cluster) -> Command:
    """Return etcd's command line: no fsync, since the data lives as long as the stack."""
    client, peer = f"http://{LOOPBACK}:{cluster.etcd_port}", f"http://{LOOPBACK}:{cluster.etcd_peer_port}"
    return [
        binary,
        f"--data-dir={cluster.folder / 'etcd'}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]


def api_server(binary: Path, cluster: Cluster) -> Command:
    """Return kube-apiserver's command line: RBAC, the aggregation layer, and MutatingAdmissionPolicy."""
    files = cluster.certificates
    return [
        binary,
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={cluster.port}",
        f"--etcd-servers=http://{LOOPBACK}:{cluster.etcd_port}",
        f"--service-cluster-ip-range={_SERVICE_RANGE}",
        "--endpoint-reconciler-type=none",
        "--authorization-mode=RBAC",
        f"--client-ca-file={files.ca.certificate}",
        f"--tls-cert-file={files.server.certificate}",
        f"--tls-private-key-file={files.server.key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={files.service_account_key}",
        f"--service-account-signing-key-file={files.service_account_key}",
        f"--requestheader-client-ca-file={files.front_proxy_ca.certificate}",
        f"--requestheader-allowed-names={FRONT_PROXY_NAME}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={files.front_proxy.certificate}",
        f"--proxy-client-key-file={files.front_proxy.key}",
        "--feature-gates=MutatingAdmissionPolicy=true",
        "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
        "--allow-privileged=true",
    ]


def controller_manager(binary: Path, cluster: Cluster) -> Command:
    """Return kube-controller-manager's command line.

    The node's grace period is long: on a machine that is busy or was suspended, one late heartbeat would mark
    every Pod as not ready.
    """
    return [
        binary,
        f"--kubeconfig={cluster.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--service-account-private-key-file={cluster.certificates.service_account_key}",
        f"--root-ca-file={cluster.certificates.ca.certificate}",
        "--node-monitor-grace-period=1h",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def scheduler(binary: Path, cluster: Cluster) -> Command:
    """Return kube-scheduler's command line."""
    return [
        binary,
        f"--kubeconfig={cluster.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def kwok(binary: Path, cluster: Cluster, stages: Path) -> Command:
    """Return kwok's command line: it plays the kubelet of every Node."""
    return [
        binary,
        f"--kubeconfig={cluster.kubeconfig}",
        f"--config={stages}",
        "--manage-all-nodes",
        f"--cidr={_POD_RANGE}",
        "--v=WARN",
    ]


def write_kubeconfig(cluster: Cluster) -> Path:
    """Write the administrator's kubeconfig, certificates inline, readable by its owner alone."""

    def data(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode()

    files = cluster.certificates
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "convoy-stack",
        "contexts": [{"name": "convoy-stack", "context": {"cluster": "convoy-stack", "user": "admin"}}],
        "clusters": [
            {
                "name": "convoy-stack",
                "cluster": {
                    "server": cluster.url,
                    "certificate-authority-data": data(files.ca.certificate),
                },
            }
        ],
        "users": [
            {
                "name": "admin",
                "user": {
                    "client-certificate-data": data(files.admin.certificate),
                    "client-key-data": data(files.admin.key),
                },
            }
        ],
    }
    return write_private(cluster.kubeconfig, yaml.safe_dump(tree, sort_keys=False).encode())


class Admin:
    """A few requests as the administrator, with nothing but the standard library."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        files = cluster.certificates
        self._context = ssl.create_default_context(cafile=str(files.ca.certificate))
        self._context.load_cert_chain(files.admin.certificate, files.admin.key)

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, bytes]:
        """Send one request; return status and body. Raises OSError while nobody listens."""
        connection = http.client.HTTPSConnection(
            LOOPBACK, self._cluster.port, timeout=10, context=self._context
        )
        try:
            payload = json.dumps(body) if body is not None else None
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> dict[str, Any] | None:
        """Read one object; None when the answer is anything but 200."""
        status, body = self.request("GET", path)
        return json.loads(body) if status == 200 else None

    def answers(self) -> bool:
        """Tell whether the API server is ready."""
        return self.request("GET", "/readyz")[0] == 200

    def add_node(self) -> bool:
        """Create the fake Node, once; True when it is there."""
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": _NODE_LABELS}}
        status, body = self.request("POST", "/api/v1/nodes", node)
        if status not in (201, 409):
            raise OSError(f"the fake Node was refused ({status}): {body.decode(errors='replace')}")
        return True

    def works(self) -> bool:
        """Tell whether Pods can run: node ready and untainted, default service account there."""
        node = self.get(f"/api/v1/nodes/{NODE}")
        if node is None or node["spec"].get("taints"):
            return False
        conditions = node.get("status", {}).get("conditions", [])
        if not any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions):
            return False
        return self.get("/api/v1/namespaces/default/serviceaccounts/default") is not None


_NODE_LABELS = {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
