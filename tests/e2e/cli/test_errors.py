"""Whatever goes wrong is one line on stderr that says what, and a code."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.e2e.cli.conftest import Cli, environment_of
from tests.e2e.harness.convoy import Convoy
from tests.e2e.tenant import Tenant, config_map

EVERY = [
    ["release", "get"],
    ["release", "tree"],
    ["release", "history"],
    ["release", "events"],
    ["release", "preview"],
    ["release", "sync"],
    ["release", "unpin"],
    ["release", "rollback"],
    ["release", "approve"],
    ["release", "suspend"],
    ["release", "resume"],
    ["cluster", "get"],
    ["cluster", "check"],
]


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
async def test_a_name_that_nothing_has(cli: Cli, command: list[str]) -> None:
    assert '"nobody" not found' in await cli.refused(*command, "nobody")


@pytest.mark.parametrize("command", ["diff", "check"])
async def test_an_error_is_no_difference(cli: Cli, command: str) -> None:
    assert '"nobody" not found' in await cli.refused("release", command, "nobody", code=2)
    refused = await cli.refused("release", command, "nobody", "--context", "nowhere", code=2)
    assert "no context 'nowhere'" in refused


async def test_acting_as_somebody_counts_the_groups_too(
    cli: Cli, tenant: Tenant, convoy: Convoy, tmp_path: Path
) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)})
    tree = yaml.safe_load(convoy.stack.kubeconfig.read_bytes())
    tree["users"][0]["user"] |= {
        "as": "nobody",
        "as-uid": "7",
        "as-groups": ["other", "system:masters"],
        "as-user-extra": {"example.org/reason": ["a test"]},
    }
    kubeconfig = tmp_path / "master"
    kubeconfig.write_text(yaml.safe_dump(tree))
    master = Cli(environment_of(kubeconfig), cli.namespace, cli.kubectl)
    assert (await master("release", "list", "-o", "name")).lines == ["release.convoy.kumodo.io/shop"]


async def test_what_the_user_may_not_do(cli: Cli, tenant: Tenant, convoy: Convoy, tmp_path: Path) -> None:
    await tenant.release("shop", {"a.yaml": config_map("a", tenant.namespace)}, policy={"automatic": False})
    await tenant.applied("shop", "WaitingForSync")
    tree = yaml.safe_load(convoy.stack.kubeconfig.read_bytes())
    tree["users"][0]["user"]["as"] = "system:serviceaccount:default:nobody"
    kubeconfig = tmp_path / "nobody"
    kubeconfig.write_text(yaml.safe_dump(tree))
    nobody = Cli(environment_of(kubeconfig), cli.namespace, cli.kubectl)
    for words in (["list"], ["sync", "shop"], ["diff", "shop"], ["pin", "shop", "sha256:" + "0" * 64]):
        done = await nobody.anywhere("release", *words, "-n", cli.namespace)
        assert done.code > 0
        assert done.error.count("\n") == 1
        assert "forbidden" in done.error
        assert done.out == ""


async def test_kubeconfigs_that_lead_nowhere(cli: Cli, tmp_path: Path) -> None:
    assert "does not exist" in await cli.refused("release", "list", "--kubeconfig", str(tmp_path / "none"))
    assert "no context 'nowhere'" in await cli.refused("release", "list", "--context", "nowhere")
    broken = tmp_path / "broken"
    broken.write_text("contexts:\n- token: [s3cret\n")
    refused = await cli.refused("release", "list", "--kubeconfig", str(broken))
    assert "(line " in refused
    assert "s3cret" not in refused


async def test_a_server_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "config"
    tree = {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x"}}],
        "clusters": [{"name": "x", "cluster": {"server": "https://127.0.0.1:9"}}],
    }
    kubeconfig.write_text(yaml.safe_dump(tree))
    refused = await cli.refused("release", "list", "--kubeconfig", str(kubeconfig))
    assert refused == "https://127.0.0.1:9 cannot be reached: Connection refused"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nope"], "No such command 'nope'"),
        (["release"], "Missing command"),
        (["release", "get"], "Missing argument 'NAME'"),
        (["release", "list", "--nope"], "No such option '--nope'"),
        (["release", "list", "-o", "xml"], "'xml' is not one of"),
    ],
)
async def test_a_wrong_command_line(cli: Cli, words: list[str], told: str) -> None:
    refused = (await cli.anywhere(*words)).failed(2)
    assert told in refused
    assert "--help" in refused
