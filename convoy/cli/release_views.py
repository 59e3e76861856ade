"""Commands that look at Releases: list, get, tree, history, events."""

from __future__ import annotations

import click

from convoy.api.objects import Manifest
from convoy.cli.arguments import all_namespaces, data_output, release_name, resource_output, selector
from convoy.cli.output import Data, Format, note, print_table, print_tree, say, short_ref
from convoy.cli.session import Session, connected
from convoy.kube.resources import EVENTS, INVENTORIES, RELEASES

_ROLLOUTS = {"Progressing": "being rolled out", "Failed": "failed", "RolledBack": "failed, rolled back"}
_STORED = {"pin": "pin", "lastHealthy": "rollback"}
"""How a person calls what brought a stored render."""


@click.command("list")
@all_namespaces
@selector
@resource_output
@connected
def list_releases(
    session: Session, all_namespaces: bool, selector: str | None, output: Format | None
) -> None:
    """List Releases."""
    from convoy.cli.listing import print_list

    print_list(session, RELEASES, all_namespaces=all_namespaces, selector=selector, output=output)


@click.command()
@release_name
@resource_output
@connected
def get(session: Session, name: str, output: Format | None) -> None:
    """Show a Release: conditions, waves, hooks, health."""
    tree = session.api.get(RELEASES, session.namespace, name)
    if output is None:
        from convoy.cli.describe import describe_release

        for line in describe_release(tree):
            say(line)
        return
    from convoy.cli.listing import print_one

    print_one(session, RELEASES, tree, output)


@click.command()
@release_name
@data_output
@connected
def tree(session: Session, name: str, output: Data | None) -> None:
    """Show the applied objects by wave."""
    from convoy.cli.tree import draw, tree_of
    from convoy.kube.errors import NotFound

    release = session.api.get(RELEASES, session.namespace, name)
    try:
        inventory = session.api.get(INVENTORIES, session.namespace, name)
    except NotFound:
        inventory = {}
    found = tree_of(release, inventory)
    if output is not None:
        print_tree(found, output)
    else:
        draw(found)


@click.command()
@release_name
@resource_output
@connected
def history(session: Session, name: str, output: Format | None) -> None:
    """Show the applied renders, newest first.

    With -o wide or name their whole renderRefs.
    """
    from convoy.cli.ages import age

    answer = session.subresource("GET", name, "history")
    if output in (Format.JSON, Format.YAML):
        print_tree(answer, output)
        return
    items = answer.get("items") or ()
    if output is Format.NAME:
        for item in items:
            say(item["renderRef"])
        return
    if not items:
        note(f"Release {session.namespace}/{name} has not been applied yet.")
        return
    header = ["RENDER", "REVISION", "APPLIED", "HEALTHY", "TRIGGER", "OBJECTS", "CHANGES", "STORED"]
    rows = [
        [
            (item["renderRef"] if output is Format.WIDE else short_ref(item["renderRef"])) + _mark(item),
            item.get("revision"),
            age(item.get("appliedAt")),
            age(item.get("healthyAt")),
            _trigger(item),
            item.get("objects", ""),
            _changes(item.get("changes")),
            "yes" if item.get("stored") else "no",
        ]
        for item in items
    ]
    print_table(header, rows)


@click.command()
@release_name
@resource_output
@connected
def events(session: Session, name: str, output: Format | None) -> None:
    """Show the events of a Release, oldest first."""
    from convoy.cli.ages import age

    selector = f"regarding.kind=Release,regarding.name={name}"
    session.api.get(RELEASES, session.namespace, name)
    items = [
        {"apiVersion": EVENTS.api_version, "kind": EVENTS.kind, **item}
        for page in session.api.list(EVENTS, session.namespace, fieldSelector=selector)
        for item in page.get("items") or ()
    ]
    items.sort(key=_last_seen)
    if output in (Format.JSON, Format.YAML):
        listed = {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items}
        print_tree(listed, output)
        return
    if output is Format.NAME:
        for item in items:
            say(f"event.{EVENTS.group}/{item['metadata']['name']}")
        return
    if not items:
        note(f"No events about Release {session.namespace}/{name}.")
        return
    wide = output is Format.WIDE
    print_table(
        ["LAST SEEN", "TYPE", "REASON", *(["COUNT", "FROM"] if wide else []), "MESSAGE"],
        [
            [
                age(_last_seen(item)),
                item.get("type"),
                item.get("reason"),
                *(
                    [(item.get("series") or {}).get("count", 1), item.get("reportingInstance")]
                    if wide
                    else []
                ),
                item.get("note"),
            ]
            for item in items
        ],
    )


def _last_seen(event: dict[str, object]) -> str:
    series = event.get("series")
    last = series.get("lastObservedTime") if isinstance(series, dict) else None
    return str(last or event.get("eventTime") or event.get("deprecatedLastTimestamp") or "")


def _mark(item: Manifest) -> str:
    """Say what holds a render, and what became of its rollout."""
    told = ["pinned"] if item.get("pinned") else []
    if item.get("rollout") in _ROLLOUTS:
        told.append(_ROLLOUTS[item["rollout"]])
    return f" ({', '.join(told)})" if told else ""


def _trigger(item: Manifest) -> str:
    """Say what brought a render, and that it was a pin or a rollback where it was not the source."""
    why = _STORED.get(item.get("desired", ""))
    return (item.get("trigger") or "") + (f" ({why})" if why else "")


def _changes(changes: dict[str, list[object]] | None) -> str:
    if changes is None:
        return ""
    signs = (("+", "added"), ("-", "removed"), ("~", "changed"))
    told = [f"{sign}{len(changes[kind])}" for sign, kind in signs if changes.get(kind)]
    return " ".join(told) or "none"


COMMANDS = (list_releases, get, tree, history, events)
