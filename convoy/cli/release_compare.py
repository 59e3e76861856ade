"""Commands that compare: diff, check, preview. They end as `kubectl diff` does: 0 equal, 1 different, 2 an error."""

from __future__ import annotations

from enum import StrEnum

import click

from convoy.cli.arguments import OneOf, data_output, release_name
from convoy.cli.errors import errors_end_with
from convoy.cli.output import Data, ObjectFormat, key_in, note, print_tree, say
from convoy.cli.refs import find_ref
from convoy.cli.session import Session, connected

EQUAL, DIFFERENT, ERROR = 0, 1, 2


class DiffFormat(StrEnum):
    """`-o` of diff."""

    UNIFIED = "unified"
    JSON = "json"
    YAML = "yaml"


@click.command()
@release_name
@click.option("--render", metavar="REF", help="Compare with this stored render.")
@click.option("--output", "-o", type=OneOf(DiffFormat), help="Output format. unified: for tools.")
@errors_end_with(ERROR)
@connected
def diff(session: Session, name: str, render: str | None, output: DiffFormat | None) -> int:
    """Compare the live objects with the desired render.

    Ends with 0 if there is no difference, with 1 if there is one, above 1 if it cannot be told.
    """
    params = {"render": find_ref(session, name, render)} if render else {}
    answer = session.subresource("GET", name, "diff", params=params)
    drifted = [found for found in answer.get("objects") or () if found["status"] != "InSync"]
    if output in (DiffFormat.JSON, DiffFormat.YAML):
        print_tree(answer, str(output))
    elif output is DiffFormat.UNIFIED:
        from convoy.cli.differences import print_unified

        print_unified(drifted)
    else:
        from convoy.cli.differences import print_readable

        print_readable(drifted)
        verdict = answer["inSync"]
        if verdict["status"] == "True":
            say(verdict["message"])
    return _code(answer["inSync"])


@click.command()
@release_name
@data_output
@errors_end_with(ERROR)
@connected
def check(session: Session, name: str, output: Data | None) -> int:
    """Make a drift pass now.

    Ends with 0 if the Release is in sync, with 1 if it drifted, above 1 if it cannot be told.
    """
    answer = session.subresource("POST", name, "check")
    verdict = answer["verdict"]
    if output is not None:
        print_tree(answer, output)
    else:
        from convoy.cli.differences import print_readable

        print_readable(answer.get("objects") or ())
        say(f"{verdict}: {answer.get('message') or ''}")
    return {"InSync": EQUAL, "Drifted": DIFFERENT}.get(verdict, ERROR)


@click.command()
@release_name
@click.option("--output", "-o", type=OneOf(ObjectFormat), help="Output format.")
@connected
def preview(session: Session, name: str, output: ObjectFormat | None) -> None:
    """Show what a sync would apply and prune.

    With -o json or yaml the manifests too, with -o name only the objects, in the order of apply.
    """
    answer = session.subresource("GET", name, "preview")
    if output is ObjectFormat.NAME:
        for wave in answer["waves"]:
            for each in wave["objects"]:
                say(str(key_in(each)))
        return
    if output is not None:
        print_tree(answer, output)
        return
    from convoy.cli.plan import print_plan

    print_plan(answer)


def _code(verdict: dict[str, str]) -> int:
    if verdict["status"] == "Unknown":
        note(f"error: {verdict['message']}")
        return ERROR
    return EQUAL if verdict["status"] == "True" else DIFFERENT


COMMANDS = (diff, preview, check)
