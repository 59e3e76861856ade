"""What a git server advertises, and which of it a Release wants. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import GitRef
from convoy.sources.semver_range import BadRange, highest

_LINE: Final = re.compile(r"(?P<sha>[0-9a-f]{40}|[0-9a-f]{64})\t(?P<name>\S+)")
_SYMREF: Final = re.compile(r"ref: refs/heads/(?P<branch>\S+)\tHEAD")
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|^[-/]|/$|\.lock$")
_PEELED: Final = "^{}"


@dataclass(frozen=True, slots=True)
class Advertised:
    """The answer of `git ls-remote --symref`."""

    refs: dict[str, str] = field(default_factory=dict)
    """Full name to commit; an annotated tag's commit, not the tag object."""
    default_branch: str | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """One commit, and how people know it."""

    sha: str
    name: str

    @property
    def revision(self) -> str:
        """`main@sha1:…`; without a name `sha1:…`."""
        digest = f"{'sha1' if len(self.sha) == 40 else 'sha256'}:{self.sha}"
        return f"{self.name}@{digest}" if self.name else digest


def patterns(ref: GitRef) -> list[str]:
    """Return what to ask the server for; a server of today then sends nothing else.

    Raises:
        Unsupported: the name can be no branch or tag.
    """
    for name in (ref.branch, ref.tag):
        if name is not None and _FORBIDDEN.search(name):
            raise Unsupported(f"spec.source.git.ref: {name!r} can be no name of a branch or tag")
    if ref.branch is not None:
        return [f"refs/heads/{ref.branch}"]
    if ref.tag is not None:
        return [f"refs/tags/{ref.tag}", f"refs/tags/{ref.tag}{_PEELED}"]
    return ["refs/tags/*"] if ref.semver is not None else ["HEAD"]


def read_advertised(text: str) -> Advertised:
    """Read the output of `git ls-remote --symref`."""
    refs: dict[str, str] = {}
    peeled: dict[str, str] = {}
    branch = None
    for line in text.splitlines():
        if found := _SYMREF.fullmatch(line):
            branch = found["branch"]
        elif found := _LINE.fullmatch(line):
            name = found["name"]
            (peeled if name.endswith(_PEELED) else refs)[name.removesuffix(_PEELED)] = found["sha"]
    return Advertised({**refs, **peeled}, branch)


def choose(ref: GitRef, advertised: Advertised, *, url: str) -> Wanted:
    """Return the commit that the ref means now.

    Raises:
        SourceNotReady: the repository has no such branch, tag or version.
        Unsupported: the semver range is none.
    """
    refs = advertised.refs
    if ref.branch is not None:
        return _found(refs, f"refs/heads/{ref.branch}", ref.branch, f"{url} has no branch {ref.branch}")
    if ref.tag is not None:
        return _found(refs, f"refs/tags/{ref.tag}", ref.tag, f"{url} has no tag {ref.tag}")
    if ref.semver is not None:
        tags = [name.removeprefix("refs/tags/") for name in refs if name.startswith("refs/tags/")]
        try:
            tag = highest(tags, ref.semver)
        except BadRange as error:
            raise Unsupported(f"spec.source.git.ref.semver: {error}") from None
        return _found(refs, f"refs/tags/{tag}", tag or "", f"{url} has no tag in the range {ref.semver!r}")
    return _found(refs, "HEAD", advertised.default_branch or "HEAD", f"{url} has no commit yet")


def _found(refs: dict[str, str], full_name: str, name: str, missing: str) -> Wanted:
    if full_name not in refs:
        raise SourceNotReady(missing)
    return Wanted(refs[full_name], name)
