"""A case file: its tokens, its fields, and everything that can be wrong with it.

Read without a server, so that a mistake in a file is told by name before anything is created.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from convoy.api.objects import Manifest
from tests.e2e.runner.expectation import Expectation
from tests.e2e.runner.files import File
from tests.e2e.runner.steps import Check, Step, UseRender, read_step
from tests.e2e.runner.strict import OfRelease, Strict

AREAS = Literal[
    "render",
    "dry-run",
    "apply",
    "prune",
    "drift",
    "waves",
    "hooks",
    "health",
    "policy",
    "security",
    "scale",
]

ONE_RELEASE: dict[str, Manifest] = {"a": {}}


class BadCase(Exception):
    """A file that is no case; the message names the file and each thing that is wrong."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What `$NS` and `$ID` stand for in one run of one case."""

    namespace: str = field(default_factory=lambda: f"case-{secrets.token_hex(5)}")
    id: str = field(default_factory=lambda: f"c{secrets.token_hex(5)}")

    def put_into(self, text: str) -> str:
        """Replace the tokens."""
        return text.replace("$NS", self.namespace).replace("$ID", self.id)


class _Head(Strict):
    """The file as it stands; steps are read one by one, for messages that name them."""

    kind: Literal["Case"]
    id: str
    title: str
    area: AREAS
    rule: str
    why: str
    verified: bool
    verified_reason: str | None = None
    releases: dict[str, Manifest] = Field(default_factory=lambda: dict(ONE_RELEASE), min_length=1)
    renders: dict[str, dict[str, File]] = Field(default_factory=dict)
    steps: tuple[Any, ...] = ()
    expect: Expectation = Expectation()


@dataclass(frozen=True, slots=True)
class Case:
    """One case, ready to be run."""

    id: str
    title: str
    releases: dict[str, Manifest]
    renders: dict[str, dict[str, File]]
    steps: tuple[Step, ...]
    expect: Expectation

    def expectations(self) -> Iterator[Expectation]:
        """Every expectation of the case, in order."""
        for step in self.steps:
            if isinstance(step, Check):
                yield step.expectation
        yield self.expect


def read_case(path: Path, tokens: Tokens) -> Case:
    """Read a case file; raises BadCase."""
    try:
        tree = yaml.load(tokens.put_into(path.read_bytes().decode()), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadCase(f"{path.name}: no YAML: {error}") from error
    try:
        head = _Head.model_validate(tree)
    except ValidationError as error:
        raise BadCase(f"{path.name}: {_faults(error, '')}") from None
    steps: list[Step] = []
    faults: list[str] = []
    for number, each in enumerate(head.steps, 1):
        try:
            steps.append(read_step(each))
        except ValidationError as error:
            faults.append(_faults(error, f"step {number} ({next(iter(each))}): "))
        except ValueError as error:
            faults.append(f"step {number}: {error}")
    case = Case(head.id, head.title, head.releases, head.renders, tuple(steps), head.expect)
    faults += _unknown_names(case)
    if faults:
        raise BadCase(f"{path.name}: {'; '.join(faults)}")
    return case


def name_of(path: Path) -> str:
    """Return the test's name: id and title; the file's name where it cannot be read."""
    try:
        case = read_case(path, Tokens())
    except BadCase:
        return path.name
    return f"{case.id} {case.title}"


def _unknown_names(case: Case) -> Iterator[str]:
    for number, step in enumerate(case.steps, 1):
        if isinstance(step, UseRender) and step.use not in case.renders:
            yield f"step {number}: there is no render {step.use!r}"
        if isinstance(step, OfRelease) and step.release not in case.releases:
            yield f"step {number}: there is no Release {step.release!r}"
    for expectation in case.expectations():
        entries: tuple[OfRelease, ...] = (
            *expectation.conditions,
            *expectation.drift,
            *expectation.inventory,
            *expectation.releases,
            *expectation.hooks,
        )
        for name in sorted({entry.release for entry in entries} - case.releases.keys()):
            yield f"expect: there is no Release {name!r}"


def _faults(error: ValidationError, where: str) -> str:
    """Name each field at fault as the file has it."""
    return "; ".join(
        f"{where}{'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False)
    )
