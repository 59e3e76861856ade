"""Whatever is wrong with a case file is told before anything is created, naming it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.runner.case import BadCase, Tokens, read_case
from tests.unit.cases.writing import HEAD, write


def fault(path: Path) -> str:
    with pytest.raises(BadCase) as raised:
        read_case(path, Tokens())
    return str(raised.value)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("colour: red\n", "colour"),
        ("steps: [{jump: {}}]\n", "step 1: unknown step 'jump'"),
        ("steps: [{sync: {}, drift: {}}]\n", "step 1: a step has exactly one key, not: sync, drift"),
        ("steps: [sync]\n", "step 1: a step has exactly one key"),
        ("steps: [{sync: {}}, {sync: {speed: 3}}]\n", "step 2 (sync): speed"),
        ("steps: [{live: {objects: [], op: replace}}]\n", "step 1 (live): op"),
        ("steps: [{wait: {}}]\n", "exactly one of seconds and object"),
        ("steps: [{wait: {object: ConfigMap a/b, equals: 1}}]\n", "equals needs a path"),
        ("steps: [{render: r9}]\n", "step 1: there is no render 'r9'"),
        ("steps: [{sync: {release: b}}]\n", "step 1: there is no Release 'b'"),
        ("steps: [{expect: {condition: []}}]\n", "step 1 (expect): condition"),
        ("expect: {objects: [{object: ConfigMap a/b, field: {}}]}\n", "expect.objects.0.field"),
        ("expect: {conditions: [{type: Applied, status: Maybe}]}\n", "expect.conditions.0.status"),
        ("expect: {conditions: [{type: Applied, status: true}]}\n", "expect.conditions.0.status"),
        ("expect: {drift: [{object: ConfigMap a/b, status: Gone}]}\n", "expect.drift.0.status"),
        ("expect: {inventory: [{release: b, count: 0}]}\n", "expect: there is no Release 'b'"),
        ("renders: {r: {a.yaml: {text: x, times: 3}}}\n", "renders.r.a.yaml"),
        ("steps: [\n", "no YAML"),
    ],
)
def test_the_key_or_value_at_fault_is_named(tmp_path: Path, body: str, named: str) -> None:
    assert named in fault(write(tmp_path, body))


def test_the_file_is_named(tmp_path: Path) -> None:
    assert fault(write(tmp_path, "colour: red\n")).startswith("01-case.yaml: ")


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    message = fault(write(tmp_path, "steps: [{jump: {}}, {sync: {speed: 3}}, {render: r9}]\n"))

    assert "jump" in message
    assert "speed" in message


@pytest.mark.parametrize("field", ["kind", "id", "title", "area", "rule", "why", "verified"])
def test_each_field_of_the_head_is_needed(tmp_path: Path, field: str) -> None:
    head = "".join(line for line in HEAD.splitlines(keepends=True) if not line.startswith(f"{field}:"))

    assert f"{field}: Field required" in fault(write(tmp_path, head=head))


def test_a_document_of_another_kind_is_refused(tmp_path: Path) -> None:
    assert "kind" in fault(write(tmp_path, head=HEAD.replace("kind: Case", "kind: Pod")))
    assert "the file" in fault(write(tmp_path, head="- a list\n"))
