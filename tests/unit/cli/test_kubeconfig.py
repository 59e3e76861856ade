"""The user's kubeconfig is read as kubectl reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from convoy.cli.errors import Failure
from convoy.cli.kubeconfig import read_server


def kubeconfig(path: Path, *, user: dict[str, Any] | None = None, name: str = "one", **cluster: Any) -> Path:
    tree = {
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "team"}}],
        "clusters": [{"name": name, "cluster": {"server": f"http://{name}.example", **cluster}}],
        "users": [{"name": name, "user": user or {}}],
    }
    path.write_text(yaml.safe_dump(tree))
    return path


def plugin(path: Path, script: str) -> dict[str, Any]:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {
        "exec": {
            "command": str(path),
            "apiVersion": "client.authentication.k8s.io/v1",
            "installHint": "get it",
        }
    }


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)


def test_a_token_and_the_context_s_namespace(tmp_path: Path) -> None:
    server = read_server(str(kubeconfig(tmp_path / "a", user={"token": "s3cret"})))
    assert (server.url, server.namespace) == ("http://one.example", "team")
    assert server.headers == [("Authorization", "Bearer s3cret")]
    assert "s3cret" not in repr(server)


def test_a_token_file_is_found_beside_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t\n")
    server = read_server(str(kubeconfig(tmp_path / "a", user={"tokenFile": "token"})))
    assert server.headers == [("Authorization", "Bearer t")]


def test_a_token_file_wins_over_a_token_and_falls_back_to_it(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "a", user={"tokenFile": "token", "token": "old"})
    assert read_server(str(path)).headers == [("Authorization", "Bearer old")]
    (tmp_path / "token").write_text("renewed\n")
    assert read_server(str(path)).headers == [("Authorization", "Bearer renewed")]


def test_all_of_who_to_act_as_is_sent(tmp_path: Path) -> None:
    user = {
        "as": "jürgen",
        "as-uid": "7",
        "as-groups": ["dev", "ops"],
        "as-user-extra": {"scopes": ["read", "write"], "example.org/team": ["a"]},
    }
    assert read_server(str(kubeconfig(tmp_path / "a", user=user))).headers == [
        ("Impersonate-User", "jürgen".encode().decode("latin-1")),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-example.org%2Fteam", "a"),
        ("Impersonate-Extra-scopes", "read"),
        ("Impersonate-Extra-scopes", "write"),
    ]


def test_several_files_are_merged_and_the_first_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = kubeconfig(tmp_path / "a"), kubeconfig(tmp_path / "b", name="two")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'none'}:{first}:{second}")
    assert read_server().url == "http://one.example"
    assert read_server(context="two").url == "http://two.example"


def test_the_default_is_in_the_home(tmp_path: Path) -> None:
    (tmp_path / "home" / ".kube").mkdir(parents=True)
    kubeconfig(tmp_path / "home" / ".kube" / "config")
    assert read_server().url == "http://one.example"


def test_a_plugin_gives_the_token(tmp_path: Path) -> None:
    answer = json.dumps({"kind": "ExecCredential", "status": {"token": "fresh"}})
    user = plugin(tmp_path / "plugin", f"test -n \"$KUBERNETES_EXEC_INFO\" && echo '{answer}'")
    server = read_server(str(kubeconfig(tmp_path / "a", user=user)))
    assert server.headers == [("Authorization", "Bearer fresh")]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 3", "ended with code 3"),
        ("echo no", "answered no ExecCredential"),
        ("echo []", "answered no"),
        ("""echo '{"status": []}'""", "answered no"),
        ("""echo '{"status": {"token": 5}}'""", "answered: token must be a text"),
    ],
)
def test_a_plugin_that_fails_is_named(tmp_path: Path, script: str, told: str) -> None:
    path = kubeconfig(tmp_path / "a", user=plugin(tmp_path / "plugin", script))
    with pytest.raises(Failure, match=told):
        read_server(str(path))


def test_a_plugin_that_is_not_installed_tells_its_hint(tmp_path: Path) -> None:
    user = plugin(tmp_path / "plugin", "")
    (tmp_path / "plugin").unlink()
    with pytest.raises(Failure, match=r"cannot be run: No such file or directory \(get it\)"):
        read_server(str(kubeconfig(tmp_path / "a", user=user)))


@pytest.mark.parametrize(
    ("user", "cluster", "told"),
    [
        ({"auth-provider": {"name": "gcp"}}, {}, "auth-provider"),
        ({"tokenFile": "none"}, {}, "cannot be used"),
        ({"as-groups": ["system:masters"]}, {}, "need `as`"),
        (
            {},
            {"server": "https://x", "certificate-authority-data": "bm8="},
            "cannot be used",
        ),
    ],
)
def test_what_cannot_be_used_is_told(
    tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], told: str
) -> None:
    path = kubeconfig(tmp_path / "a", user=user, **cluster)
    with pytest.raises(Failure, match=told):
        read_server(str(path))


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        ("words", "it must be a mapping"),
        ({"contexts": "one"}, "contexts must be a list"),
        ({"clusters": {"one": {}}}, "clusters must be a list"),
        ({"users": ["one"]}, r"users\[0\] must be a mapping"),
        ({"users": [{"name": ["one"]}]}, r"users\[0\].name must be a text"),
        ({"users": [{"user": "s3cret"}]}, r"users\[0\].user must be a mapping"),
        ({"users": [{"user": {"token": 53}}]}, r"users\[0\].user.token must be a text"),
        ({"users": [{"user": {"as-groups": "dev"}}]}, r"user.as-groups must be a list"),
        ({"users": [{"user": {"as-user-extra": {"team": "a"}}}]}, r"as-user-extra.team must be a list"),
        (
            {"users": [{"user": {"exec": {"env": [{"name": "A"}, "B=1"]}}}]},
            r"exec.env\[1\] must be a mapping",
        ),
        ({"clusters": [{"cluster": {"insecure-skip-tls-verify": "false"}}]}, "must be true or false"),
        ({"contexts": [{"context": {"namespace": 5}}]}, r"contexts\[0\].context.namespace must be a text"),
        ({"current-context": ["one"]}, "current-context must be a text"),
    ],
)
def test_what_is_of_the_wrong_type_is_named_and_not_shown(tmp_path: Path, tree: object, told: str) -> None:
    path = tmp_path / "a"
    path.write_text(yaml.safe_dump(tree))
    with pytest.raises(Failure, match=told) as failed:
        read_server(str(path))
    assert str(path) in failed.value.message
    assert "s3cret" not in failed.value.message


def test_what_is_null_is_not_there(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "a", user={"token": None, "exec": None, "as-groups": None})
    path.write_text(path.read_text() + "preferences: {}\nkind: Config\n")
    assert read_server(str(path)).headers == []
    path.write_text("users: [null]\ncontexts: null\n")
    with pytest.raises(Failure, match="set KUBECONFIG"):
        read_server(str(path))


def test_no_kubeconfig_at_all() -> None:
    with pytest.raises(Failure, match="set KUBECONFIG"):
        read_server()
