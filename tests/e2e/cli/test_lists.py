"""`list` prints what `kubectl get` prints, and every output format of it."""

from __future__ import annotations

import json

import yaml

from tests.e2e.cli.conftest import Cli, run
from tests.e2e.tenant import Tenant, config_map


async def applied(tenant: Tenant, *names: str) -> None:
    for name in names:
        await tenant.release(name, {"a.yaml": config_map(name, tenant.namespace)})
    for name in names:
        await tenant.applied(name)
        await tenant.in_sync(name)


async def test_the_table_is_that_of_kubectl(cli: Cli, tenant: Tenant) -> None:
    await applied(tenant, "blog", "shop")
    for flags in ([], ["-o", "wide"]):
        ours = await cli("release", "list", *flags)
        theirs = await run(
            cli.kubectl, "get", "releases", "-n", cli.namespace, *flags, environment=cli.environment
        )
        assert _without_age(ours.out) == _without_age(theirs.out)
    assert [line.split()[0] for line in ours.lines] == ["NAME", "blog", "shop"]


def _without_age(table: str) -> list[str]:
    """Cut the column that a second changes."""
    header = table.splitlines()[0]
    start, end = header.index("AGE"), header.index("AGE") + 6
    return [(line[:start] + line[end:]).rstrip() for line in table.splitlines()]


async def test_of_all_namespaces_each_row_says_which(cli: Cli, tenant: Tenant) -> None:
    await applied(tenant, "shop")
    done = (await cli.anywhere("release", "list", "-A")).succeeded()
    assert done.lines[0].startswith("NAMESPACE ")
    assert [cli.namespace, "shop"] in [line.split()[:2] for line in done.lines]


async def test_json_and_yaml_hold_the_whole_resources(cli: Cli, tenant: Tenant) -> None:
    await applied(tenant, "shop")
    for flag in ("-o=json", "-ojson", "--output=json"):
        tree = json.loads((await cli("release", "list", flag)).out)
        assert tree["kind"] == "List"
        (item,) = tree["items"]
        assert (item["apiVersion"], item["kind"]) == ("convoy.kumodo.io/v1alpha1", "Release")
        assert item["spec"]["clusterRef"] == {"name": "here"}
        assert "managedFields" not in item["metadata"]
    assert yaml.safe_load((await cli("release", "list", "-o", "yaml")).out)["items"] == tree["items"]


async def test_names_are_what_kubectl_takes(cli: Cli, tenant: Tenant) -> None:
    await applied(tenant, "shop")
    (name,) = (await cli("release", "list", "-o", "name")).lines
    assert name == "release.convoy.kumodo.io/shop"
    again = await run(
        cli.kubectl, "get", name, "-n", cli.namespace, "-o", "name", environment=cli.environment
    )
    assert again.out.strip() == name


async def test_a_selector_chooses(cli: Cli, tenant: Tenant) -> None:
    await applied(tenant, "blog", "shop")
    await tenant.patch("shop", {"metadata": {"labels": {"team": "a"}}})
    assert (await cli("release", "list", "-l", "team=a", "-o", "name")).lines == [
        "release.convoy.kumodo.io/shop"
    ]


async def test_an_empty_list_is_no_error(cli: Cli) -> None:
    done = await cli("release", "list")
    assert done.out == ""
    assert done.error == f"No resources found in {cli.namespace} namespace.\n"
    assert json.loads((await cli("release", "list", "-o", "json")).out)["items"] == []
