"""`$NS` and `$ID` are replaced in the text of the file, before it is read."""

from __future__ import annotations

import re
from pathlib import Path

from tests.e2e.runner.case import Tokens, name_of, read_case
from tests.e2e.runner.steps import Live, Remove
from tests.unit.cases.writing import write

BODY = """\
renders:
  r: {a.yaml: "ns: $NS, more: $NS-more, id: $ID, $SEQ"}
steps:
- live: {objects: [{metadata: {name: $ID-role, namespace: $NS}}]}
- remove: {object: ConfigMap $NS-more/box}
"""


def test_tokens_are_replaced_everywhere(tmp_path: Path) -> None:
    case = read_case(write(tmp_path, BODY), Tokens("case-1", "c1"))

    assert case.renders["r"] == {"a.yaml": "ns: case-1, more: case-1-more, id: c1, $SEQ"}
    live, remove = case.steps
    assert isinstance(live, Live)
    assert live.objects == ({"metadata": {"name": "c1-role", "namespace": "case-1"}},)
    assert isinstance(remove, Remove)
    assert remove.object == "ConfigMap case-1-more/box"


def test_each_run_has_new_ones_that_fit_names_of_everything() -> None:
    first, second = Tokens(), Tokens()

    assert first != second
    assert re.fullmatch(r"[a-z][a-z0-9]*", first.id)
    assert re.fullmatch(r"[a-z][a-z0-9-]*", first.namespace)
    assert len(first.namespace) < 20


def test_the_test_is_named_by_id_and_title(tmp_path: Path) -> None:
    assert name_of(write(tmp_path)) == "X01 something happens"
    assert name_of(write(tmp_path, "no: such field")) == "01-case.yaml"
