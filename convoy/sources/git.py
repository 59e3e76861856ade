"""A git repository, through the git program.

An unchanged repository costs one `git ls-remote`. A new commit is fetched alone (depth 1), written to a
folder named after it, and kept for the next pass and for other Releases of the same namespace; another
namespace has to show its own credentials and gets its own copy. The files of a commit are limited in number
and size before any is written. Submodules and LFS objects are not fetched.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from convoy.api.errors import SourceNotReady, Unsupported
from convoy.api.source import GitRef, GitSource
from convoy.kube.client import KubeClient
from convoy.kube.errors import ApiError, NotFound
from convoy.kube.resources import SECRETS
from convoy.sources.fetched import Fetched, SourceOptions
from convoy.sources.git_credentials import Credentials, environment, read_credentials
from convoy.sources.git_refs import Wanted, choose, patterns, read_advertised
from convoy.sources.git_url import GitUrl, parse_git_url, safe_addresses
from convoy.sources.process import ChildFailed, Finished, ProcessLimits, run
from convoy.sources.sweep import sweep, touch
from convoy.sources.work import put_into_place, work_folder

MAX_FILES: Final = 50_000
MAX_BYTES: Final = 512 * 1024 * 1024
_FULL_SHA: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KEEP_SECONDS: Final = 3600.0
_TELLING: Final = re.compile(
    r"^(fatal|error|remote|ssh|Load key)\b|Permission denied|Host key verification|host key is known|^Connection "
)
_HINTS: Final = {
    "returned error: 30": "redirects are not followed: use the URL that it leads to, often with .git at its end",
    "could not read Username": "the server wants credentials, or does not take those of secretRef",
}

_checkouts: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()


async def fetch_git(
    source: GitSource, namespace: str, *, home: KubeClient, cache: Path, options: SourceOptions
) -> Fetched:
    """Find the commit that the source means now; its files are downloaded when the folder is opened.

    Raises:
        SourceNotReady: unreachable, refused, no such ref, or the Secret is missing; the message names the
        URL. Unsupported: the URL or the ref is nothing that convoy takes.
    """
    url = parse_git_url(source.url, allow_file=options.allow_private_addresses)
    asked = patterns(source.ref)
    credentials = await _credentials(source, namespace, url, home)
    owner = f"{namespace}\0{url.text}\0{source.secret_ref.name if source.secret_ref else ''}"
    folder = cache / "git" / hashlib.sha256(owner.encode()).hexdigest()[:32]
    repository = _Repository(url, credentials, folder, options)
    if source.ref.commit is not None:
        sha = await repository.full_sha(source.ref.commit.lower())
        wanted = Wanted(sha, "")
    else:
        wanted = await repository.find(source.ref, asked)
    return Fetched(wanted.revision, f"git:{wanted.sha}", lambda: repository.checkout(wanted.sha))


async def _credentials(source: GitSource, namespace: str, url: GitUrl, home: KubeClient) -> Credentials:
    if source.secret_ref is None:
        if url.scheme == "ssh":
            raise SourceNotReady(
                f"{url.text}: an ssh URL needs secretRef with the keys identity and known_hosts"
            )
        return Credentials()
    subject = f"Secret {namespace}/{source.secret_ref.name} of spec.source.git.secretRef"
    try:
        secret = await home.get(SECRETS, namespace, source.secret_ref.name)
    except NotFound:
        raise SourceNotReady(f"{subject} is missing") from None
    except ApiError as error:
        raise SourceNotReady(f"{subject} cannot be read: {error.message}") from None
    return read_credentials(secret, url, subject=subject)


@dataclass(frozen=True, slots=True)
class _Repository:
    """One repository as one namespace sees it."""

    url: GitUrl
    credentials: Credentials
    folder: Path
    """Holds a folder of files for each commit that was fetched."""
    options: SourceOptions = field(repr=False)

    async def find(self, ref: GitRef, asked: Sequence[str]) -> Wanted:
        """Ask the server what a branch, a tag or a range means now."""
        async with self._git(empty_repository=False) as git:
            answer = await git("ls-remote", "--symref", "--", self.url.text, *asked)
        return choose(ref, read_advertised(answer.output.decode(errors="replace")), url=self.url.text)

    async def full_sha(self, commit: str) -> str:
        """Complete a commit that may be shortened."""
        if _FULL_SHA.fullmatch(commit):
            return commit
        known = [path.name for path in self.folder.glob(f"{commit}*") if _FULL_SHA.fullmatch(path.name)]
        if len(known) == 1:
            return known[0]
        async with self._git() as git:
            await self._fetch_all(git)
            found = await git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", check=False)
        if found.code != 0:
            raise SourceNotReady(f"{self.url.text} has no commit {commit}")
        return found.output.decode().strip()

    @asynccontextmanager
    async def checkout(self, sha: str) -> AsyncIterator[Path]:
        """Open the folder with the files of a commit; download it if it is not here yet."""
        target = self.folder / sha
        lock = _checkouts.setdefault(target, asyncio.Lock())
        async with lock:
            if not await asyncio.to_thread(touch, target):
                await self._download(sha, target)
        yield target

    async def _download(self, sha: str, target: Path) -> None:
        async with self._git() as git:
            alone = await git(
                "fetch", "--quiet", "--depth=1", "--no-tags", "--", self.url.text, sha, check=False
            )
            if alone.code != 0:
                # Servers may hide commits that no ref names; their history shows them.
                await self._fetch_all(git)
            if (await git("cat-file", "-e", f"{sha}^{{commit}}", check=False)).code != 0:
                raise SourceNotReady(f"{self.url.text} has no commit {sha}")
            _check_size(await git("ls-tree", "-r", "-l", "-z", sha), self.url.text)
            await git("checkout", "--quiet", "--force", "--detach", sha)
            await put_into_place(git.files, target)
        await asyncio.to_thread(sweep, self.folder, older_than=_KEEP_SECONDS)

    async def _fetch_all(self, git: _Git) -> None:
        await git(
            "fetch",
            "--quiet",
            "--",
            self.url.text,
            "+refs/heads/*:refs/remotes/origin/*",
            "+refs/tags/*:refs/tags/*",
        )

    def _git(self, *, empty_repository: bool = True) -> AbstractAsyncContextManager[_Git]:
        return _git(self.url, self.credentials, self.folder, self.options, empty_repository=empty_repository)


@dataclass(frozen=True, slots=True)
class _Git:
    """git in a work folder of its own."""

    files: Path
    env: Mapping[str, str] = field(repr=False)
    url: GitUrl
    credentials: Credentials
    options: SourceOptions

    async def __call__(self, *arguments: str, check: bool = True) -> Finished:
        limits = ProcessLimits(seconds=self.options.timeout)
        try:
            done = await run([self.options.git, *arguments], cwd=self.files, env=self.env, limits=limits)
        except ChildFailed as error:
            raise SourceNotReady(f"{self.url.text}: {error} (git {arguments[0]})") from None
        if check and done.code != 0:
            raise SourceNotReady(f"{self.url.text}: {self._said(done)}")
        return done

    def _said(self, done: Finished) -> str:
        lines = [line.strip() for line in done.errors.splitlines() if line.strip()]
        wanted = [line for line in lines if _TELLING.search(line)] or lines
        text = self.credentials.scrub("; ".join(wanted[:4]))[:500] or f"git ended with code {done.code}"
        hint = next((hint for sign, hint in _HINTS.items() if sign in text), None)
        return f"{text} ({hint})" if hint is not None else text


@asynccontextmanager
async def _git(
    url: GitUrl, credentials: Credentials, folder: Path, options: SourceOptions, *, empty_repository: bool
) -> AsyncIterator[_Git]:
    addresses: tuple[str, ...] = ()
    if not options.allow_private_addresses:
        try:
            async with asyncio.timeout(options.timeout):
                addresses = await safe_addresses(url, allowed=options.allowed_networks)
        except TimeoutError:
            raise SourceNotReady(
                f"{url.text}: {url.host} was not resolved in {options.timeout:g} s"
            ) from None
    async with work_folder(folder) as work:
        for name in ("home", "files"):
            await asyncio.to_thread((work / name).mkdir, 0o700)
        env = environment(work / "home", url, credentials, addresses=addresses, seconds=options.timeout)
        place = {"GIT_CEILING_DIRECTORIES": str(work)}
        if empty_repository:
            place = {"GIT_DIR": str(work / "repository"), "GIT_WORK_TREE": str(work / "files")}
        git = _Git(work / "files", {**env, **place}, url, credentials, options)
        if empty_repository:
            await git("init", "--quiet", "--template=")
        yield git


def _check_size(listing: Finished, url: str) -> None:
    sizes = []
    for entry in listing.output.split(b"\0"):
        fields = entry.partition(b"\t")[0].split()
        if len(fields) == 4 and fields[3].isdigit():
            sizes.append(int(fields[3]))
    if len(sizes) > MAX_FILES or sum(sizes) > MAX_BYTES:
        raise Unsupported(
            f"{url}: the commit has {len(sizes)} files of {sum(sizes)} bytes; "
            f"at most {MAX_FILES} files of {MAX_BYTES} bytes are taken"
        )
