"""Arguments and flags that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import click

from convoy.cli.completion import cluster_names, release_names
from convoy.cli.output import Data, Format
from convoy.kube.resources import CLUSTERS, RELEASES, Resource


class OneOf(click.Choice[str]):
    """The values of an enumeration, handed on as its members."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([each.value for each in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StrEnum:
        """Return the member. Raises click.BadParameter."""
        return self._kind(super().convert(value, param, ctx))


def _name_of(resource: Resource) -> Callable[[click.Context, click.Parameter, str], str]:
    """Take NAME, and what `-o name` prints of it; a slash in any other would lead to another resource."""

    def read(context: click.Context, parameter: click.Parameter, given: str) -> str:
        del context, parameter
        kind, slash, name = given.partition("/")
        kinds = (resource.kind.lower(), resource.plural)
        known = (*kinds, *(f"{each}.{resource.group}" for each in kinds))
        if not slash:
            return given
        if kind.lower() not in known or not name or "/" in name:
            raise click.BadParameter(f"{given!r} is not the name of a {resource.kind}")
        return name

    return read


release_name = click.argument(
    "name", metavar="NAME", shell_complete=release_names, callback=_name_of(RELEASES)
)
cluster_name = click.argument(
    "name", metavar="NAME", shell_complete=cluster_names, callback=_name_of(CLUSTERS)
)
all_namespaces = click.option("--all-namespaces", "-A", is_flag=True, help="Of all namespaces.")
selector = click.option("--selector", "-l", help="Label selector, such as app=shop.")
resource_output = click.option("--output", "-o", type=OneOf(Format), help="Output format.")
data_output = click.option("--output", "-o", type=OneOf(Data), help="Output format.")
