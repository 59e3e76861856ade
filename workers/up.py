"""`convoy up`: the whole product on a local stack, with an example Release, told step by step.

With `--once` it makes drift by hand, sees it found and healed, prints one line of JSON and ends; without, it stays up.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from temporalio.client import Client

from convoy.api.common import condition_of
from convoy.api.crd import generate_crds
from convoy.api.objects import Manifest, split_api_version
from convoy.api.release import Release
from convoy.kube.client import KubeClient
from convoy.kube.connection import connect_kubeconfig
from convoy.kube.discovery import Discovery
from convoy.kube.encode import apply_body
from convoy.kube.errors import ApiError
from convoy.kube.resources import RELEASES
from convoy.settings import Settings
from deploy.stack.aggregation import Aggregation, make_aggregation
from deploy.stack.local import Stack, running
from deploy.stack.ports import free_ports
from deploy.stack.processes import ServerFailed
from deploy.stack.state import StackError
from workers.temporal import connect
from workflows.contract import DriftReport, ReleaseId, UpdateName

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".state" / "demo"
KEPT = ROOT / ".state" / "demo-logs"
"""The logs of the last demo that failed: its own folder goes with its stack."""
EXAMPLE = ROOT / "examples" / "shop-inline"
RELEASE = ReleaseId("shop-team", "shop")
DRIFT = ("", "ConfigMap", "shop", "settings", {"data": {"greeting": "changed by hand"}})
"""Group, kind, namespace, name, and the patch."""
WITHIN = 180.0
LOOK_SECONDS = 0.2
TRIES = 30
PAUSE_SECONDS = 0.5
"""Between two tries."""


class DemoFailed(Exception):
    """A step of the demo did not come about; the message says which and where to look."""


@dataclass(frozen=True, slots=True)
class _Demo:
    stack: Stack
    home: KubeClient
    client: Client


def up(flags: Sequence[str]) -> int:
    """Run the demo; returns 0 only if the Release was synced and, with `--once`, its drift found and healed."""
    if unknown := [flag for flag in flags if flag != "--once"]:
        print(f"convoy up: unknown argument {unknown[0]}; the only one is --once", file=sys.stderr)
        return 2
    began = time.monotonic()
    # Ctrl-C and a plain kill both unwind the stack.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with running(STATE, say=_say) as stack, _logs_kept_on_failure():
            result = asyncio.run(_run(stack, once="--once" in flags))
    except (DemoFailed, StackError, ServerFailed, ApiError) as error:
        print(f"convoy up: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    if "--once" in flags:
        print(json.dumps(result | {"seconds": round(time.monotonic() - began, 1)}), flush=True)
    return 0 if result["synced"] and result["driftHealed"] else 1


@contextmanager
def _logs_kept_on_failure() -> Iterator[None]:
    try:
        yield
    except Exception:
        shutil.rmtree(KEPT, ignore_errors=True)
        shutil.copytree(STATE / "logs", KEPT)
        print(f"convoy up: the logs are kept in {KEPT}", file=sys.stderr)
        raise


async def _run(stack: Stack, *, once: bool) -> dict[str, Any]:
    settings = Settings(temporal_address=stack.temporal_address, kubeconfig=stack.kubeconfig)
    async with await connect_kubeconfig(stack.kubeconfig) as home:
        demo = _Demo(stack, home, await connect(settings))
        _say("installing convoy's CRDs")
        await _apply_all(home, [*generate_crds(), _namespace(settings.namespace)])
        api = make_aggregation(STATE / "pki", namespace=settings.namespace, port=free_ports(1)[0])
        await _apply_all(home, api.manifests())
        async with _convoy(demo, api):
            return await _tell(demo, once=once)


async def _tell(demo: _Demo, *, once: bool) -> dict[str, Any]:
    _say(f"applying the example Release {RELEASE} ({EXAMPLE.relative_to(ROOT)})")
    await _apply_all(demo.home, _documents(EXAMPLE))
    release = await _until(demo, "the first sync", _is("Applied"))
    objects = release.status.history[0].objects or 0
    for wave in release.status.waves:
        _say(f"  wave {wave.wave}: {wave.applied} of {wave.objects} objects {wave.phase}")
    _say(f"synced: {objects} objects of {release.status.history[0].revision}")
    await _check(demo)
    await _until(demo, "the first drift pass", _is("InSync"))

    found = await _make_drift(demo)
    _say(f"drift found: {found.message}")
    await _until(demo, "the self-heal", _healed(found))
    await _check(demo)
    await _until(demo, "the drift pass after the self-heal", _is("InSync"))
    _say("drift healed: the Release is in sync again")

    runs = await demo.client.count_workflows(f'WorkflowId="{RELEASE.sync}"')
    if not once:
        _say_where(demo.stack)
        await asyncio.Event().wait()
    return {
        "synced": True,
        "objects": objects,
        "driftFound": list(found.drifted),
        "driftHealed": bool(found.drifted),
        "syncRuns": runs.count,
        "temporalUI": demo.stack.temporal_ui,
    }


def _say_where(stack: Stack) -> None:
    """Tell what a person can open and type while the demo stays up."""
    stack.tool("kubectl", _say)
    (stack.tools / "kubectl-convoy").symlink_to(Path(sys.executable).with_name("kubectl-convoy"))
    _say("")
    _say(f"Temporal web UI   {stack.temporal_ui}")
    _say(f"  the syncs       {stack.temporal_ui}/namespaces/default/workflows")
    _say(f"in another shell  export KUBECONFIG={stack.kubeconfig} PATH={stack.tools}:$PATH")
    _say("  then            kubectl get releases -A -o wide")
    _say(f"                  kubectl convoy release tree {RELEASE.name} -n {RELEASE.namespace}")
    _say("Ctrl-C ends everything.")


@asynccontextmanager
async def _convoy(demo: _Demo, api: Aggregation) -> AsyncIterator[None]:
    """Run `convoy run` as a process of its own, as an installation would."""
    log = STATE / "logs" / "convoy.log"
    for tool in ("kustomize", "helm"):
        demo.stack.tool(tool, _say)
    _say(f"starting convoy (log: {log})")
    environment = os.environ | {
        "KUBECONFIG": str(demo.stack.kubeconfig),
        "CONVOY_TEMPORAL_ADDRESS": demo.stack.temporal_address,
        "CONVOY_TOOLS": str(demo.stack.tools),
        "CONVOY_WORK_DIR": str(STATE / "work"),
        "CONVOY_RENDER_STORE_URL": f"file://{STATE / 'renders'}",
        "CONVOY_API_ADDRESS": f"127.0.0.1:{api.port}",
        "CONVOY_TLS_CERT_FILE": str(api.serving.certificate),
        "CONVOY_TLS_KEY_FILE": str(api.serving.key),
        "CONVOY_ALLOW_OWN_IDENTITY": "true",
        "CONVOY_ALLOW_PRIVATE_ADDRESSES": "true",
        "CONVOY_LOG_FORMAT": "json",
    }
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "workers", "run", cwd=ROOT, env=environment, stdout=output, stderr=output
        )
        try:
            yield
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _make_drift(demo: _Demo) -> DriftReport:
    """Change an object by hand and return the pass that finds it.

    Another pass may come first, since each change of the inventory starts one; it heals, and this one sees nothing.
    """
    group, kind, namespace, name, patch = DRIFT
    resource = await Discovery(demo.home).resource_for(group, kind)
    for _ in range(3):
        _say(f"changing {kind} {namespace}/{name} by hand, as kubectl edit would")
        await demo.home.patch(resource, namespace, name, patch, manager="kubectl-edit")
        found = await _check(demo)
        if found.drifted:
            return found
    raise DemoFailed("the change by hand was not found")


async def _check(demo: _Demo) -> DriftReport:
    """Make a drift pass now: the update `check` of the Drift workflow (D37)."""
    handle = demo.client.get_workflow_handle(RELEASE.drift)
    report: DriftReport = await handle.execute_update(
        UpdateName.CHECK, result_type=DriftReport, id=secrets.token_hex(8)
    )
    return report


async def _until(demo: _Demo, what: str, done: Callable[[Release], bool]) -> Release:
    deadline = time.monotonic() + WITHIN
    release = None
    while time.monotonic() < deadline:
        release = Release.model_validate(await demo.home.get(RELEASES, RELEASE.namespace, RELEASE.name))
        if done(release):
            return release
        await asyncio.sleep(LOOK_SECONDS)
    conditions = (
        "; ".join(f"{c.type}={c.status} {c.message}" for c in release.status.conditions) if release else ""
    )
    raise DemoFailed(f"{what} did not happen within {WITHIN:g} s ({conditions})")


def _is(kind: str) -> Callable[[Release], bool]:
    def true(release: Release) -> bool:
        condition = condition_of(release.status.conditions, kind)
        return condition is not None and condition.status == "True"

    return true


def _healed(found: DriftReport) -> Callable[[Release], bool]:
    """Return whether a sync was settled that began after the drift was found."""

    def settled(release: Release) -> bool:
        sync = release.status.sync
        asked = sync is not None and (sync.requested_at or "") >= found.began_at
        return asked and sync is not None and sync.settled_at is not None and _is("Applied")(release)

    return settled


async def _apply_all(home: KubeClient, manifests: Sequence[Manifest]) -> None:
    discovery = Discovery(home)
    for manifest in manifests:
        group, version = split_api_version(manifest["apiVersion"])
        metadata = manifest["metadata"]

        async def apply(manifest: Manifest = manifest, group: str = group, version: str = version) -> None:
            resource = await discovery.resource_for(group, manifest["kind"], version)
            name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace")
            await home.apply(apply_body(manifest), resource, namespace, name, manager="convoy-up")

        await _patiently(apply, what=f"{manifest['kind']} {metadata['name']}")


async def _patiently(call: Callable[[], Awaitable[None]], *, what: str) -> None:
    """Try for some seconds: a CRD takes a moment until it serves its kind."""
    for _ in range(TRIES):
        try:
            return await call()
        except ApiError as error:
            last = error
            await asyncio.sleep(PAUSE_SECONDS)
    raise DemoFailed(f"{what} cannot be applied: {last.message}")


def _documents(folder: Path) -> list[Manifest]:
    return [
        document
        for path in sorted(folder.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
        if document
    ]


def _namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _say(text: str) -> None:
    print(text, flush=True)
