"""What the pages say, checked: a document that nothing checks is wrong within a month.

`.venv/bin/python -m docs.check` prints each fault and fails if there is one; it is part of `make check`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click
import yaml

from convoy.api import names
from convoy.api.cluster import Cluster
from convoy.api.errors import Unsupported, error_classes
from convoy.api.release import Release
from convoy.cli.main import app
from docs.generate import DOCS, pages

ROOT: Final = DOCS.parent
PAGES: Final = (
    "*.md",
    "docs/**/*.md",
    "examples/**/*.md",
    "deploy/**/*.md",
    "bench/**/*.md",
    "tests/**/*.md",
)
CODE: Final = ("convoy", "workflows", "activities", "watcher", "workers", "deploy", "bench", "tests", "docs")

_LINK: Final = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE_SPAN: Final = re.compile(r"`[^`\n]+`")
_MAKE: Final = re.compile(r"(?:^ {4}|`)make ([a-z]+)", re.MULTILINE)
_COMMAND: Final = re.compile(r"(?:^(?: {4}|\$ |)|`)kubectl[ -]convoy((?: [a-z_-]+)+)", re.MULTILINE)
_RULE: Final = re.compile(r"\bD([0-9]{1,2}b?)\b")
_SPECIFICATION: Final = re.compile(r"`?reference/(apply-and-prune|drift|sync-policy|[a-z]+-[a-z-]+)`?")
_MACHINE: Final = re.compile(r"(?<![\w.-])/(?:tmp|root|home)/|\.\./shared")


def page_paths() -> list[Path]:
    """Return every page of the repository, generated ones included."""
    found = {path for pattern in PAGES for path in ROOT.glob(pattern)}
    return sorted(path for path in found if ".venv" not in path.parts and ".state" not in path.parts)


def stale_pages() -> Iterator[str]:
    """Generated pages are what the models and settings say."""
    for name, text in pages().items():
        path = DOCS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield f"docs/{name}: not current; run: .venv/bin/python -m docs.generate"


def broken_links(path: Path, text: str) -> Iterator[str]:
    """Links to files and to headings lead somewhere."""
    prose = _CODE_SPAN.sub("", _BLOCK.sub("", text))
    for link in _LINK.findall(prose):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            yield f"{link} leads nowhere"
        elif anchor and anchor not in _anchors(target):
            yield f"{link}: there is no such heading"


def invalid_resources(path: Path, text: str) -> Iterator[str]:
    """Releases and Clusters in YAML blocks are valid."""
    del path
    for language, body in _BLOCK.findall(text):
        if language != "yaml":
            continue
        try:
            documents = [each for each in yaml.safe_load_all(body) if isinstance(each, dict)]
        except yaml.YAMLError as error:
            yield f"a YAML block cannot be read: {' '.join(str(error).split())}"
            continue
        for document in documents:
            yield from _faults_of(document)


def unknown_targets(path: Path, text: str) -> Iterator[str]:
    """Every make target that is named exists."""
    del path
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    known = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for target in _MAKE.findall(text):
        if target not in known:
            yield f"make {target}: the Makefile has no such target"


def unknown_commands(path: Path, text: str) -> Iterator[str]:
    """Every command of kubectl convoy that is named exists."""
    del path
    for words in _COMMAND.findall(text):
        command: click.Command = app
        for word in words.split():
            if not isinstance(command, click.Group):
                break
            if word not in command.commands:
                yield f"kubectl convoy{words}: there is no command {word!r}"
                break
            command = command.commands[word]


def machine_paths(path: Path, text: str) -> Iterator[str]:
    """No page names a place that is only on somebody's machine."""
    del path
    for found in _MACHINE.findall(text):
        yield f"{found} is a place of one machine"


def untold_names() -> Iterator[str]:
    """Each reason has its line, each annotation and finalizer too."""
    reasons = (DOCS / "conditions-and-reasons.md").read_text(encoding="utf-8")
    for reason in error_classes():
        if f"`{reason}`" not in reasons:
            yield f"docs/conditions-and-reasons.md does not tell of the reason {reason}"
    annotations = (DOCS / "reference" / "annotations.md").read_text(encoding="utf-8")
    for constant, value in vars(names).items():
        is_name = constant.isupper() and "/" in value and value != names.API_VERSION
        if is_name and f"`{value}`" not in annotations:
            yield f"docs/reference/annotations.md does not tell of {value}"


def unexplained_citations() -> Iterator[str]:
    """What code cites, as D14 or `reference/drift`, is in the design pages."""
    rules = set(
        re.findall(r"\*\*D([0-9]+b?)\*\*", (DOCS / "design" / "rules.md").read_text(encoding="utf-8"))
    )
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            where = path.relative_to(ROOT)
            for number in sorted(set(_RULE.findall(text)) - rules):
                yield f"{where} cites D{number}, which docs/design/rules.md does not explain"
            for name in sorted(set(_SPECIFICATION.findall(text))):
                if not (DOCS / "behaviour" / f"{name}.md").exists():
                    yield f"{where} cites reference/{name}, and there is no docs/behaviour/{name}.md"


def faults() -> list[str]:
    """Return everything that is wrong with the pages."""
    checks: tuple[Callable[[Path, str], Iterator[str]], ...] = (
        broken_links,
        invalid_resources,
        unknown_targets,
        unknown_commands,
        machine_paths,
    )
    found = [*stale_pages(), *untold_names(), *unexplained_citations()]
    for path in page_paths():
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(ROOT)
        found += [f"{where}: {fault}" for check in checks for fault in check(path, text)]
    return found


def _anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as the forges make them."""
    headings = re.findall(r"^#+ (.+)$", _BLOCK.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _faults_of(document: dict[str, object]) -> Iterator[str]:
    try:
        if document.get("kind") == "Cluster":
            Cluster.read(document)
        elif document.get("kind") == "Release":
            Release.read(document)
    except Unsupported as error:
        yield f"a {document['kind']} in a YAML block is not valid: {error.message}"


if __name__ == "__main__":
    wrong = faults()
    print("\n".join(wrong) or f"docs: {len(page_paths())} pages, nothing wrong")
    sys.exit(1 if wrong else 0)
