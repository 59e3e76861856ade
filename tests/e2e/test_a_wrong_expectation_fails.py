"""The case runner itself: an expectation that is not met is told, whatever part it is of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from convoy.api.objects import ObjectKey
from convoy.kube.resources import RELEASES
from tests.e2e.harness.convoy import Convoy
from tests.e2e.runner import expect
from tests.e2e.runner.case import Tokens, read_case
from tests.e2e.runner.run import run_case
from tests.e2e.runner.world import CaseFailed

HEAD = """\
kind: Case
id: W01
title: nothing of this is true
area: apply
rule: none
why: a runner that finds nothing wrong proves nothing
verified: true
renders:
  r: {a.yaml: "apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: box, namespace: $NS}\\ndata: {tea: '1', cups: two}"}
"""

WRONG = """\
steps:
- render: r
- sync: {}
- remember: [ConfigMap $NS/box]
- remove: {object: ConfigMap $NS/box}
- live: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: box, namespace: $NS}, data: {tea: "2"}}]}
- drift: {}
expect:
  conditions:
  - {type: Applied, status: "False", reason: [Unappliable, DeployFailed]}
  - {type: Applied, contains: [walrus], lacks: [object], maxLength: 1}
  - {type: Singing}
  drift:
  - {object: ConfigMap $NS/box, status: InSync, paths: [/data/tea, /metadata], managers: {/data/tea: somebody}}
  - {object: ConfigMap $NS/other, status: InSync}
  objects:
  - {object: ConfigMap $NS/box, exists: false}
  - {object: ConfigMap $NS/other}
  - object: ConfigMap $NS/box
    sameUid: true
    fields: {/data/tea: 2, /data/none: x}
    absent: [/data/tea]
    owners: {/data/tea: convoy}
  inventory: [{has: [ConfigMap $NS/other], lacks: [ConfigMap $NS/box], count: 2, maxBytes: 1}]
  releases: [{fields: {/status/lastAttempted/reason: Nothing}, absent: [/status/conditions]}]
  counts: [{kind: ConfigMap, namespace: $NS, selector: none=such, count: 1}]
  order: [ConfigMap $NS/box, ConfigMap $NS/box]
  nowhere: [Applied, SyncSucceeded, Drifted, worker-started]
"""

TOLD = """\
condition Applied of Release a should be False
condition Applied of Release a should have the reason Unappliable or DeployFailed
should contain 'walrus'
should lack 'object'
more than 1
condition Singing of Release a is not there
box should be InSync; it is Modified
reports a change at /data/cups, which is below none of
reports no change at /metadata
should name somebody at /data/tea; it names ['kubectl-create']
other should be InSync; it is not reported
box should not exist
other should exist
box is another object than the one remembered
/data/tea should be 2; it is '2'
/data/none should be 'x'; it is not there
/data/tea should not be there; it is '2'
/data/tea should be owned by ['convoy']; it is owned by ['kubectl-create']
should have ConfigMap
should lack ConfigMap
should have 2 objects, not 1
bytes, more than 1
/status/lastAttempted/reason should be 'Nothing'; it is 'Applied'
/status/conditions should not be there
there should be 1 ConfigMap, not 0
should be younger than
'Applied' is in Release a
'Applied' is in a metric
'SyncSucceeded' is in event SyncSucceeded
"""


async def failure(convoy: Convoy, folder: Path, body: str) -> str:
    path = folder / "wrong.yaml"
    path.write_text(HEAD + body)
    tokens = Tokens()
    with pytest.raises(CaseFailed) as raised:
        await run_case(convoy, read_case(path, tokens), tokens)
    return str(raised.value)


async def test_every_part_that_is_not_as_expected_is_told(
    convoy: Convoy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expect, "GONE_WITHIN", 1.0)
    message = await failure(convoy, tmp_path, WRONG)

    assert [line for line in TOLD.splitlines() if line not in message] == []
    assert re.search(r"'Applied' is in event \d+ of sync/", message)
    assert re.search(r"'Drifted' is in event \d+ of drift/", message)
    assert "'worker-started'" not in message, "what was logged before the case is not the case's"


async def test_a_step_that_cannot_be_taken_is_told_by_its_number(convoy: Convoy, tmp_path: Path) -> None:
    body = "steps: [{render: r}, {edit: {object: ConfigMap $NS/none, patch: {data: {}}}}]\n"

    message = await failure(convoy, tmp_path, body)

    assert message.startswith("step 2 (Edit): the API server refused: ")
    assert "none" in message


async def test_a_wait_that_is_in_vain_tells_what_was_there_instead(convoy: Convoy, tmp_path: Path) -> None:
    wait = "{object: ConfigMap $NS/box, path: /data/tea, equals: '3', timeout: 0.5}"

    message = await failure(convoy, tmp_path, f"steps: [{{render: r}}, {{sync: {{}}}}, {{wait: {wait}}}]\n")

    assert "/data/tea is not as waited for after 0.5 s: it is '1'" in message


async def test_a_case_leaves_nothing_behind(convoy: Convoy, tmp_path: Path) -> None:
    tokens = Tokens()
    path = tmp_path / "case.yaml"
    role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: $ID-role}}"
    held = "{apiVersion: v1, kind: ConfigMap, metadata: {name: $ID-held, finalizers: [example.org/held]}}"
    path.write_text(
        HEAD + f"steps: [{{live: {{objects: [{role}, {held}]}}}}, {{render: r}}, {{sync: {{}}}}]\n"
    )

    await run_case(convoy, read_case(path, tokens), tokens)

    for key in (
        ObjectKey("rbac.authorization.k8s.io", "ClusterRole", "", f"{tokens.id}-role"),
        ObjectKey("", "ConfigMap", "default", f"{tokens.id}-held"),
    ):
        assert await convoy.objects.get(key) is None
    space = await convoy.objects.get(ObjectKey("", "Namespace", "", tokens.namespace))
    assert space is None or space["metadata"]["deletionTimestamp"]
    assert not [
        release
        for release in await convoy.home.list(RELEASES)
        if release["metadata"]["namespace"].startswith("releases-")
    ]
