"""Credential plugins of a kubeconfig (`users[].user.exec`), as EKS, GKE and AKS use them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from convoy.cli.errors import Failure
from convoy.cli.kubeconfig_shape import CREDENTIAL, check_shape


@dataclass(frozen=True, slots=True)
class Credential:
    """What a plugin answers."""

    token: str = field(default="", repr=False)
    certificate: bytes = b""
    key: bytes = field(default=b"", repr=False)


def run_plugin(spec: Mapping[str, Any], cluster: Mapping[str, Any]) -> Credential:
    """Run the plugin with the user's terminal and return its credential.

    Raises:
        Failure: it cannot be run, failed, or answered something else.
    """
    command = str(spec.get("command") or "")
    may_ask = spec.get("interactiveMode") != "Never" and sys.stdin.isatty()
    info: dict[str, Any] = {"interactive": may_ask}
    if spec.get("provideClusterInfo"):
        info["cluster"] = {
            "server": cluster.get("server"),
            "certificate-authority-data": cluster.get("certificate-authority-data"),
        }
    request = {"apiVersion": spec.get("apiVersion"), "kind": "ExecCredential", "spec": info}
    environment = {
        each["name"]: each.get("value") or "" for each in spec.get("env") or () if each and each.get("name")
    }
    environment["KUBERNETES_EXEC_INFO"] = json.dumps(request)
    try:
        done = subprocess.run(
            [command, *(spec.get("args") or ())],
            env=os.environ | environment,
            stdin=None if may_ask else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=True,
        )
        status = dict(json.loads(done.stdout)["status"].items())
    except subprocess.CalledProcessError as error:
        raise Failure(f"the credential plugin {command} ended with code {error.returncode}") from None
    except OSError as error:
        hint = f" ({spec['installHint']})" if spec.get("installHint") else ""
        raise Failure(f"the credential plugin {command} cannot be run: {error.strerror}{hint}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Failure(f"the credential plugin {command} answered no ExecCredential with a status") from None
    check_shape(status, CREDENTIAL, what=f"the status that the credential plugin {command} answered")
    return Credential(
        token=status.get("token") or "",
        certificate=(status.get("clientCertificateData") or "").encode(),
        key=(status.get("clientKeyData") or "").encode(),
    )
