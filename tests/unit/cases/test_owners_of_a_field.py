"""All managers of a field, from managedFields."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.runner.owners import owners_of

LIVE: dict[str, Any] = {
    "metadata": {
        "managedFields": [
            {
                "manager": "convoy",
                "fieldsV1": {
                    "f:data": {"f:a": {}, "f:x/y": {}},
                    "f:spec": {"f:ports": {'k:{"port":80}': {".": {}, "f:name": {}}}, "f:args": {}},
                },
            },
            {"manager": "editor", "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:b": {}}}},
            {"manager": "nobody"},
        ]
    },
    "data": {"a": "1", "b": "2", "x/y": "3"},
    "spec": {"ports": [{"port": 443, "name": "t"}, {"port": 80, "name": "p"}], "args": ["one", "two"]},
}


@pytest.mark.parametrize(
    ("pointer", "managers"),
    [
        ("/data/a", {"convoy", "editor"}),
        ("/data/b", {"editor"}),
        ("/data/x~1y", {"convoy"}),
        ("/data/none", set()),
        ("/spec/ports/1/name", {"convoy"}),
        ("/spec/ports/0/name", set()),
        ("/spec/args", {"convoy"}),
        ("/spec/args/1", {"convoy"}),
    ],
)
def test_each_manager_of_the_field_or_of_the_atomic_whole_is_found(pointer: str, managers: set[str]) -> None:
    assert owners_of(LIVE, pointer) == managers
