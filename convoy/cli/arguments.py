"""Arguments that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

from convoy.cli.completion import cluster_names, release_names

ReleaseName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the Release.", autocompletion=release_names)
]
ClusterName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the Cluster.", autocompletion=cluster_names)
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="Of all namespaces.")]
Selector = Annotated[str | None, typer.Option("--selector", "-l", help="Label selector, such as app=shop.")]
