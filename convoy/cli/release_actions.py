"""Commands that change what a Release does: sync, pin, unpin, rollback, approve, suspend, resume."""

from __future__ import annotations

import click

from convoy.api.objects import Manifest
from convoy.cli.afterwards import changes_release
from convoy.cli.arguments import release_name
from convoy.cli.errors import Failure
from convoy.cli.hooks import hooks_of
from convoy.cli.output import note, say, short_ref
from convoy.cli.refs import find_ref
from convoy.cli.session import NoSubresources, Session
from convoy.kube.resources import RELEASES


@click.command()
@release_name
@click.option(
    "--force", is_flag=True, help="Apply again although nothing changed, and prune beyond maxPercent."
)
@click.option("--wait", is_flag=True, help="Wait until the sync has its result.")
@click.option(
    "--timeout", default="5m", show_default=True, help="With --wait: how long at most, such as 90s or 5m."
)
@changes_release
def sync(session: Session, name: str, force: bool, wait: bool, timeout: str) -> None:
    """Ask for a sync now.

    Ends with 1 if the sync fails. With --wait a failure is told at once, although convoy tries again later.
    """
    from convoy.cli.waiting import seconds_of, wait_for

    seconds = seconds_of(timeout)
    before = session.api.get(RELEASES, session.namespace, name)
    params = {"force": "true"} if force else {}
    try:
        requested = session.subresource("POST", name, "sync", params=params)["requestedAt"]
    except NoSubresources as reason:
        requested = _annotate(session, name, force=force, reason=reason)
    say(f"{_subject(name)} {'forced ' if force else ''}sync requested ({requested})")
    if wait:
        wait_for(session, name, requested=requested, before=before, seconds=seconds)


def _annotate(session: Session, name: str, *, force: bool, reason: NoSubresources) -> str:
    """Write the request as the annotation that it is, which who may patch the Release may do."""
    from datetime import UTC, datetime

    from convoy.kube.annotate import sync_patch
    from convoy.kube.errors import Conflict, Forbidden

    for _ in range(10):
        tree = session.api.get(RELEASES, session.namespace, name)
        requested, patch = sync_patch(tree, now=datetime.now(UTC), force=force)
        try:
            session.api.merge(RELEASES, session.namespace, name, patch)
        except Conflict:
            continue
        except Forbidden:
            raise reason from None
        note("note: this cluster has no aggregated API of convoy: the request was written as an annotation")
        return requested
    raise Failure(f"Release {session.namespace}/{name} is being changed all the time: try again")


@click.command()
@release_name
@click.argument("ref", metavar="REF")
@changes_release
def pin(session: Session, name: str, ref: str) -> None:
    """Hold a Release on a stored render.

    REF is a renderRef, or as much of it as `history` shows.
    """
    found = find_ref(session, name, ref)
    _pin(session, name, found)
    say(f"{_subject(name)} pinned to {found}")


@click.command()
@release_name
@changes_release
def unpin(session: Session, name: str) -> None:
    """Let a Release follow its source again."""
    session.subresource("DELETE", name, "pin")
    say(f"{_subject(name)} unpinned")


@click.command()
@release_name
@changes_release
def rollback(session: Session, name: str) -> None:
    """Pin the render that was applied before.

    That is the newest in the history with another renderRef than the applied one, and not the one that has failed.
    """
    from convoy.api.conditions import FAILED_ROLLOUTS
    from convoy.sync.release_status import applied_ref

    tree = session.api.get(RELEASES, session.namespace, name)
    status = tree.get("status") or {}
    applied = applied_ref(tree)
    rollout = status.get("rollout") or {}
    failed = rollout.get("renderRef") if rollout.get("phase") in FAILED_ROLLOUTS else None
    others = [entry for entry in status.get("history") or () if entry["renderRef"] not in (applied, failed)]
    if not others:
        raise Failure(f"Release {session.namespace}/{name} has no other render in its history")
    target = others[0]
    _pin(session, name, target["renderRef"])
    say(f"{_subject(name)} rolled back to {target['renderRef']} ({target.get('revision') or 'no revision'})")
    note(f"The Release stays on it until `kubectl convoy release unpin {name} -n {session.namespace}`.")


@click.command()
@release_name
@click.option("--hook", help="Which hook. Default: the only one that waits.")
@changes_release
def approve(session: Session, name: str, hook: str | None) -> None:
    """Approve a hook that waits for a person."""
    chosen = hook or _waiting(session.api.get(RELEASES, session.namespace, name))
    session.subresource("POST", name, "approve", params={"hook": chosen})
    say(f"{_subject(name)} hook {chosen} approved")


@click.command()
@release_name
@changes_release
def suspend(session: Session, name: str) -> None:
    """Stop reconciling a Release."""
    session.api.merge(RELEASES, session.namespace, name, {"spec": {"suspend": True}})
    say(f"{_subject(name)} suspended")


@click.command()
@release_name
@changes_release
def resume(session: Session, name: str) -> None:
    """Reconcile a Release again."""
    session.api.merge(RELEASES, session.namespace, name, {"spec": {"suspend": False}})
    say(f"{_subject(name)} resumed")


def _pin(session: Session, name: str, ref: str) -> None:
    from convoy.kube.errors import NotFound

    try:
        session.subresource("PUT", name, "pin", body={"renderRef": ref})
    except NotFound as error:
        known = [f"{short_ref(cause.field)} ({cause.message})" for cause in error.causes]
        raise Failure(f"{error.message}" + (f"; known are {', '.join(known)}" if known else "")) from None


def _waiting(tree: Manifest) -> str:
    subject = f"Release {tree['metadata']['namespace']}/{tree['metadata']['name']}"
    waiting = [hook["name"] for hook in hooks_of(tree) if hook["waits"]]
    if not waiting:
        raise Failure(f"no hook of {subject} waits for an approval")
    if len(waiting) > 1:
        raise Failure(f"several hooks of {subject} wait, choose one by --hook: {', '.join(waiting)}")
    return str(waiting[0])


def _subject(name: str) -> str:
    return f"release.{RELEASES.group}/{name}"


COMMANDS = (sync, pin, unpin, rollback, approve, suspend, resume)
