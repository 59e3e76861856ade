"""How differences are written for a person and for tools."""

from __future__ import annotations

from typing import Any

import pytest

from convoy.cli.differences import print_readable, print_unified

WEB: dict[str, Any] = {
    "group": "apps",
    "kind": "Deployment",
    "namespace": "shop",
    "name": "web",
    "status": "Modified",
    "changes": [
        {
            "pointer": "/spec/replicas",
            "live": 5,
            "desired": 2,
            "owner": {"manager": "kubectl-edit", "operation": "Update", "time": ""},
        },
        {"pointer": "/metadata/labels", "live": {"a": "1", "b": "2"}},
        {"pointer": "/spec/text", "desired": "one\ntwo\n"},
    ],
}
GONE = {"group": "", "kind": "Namespace", "namespace": "", "name": "shop", "status": "Missing", "changes": []}


def test_readable(capsys: pytest.CaptureFixture[str]) -> None:
    print_readable([WEB, GONE])
    assert capsys.readouterr().out == (
        "Deployment.apps shop/web  Modified\n"
        "  /spec/replicas  (owner: kubectl-edit, Update)\n"
        "    - 5\n"
        "    + 2\n"
        "  /metadata/labels\n"
        "    - a: '1'\n"
        "    - b: '2'\n"
        "  /spec/text\n"
        "    + |\n"
        "    +   one\n"
        "    +   two\n"
        "\n"
        "Namespace shop  Missing\n"
        "\n"
    )


def test_unified(capsys: pytest.CaptureFixture[str]) -> None:
    print_unified([WEB, GONE])
    assert capsys.readouterr().out == (
        "--- live/shop/Deployment.apps/web\n"
        "+++ desired/shop/Deployment.apps/web\n"
        "@@ -1,2 +1,2 @@\n"
        "-/spec/replicas: 5\n"
        "+/spec/replicas: 2\n"
        '-/metadata/labels: {"a": "1", "b": "2"}\n'
        '+/spec/text: "one\\ntwo\\n"\n'
        "--- /dev/null\n"
        "+++ desired/Namespace/shop\n"
        "@@ -0,0 +1 @@\n"
        '+: "the object is missing"\n'
    )


def test_control_characters_of_the_target_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = {"pointer": "/data/\x1b[8m", "live": "one\ttab\r\n\x1b]52;c;aGk=\x07two\n", "desired": "\x9b1m"}
    print_readable([{**WEB, "status": "Modified", "changes": [text]}])
    assert capsys.readouterr().out.splitlines()[1:-1] == [
        "  /data/\\u001b[8m",
        "    - |",
        "    -   one\ttab\\u000d",
        "    -   \\u001b]52;c;aGk=\\u0007two",
        '    + "\\u009b1m"',
    ]
    print_unified([{**WEB, "changes": [text]}])
    assert not set("\x1b\x9b\x07\r") & set(capsys.readouterr().out)
