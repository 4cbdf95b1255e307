import os
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.programs.canopy.git import ask_git
from swarm_bench.programs.canopy.index.discovery import discover
from swarm_bench.programs.canopy.remote import find_uncommitted

Git = Callable[..., None]


def test_an_answer_and_none(repo: Path, tmp_path: Path) -> None:
    assert ask_git(repo, "ls-files", "docs") == "docs/guide.md\n"
    assert ask_git(tmp_path, "ls-files") is None


def test_a_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert ask_git(tmp_path, "status", seconds=0.2) is None


def test_git_gets_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nenv\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("CANOPY_API_KEY", "sesame")
    said = ask_git(tmp_path, "status") or ""
    assert "GIT_NO_LAZY_FETCH=1" in said
    assert "sesame" not in said


@pytest.fixture
def program(tmp_path: Path) -> str:
    """One that leaves a file `ran` beside itself."""
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\ncat\n")
    path.chmod(0o755)
    return str(path)


def plant_filter(git: Git, root: Path, name: str, program: str) -> None:
    """A filter that git runs to learn whether `src/auth.py` was edited."""
    (root / ".gitattributes").write_text(f"*.py filter={name}\n")
    for key, value in (("clean", program), ("process", program), ("required", "true")):
        git(root, "config", f"filter.{name}.{key}", value)
    os.utime(root / "src" / "auth.py", (1, 1))


@pytest.mark.parametrize("name", ["evil", "e=v.i=l"])
def test_a_filter_of_a_checkout_does_not_run(
    repo: Path, git: Git, program: str, tmp_path: Path, name: str
) -> None:
    plant_filter(git, repo, name, program)
    assert find_uncommitted(repo) == {".gitattributes"}
    assert discover(repo, None, ())
    assert not (tmp_path / "ran").exists()


def test_a_filter_of_a_submodule_does_not_run(
    repo: Path, git: Git, program: str, tmp_path: Path
) -> None:
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", str(outer))
    add = ("submodule", "--quiet", "add", str(repo), "inner")
    git(outer, "-c", "protocol.file.allow=always", *add)
    git(outer, "commit", "-qm", "first")
    plant_filter(git, outer / "inner", "evil", program)
    assert find_uncommitted(outer) == set()
    assert not (tmp_path / "ran").exists()


def test_an_object_that_is_missing_is_not_fetched(
    repo: Path, git: Git, program: str, tmp_path: Path
) -> None:
    ignored = repo / ".gitignore"
    ignored.write_text("build/\n")
    git(repo, "add", ".gitignore")
    git(repo, "update-index", "--skip-worktree", ".gitignore")
    ignored.unlink()
    blob = ask_git(repo, "rev-parse", ":.gitignore") or ""
    (repo / ".git" / "objects" / blob[:2] / blob[2:].strip()).unlink()
    settings = {"promisor": "true", "url": str(tmp_path), "uploadpack": program}
    for key, value in {**settings, "partialCloneFilter": "blob:none"}.items():
        git(repo, "config", f"remote.evil.{key}", value)
    git(repo, "config", "core.repositoryFormatVersion", "1")
    git(repo, "config", "extensions.partialClone", "evil")
    assert discover(repo, None, ())
    find_uncommitted(repo)
    assert not (tmp_path / "ran").exists()
