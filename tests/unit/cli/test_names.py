"""A NAME is what kubectl and `-o name` print of a resource, and never a path to another one."""

from __future__ import annotations

import click
import pytest

from convoy.cli.arguments import cluster_name, release_name


@click.command()
@release_name
def of_release(name: str) -> None:
    click.echo(name)


@click.command()
@cluster_name
def of_cluster(name: str) -> None:
    click.echo(name)


@pytest.mark.parametrize("given", ["shop", "release/shop", "releases/shop", "release.convoy.kumodo.io/shop"])
def test_the_name_of_a_release_may_have_its_kind_before_it(given: str) -> None:
    assert of_release.make_context("", [given]).params == {"name": "shop"}


def test_the_name_of_a_cluster_may_have_its_kind_before_it() -> None:
    assert of_cluster.make_context("", ["cluster/west"]).params == {"name": "west"}


@pytest.mark.parametrize("given", ["shop/status", "shop/", "/shop", "release/shop/status", "cluster/shop"])
def test_any_other_slash_is_refused(given: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is not the name of a Release") as caught:
        of_release.make_context("", [given])
    assert caught.value.exit_code == 2
