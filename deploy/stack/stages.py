"""What kwok does with the fake Node and the Pods on it.

A Pod's fate is chosen by its image, so that a test or an example says in its manifest what happens:

    fake.local/never-ready:*        runs, never becomes ready
    fake.local/ready-after-<N>s:*   runs, becomes ready after N seconds
    fake.local/crash-loop:*         waits in CrashLoopBackOff
    fake.local/job-fails:*          exits with code 1
    fake.local/job-hangs:*          runs and is ready, never completes
    anything else                   becomes ready; where a Job owns it, it then completes
"""

from __future__ import annotations

from typing import Any

import yaml

Stage = dict[str, Any]

_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_POD_IP = (
    'PodIPWith .spec.nodeName (or .spec.hostNetwork false) (or .metadata.uid "") (or .metadata.name "") '
    '(or .metadata.namespace "")'
)
_ALIVE = {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}
_OF_A_JOB = {"key": ".metadata.ownerReferences.[].kind", "operator": "In", "values": ["Job"]}
_RUNNING = "running: {startedAt: {{ Now | Quote }}}"
_RESTARTED_OFTEN = "waiting: {reason: CrashLoopBackOff, message: back-off 2m40s restarting failed container}"

_NODE_CONDITIONS = """
conditions:
{{ range NodeConditions }}
- {type: {{ .type | Quote }}, status: {{ .status | Quote }}, reason: {{ .reason | Quote }},
   message: {{ .message | Quote }}, lastHeartbeatTime: {{ Now | Quote }}}
{{ end }}
"""
_NODE_STATUS = """
addresses:
- {type: InternalIP, address: 127.0.0.1}
- {type: Hostname, address: {{ .metadata.name | Quote }}}
allocatable: {cpu: 1k, memory: 1Ti, pods: 100k}
capacity: {cpu: 1k, memory: 1Ti, pods: 100k}
phase: Running
"""
_INIT_CONTAINERS = """
{{ if .spec.initContainers }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: true
  restartCount: 0
  {{ if eq (or .restartPolicy "") "Always" }}
  started: true
  state: {running: {startedAt: {{ Now | Quote }}}}
  {{ else }}
  state: {terminated: {exitCode: 0, reason: Completed, finishedAt: {{ Now | Quote }}}}
  {{ end }}
{{ end }}
{{ end }}
"""


def stages_yaml() -> str:
    """Return kwok's configuration file."""
    return yaml.safe_dump_all(_stages(), sort_keys=False)


def _stages() -> list[Stage]:
    pending, running = _phase("Pending"), _phase("Running")
    ready, not_ready = _condition("In"), _condition("NotIn")
    late = "ready-after-[0-9]+s"
    return [
        _stage("node-ready", "Node", [not_ready], _NODE_CONDITIONS + _NODE_STATUS),
        _stage(
            "node-heartbeat",
            "Node",
            [ready],
            _NODE_CONDITIONS,
            delay={"durationMilliseconds": 60_000, "jitterDurationMilliseconds": 90_000},
            again=True,
        ),
        _stage(
            "pod-ready",
            "Pod",
            [_ALIVE, pending, _image(f"never-ready|{late}|crash-loop", "DoesNotExist")],
            _pod("Running", ready=True, state=_RUNNING),
        ),
        _stage(
            "pod-runs",
            "Pod",
            [_ALIVE, pending, _image(f"never-ready|{late}")],
            _pod("Running", ready=False, state=_RUNNING),
        ),
        _stage(
            "pod-ready-late",
            "Pod",
            [_ALIVE, running, not_ready, _image(late)],
            _pod("Running", ready=True, state=_RUNNING),
            delay={
                "durationMilliseconds": 1000,
                "durationFrom": {
                    "expressionFrom": "[.spec.containers[].image"
                    ' | capture("^fake[.]local/ready-after-(?<delay>[0-9]+s)").delay] | first'
                },
            },
        ),
        _stage(
            "pod-crash-loop",
            "Pod",
            [_ALIVE, pending, _image("crash-loop")],
            _pod("Running", ready=False, state=_RESTARTED_OFTEN, last_state=_exited(1), restarts=5),
        ),
        _stage(
            "job-pod-completes",
            "Pod",
            [_ALIVE, _OF_A_JOB, running, ready, _image("job-fails|job-hangs", "DoesNotExist")],
            _pod("Succeeded", ready=False, state=_exited(0)),
        ),
        _stage(
            "pod-fails",
            "Pod",
            [_ALIVE, running, _image("job-fails")],
            _pod("Failed", ready=False, state=_exited(1)),
        ),
        _stage("pod-gone", "Pod", [{**_ALIVE, "operator": "Exists"}]),
    ]


def _stage(
    name: str,
    kind: str,
    when: list[dict[str, Any]],
    status: str | None = None,
    *,
    delay: dict[str, Any] | None = None,
    again: bool = False,
) -> Stage:
    spec: dict[str, Any] = {
        "resourceRef": {"apiGroup": "v1", "kind": kind},
        "selector": {"matchExpressions": when},
        "next": {"statusTemplate": status} if status else {"delete": True},
    }
    if delay:
        spec["delay"] = delay
    if again:
        spec["immediateNextStage"] = True
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": spec,
    }


def _phase(phase: str) -> dict[str, Any]:
    return {"key": ".status.phase", "operator": "In", "values": [phase]}


def _condition(operator: str) -> dict[str, Any]:
    return {"key": _READY, "operator": operator, "values": ["True"]}


def _image(names: str, operator: str = "Exists") -> dict[str, Any]:
    key = f'.spec.containers[].image | select(test("^fake[.]local/({names})(:|$)"))'
    return {"key": key, "operator": operator}


def _exited(code: int) -> str:
    reason = "Error" if code else "Completed"
    return (
        f"terminated: {{exitCode: {code}, reason: {reason}, "
        "startedAt: {{ or $pod.status.startTime Now | Quote }}, finishedAt: {{ Now | Quote }}}"
    )


def _pod(phase: str, *, ready: bool, state: str, last_state: str = "", restarts: int = 0) -> str:
    word = '"True"' if ready else '"False"'
    lines = [
        "{{ $pod := . }}",
        "conditions:",
        *(
            f"- {{type: {kind}, status: {value}, lastTransitionTime: {{{{ Now | Quote }}}}}}"
            for kind, value in (
                ("Initialized", '"True"'),
                ("PodReadyToStartContainers", '"True"'),
                ("ContainersReady", word),
                ("Ready", word),
            )
        ),
        "{{ range .spec.readinessGates }}",
        '- {type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ Now | Quote }}}',
        "{{ end }}",
        "containerStatuses:",
        "{{ range .spec.containers }}",
        "- name: {{ .name | Quote }}",
        "  image: {{ .image | Quote }}",
        '  imageID: ""',
        f"  ready: {str(ready).lower()}",
        f"  started: {str(ready).lower()}",
        f"  restartCount: {restarts}",
        "  state:",
        f"    {state}",
    ]
    if last_state:
        lines += ["  lastState:", f"    {last_state}"]
    lines += [
        "{{ end }}",
        _INIT_CONTAINERS.strip(),
        "hostIP: 127.0.0.1",
        f"podIP: {{{{ {_POD_IP} | Quote }}}}",
        "startTime: {{ or .status.startTime Now | Quote }}",
        f"phase: {phase}",
    ]
    return "\n".join(lines) + "\n"
