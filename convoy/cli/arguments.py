"""Arguments and flags that several commands take."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import click

from convoy.cli.completion import cluster_names, release_names
from convoy.cli.output import Data, Format


class OneOf(click.Choice[str]):
    """The values of an enumeration, handed on as its members."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([each.value for each in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StrEnum:
        """Return the member. Raises click.BadParameter."""
        return self._kind(super().convert(value, param, ctx))


release_name = click.argument("name", metavar="NAME", shell_complete=release_names)
cluster_name = click.argument("name", metavar="NAME", shell_complete=cluster_names)
all_namespaces = click.option("--all-namespaces", "-A", is_flag=True, help="Of all namespaces.")
selector = click.option("--selector", "-l", help="Label selector, such as app=shop.")
resource_output = click.option("--output", "-o", type=OneOf(Format), help="Output format.")
data_output = click.option("--output", "-o", type=OneOf(Data), help="Output format.")
