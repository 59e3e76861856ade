"""Which tools the stack uses, in which version, and where each can be had.

A tool's version and checksums stand in one place: the go.mod and go.sum of its folder below `tools/`. This
table adds what a go.mod cannot say: how the binary tells its version, which flags a build needs to tell it,
and where the project publishes the binary beside a checksum.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).parent / "tools"


@dataclass(frozen=True, slots=True)
class Download:
    """An official download. `{version}` (without v), `{os}` and `{arch}` are replaced in every text."""

    url: str
    checksum: str
    """Where the SHA-256 stands: the bare hash, or lines of `hash  file name`."""
    member: str = ""
    """The binary's path in the .tar.gz; empty where the download is the binary itself."""
    systems: tuple[str, ...] = ("linux", "darwin")


@dataclass(frozen=True, slots=True)
class Tool:
    """One binary."""

    name: str
    module: str
    """The Go module whose version is the tool's."""
    package: str
    folder: Path
    """Where the go.mod that pins it lies."""
    probe: tuple[str, ...] = ("--version",)
    """Arguments that make it tell its version."""
    ldflags: str = ""
    download: Download | None = None

    @property
    def version(self) -> str:
        """The pinned version, without a leading v."""
        return _required(self.folder / "go.mod", self.module)

    def fill(self, text: str, *, system: str = "", arch: str = "") -> str:
        """Replace `{version}`, `{os}` and `{arch}`."""
        return text.replace("{version}", self.version).replace("{os}", system).replace("{arch}", arch)

    def tells_version(self, output: str) -> bool:
        """Tell whether the probe's output names exactly the pinned version, no vendor's variant of it."""
        return re.search(rf"(?<![\w.])v?{re.escape(self.version)}(?![\w.+-])", output) is not None


@functools.cache
def _required(go_mod: Path, module: str) -> str:
    found = re.search(rf"^(?:require)?\s*{re.escape(module)} v(\S+)", go_mod.read_text(), re.MULTILINE)
    if found is None:
        raise LookupError(f"{go_mod} does not require {module}")
    return found[1]


def _kubernetes(name: str, *, probe: tuple[str, ...] = ("--version",), systems: tuple[str, ...]) -> Tool:
    url = f"https://dl.k8s.io/release/v{{version}}/bin/{{os}}/{{arch}}/{name}"
    return Tool(
        name=name,
        module="k8s.io/kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        folder=MODULES / "kubernetes",
        probe=probe,
        # Without these, discovery and Helm see version v0.0.0.
        ldflags=" ".join(
            f"-X {package}.{variable}"
            for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
            for variable in ("gitVersion=v{version}", "gitMajor={major}", "gitMinor={minor}")
        ),
        download=Download(url=url, checksum=f"{url}.sha256", systems=systems),
    )


_ETCD = "https://github.com/etcd-io/etcd/releases/download/v{version}"
_TEMPORAL = "https://github.com/temporalio/cli/releases/download/v{version}"
_HELM = "https://get.helm.sh/helm-v{version}-{os}-{arch}.tar.gz"
_KUSTOMIZE = "https://github.com/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv{version}"

TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            name="etcd",
            module="go.etcd.io/etcd/server/v3",
            package="go.etcd.io/etcd/server/v3",
            folder=MODULES / "etcd",
            download=Download(
                url=f"{_ETCD}/etcd-v{{version}}-{{os}}-{{arch}}.tar.gz",
                checksum=f"{_ETCD}/SHA256SUMS",
                member="etcd-v{version}-{os}-{arch}/etcd",
                systems=("linux",),
            ),
        ),
        _kubernetes("kube-apiserver", systems=("linux",)),
        _kubernetes("kube-controller-manager", systems=("linux",)),
        _kubernetes("kube-scheduler", systems=("linux",)),
        _kubernetes("kubectl", probe=("version", "--client"), systems=("linux", "darwin")),
        Tool(
            # The project publishes its binary without a checksum, so it is always built.
            name="kwok",
            module="sigs.k8s.io/kwok",
            package="sigs.k8s.io/kwok/cmd/kwok",
            folder=MODULES / "kwok",
            ldflags="-X sigs.k8s.io/kwok/pkg/consts.Version=v{version}",
        ),
        Tool(
            name="temporal",
            module="github.com/temporalio/cli",
            package="github.com/temporalio/cli/cmd/temporal",
            folder=MODULES / "temporal",
            ldflags="-X github.com/temporalio/cli/temporalcli.Version={version}",
            download=Download(
                url=f"{_TEMPORAL}/temporal_cli_{{version}}_{{os}}_{{arch}}.tar.gz",
                checksum=f"{_TEMPORAL}/checksums.txt",
                member="temporal",
            ),
        ),
        Tool(
            name="helm",
            module="helm.sh/helm/v4",
            package="helm.sh/helm/v4/cmd/helm",
            folder=MODULES / "helm",
            probe=("version", "--template", "{{.Version}}"),
            ldflags="-X helm.sh/helm/v4/internal/version.version=v{version}",
            download=Download(url=_HELM, checksum=f"{_HELM}.sha256sum", member="{os}-{arch}/helm"),
        ),
        Tool(
            name="kustomize",
            module="sigs.k8s.io/kustomize/kustomize/v5",
            package="sigs.k8s.io/kustomize/kustomize/v5",
            folder=MODULES / "kustomize",
            probe=("version",),
            download=Download(
                url=f"{_KUSTOMIZE}/kustomize_v{{version}}_{{os}}_{{arch}}.tar.gz",
                checksum=f"{_KUSTOMIZE}/checksums.txt",
                member="kustomize",
            ),
        ),
        Tool(
            name="versitygw",
            module="github.com/versity/versitygw",
            package="github.com/versity/versitygw/cmd/versitygw",
            folder=MODULES / "versitygw",
            ldflags="-X main.Version=v{version}",
        ),
    )
}
