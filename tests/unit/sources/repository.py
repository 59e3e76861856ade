"""A git repository with two commits, tags and a branch."""

from __future__ import annotations

import subprocess
from pathlib import Path

GIT = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]


class Repository:
    """`main` is at the second commit; tag v1.2.0 (annotated) at the first, v1.3.0-rc.1 at the second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet")
        self.first = self.commit("a.yaml", "one")
        self.git("tag", "-a", "v1.2.0", "-m", "first")
        self.git("branch", "release/1")
        self.second = self.commit("a.yaml", "two")
        self.git("tag", "v1.3.0-rc.1")
        self.git("tag", "nightly")

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *arguments: str) -> str:
        done = subprocess.run([*GIT, *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", text)
        return self.git("rev-parse", "HEAD")
