"""`list` and `get` of any of convoy's resources, printed as `kubectl get` prints them: the server makes the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convoy.api.objects import Manifest
from convoy.cli.output import Format, name_of, note, print_object, print_table, print_tree, say
from convoy.cli.session import Session
from convoy.kube.resources import Resource


def print_list(
    session: Session,
    resource: Resource,
    *,
    all_namespaces: bool,
    selector: str | None,
    output: Format | None,
) -> None:
    """Print all resources of a kind. Raises ApiError."""
    namespace = None if all_namespaces else session.namespace
    params = {"labelSelector": selector} if selector else {}
    if output in (None, Format.WIDE):
        _print_pages(
            # The rows need their object's namespace only where several are shown.
            session.api.tables(
                resource, namespace, includeObject="Metadata" if all_namespaces else "None", **params
            ),
            wide=output is Format.WIDE,
            all_namespaces=all_namespaces,
            empty="No resources found" + (f" in {namespace} namespace." if namespace else ""),
        )
        return
    items = [
        {"apiVersion": resource.api_version, "kind": resource.kind, **item}
        for page in session.api.list(resource, namespace, **params)
        for item in page.get("items") or ()
    ]
    if output is Format.NAME:
        for item in items:
            say(name_of(item))
        return
    tree = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
    print_tree(tree, str(output))


def print_one(session: Session, resource: Resource, tree: Manifest, output: Format) -> None:
    """Print a resource that was read."""
    if output is Format.WIDE:
        selector = f"metadata.name={tree['metadata']['name']}"
        pages = session.api.tables(resource, session.namespace, fieldSelector=selector)
        _print_pages(pages, wide=True, all_namespaces=False, empty="No resources found")
    else:
        print_object(tree, output)


def _print_pages(pages: Iterator[Manifest], *, wide: bool, all_namespaces: bool, empty: str) -> None:
    header: list[str] = []
    rows: list[list[Any]] = []
    for page in pages:
        shown = [
            index
            for index, column in enumerate(page["columnDefinitions"])
            if wide or not column.get("priority")
        ]
        header = header or [page["columnDefinitions"][index]["name"].upper() for index in shown]
        for row in page.get("rows") or ():
            cells = [row["cells"][index] for index in shown]
            rows.append([row["object"]["metadata"]["namespace"], *cells] if all_namespaces else cells)
    if not rows:
        note(empty)
        return
    print_table(["NAMESPACE", *header] if all_namespaces else header, rows)
