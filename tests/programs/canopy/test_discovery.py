import os
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.programs.canopy.index.discovery import discover


def _write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")


TREE = (
    "a.py", "b.png", "deep/er/c.ts", "node_modules/d.js", "x.min.js", "package-lock.json",
    "build/e.py", "kept/build/f.py", "log.txt", "deep/log.txt", "deep/keep.txt", ".hidden/g.md",
)  # fmt: skip
EXPECTED = {"a.py", "deep/er/c.ts", "deep/keep.txt", ".hidden/g.md", "kept/build/f.py"}


@pytest.mark.parametrize("is_checkout", [True, False])
def test_ignored_files_are_left_out_with_git_and_without(
    tmp_path: Path, git: Callable[..., None], *, is_checkout: bool
) -> None:
    _write(tmp_path, *TREE)
    (tmp_path / ".gitignore").write_text("/build/\n*.txt\n")
    (tmp_path / "deep" / ".gitignore").write_text("!keep.txt\n")
    if is_checkout:
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "a.py")
    assert set(discover(tmp_path, None, ())) == EXPECTED


def test_a_plain_folder_inside_an_ignored_one_is_seen_whole(
    tmp_path: Path, git: Callable[..., None]
) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("installed/\n")
    _write(tmp_path, "installed/a.py")
    assert set(discover(tmp_path / "installed", None, ())) == {"a.py"}


@pytest.mark.parametrize("line", ["!", "x\\", "[z-a]", "[", "//", "\0"])
def test_a_line_that_is_no_pattern_excludes_nothing(tmp_path: Path, line: str) -> None:
    _write(tmp_path, "a.py", "b.py")
    (tmp_path / ".gitignore").write_text(f"{line}\nb.py\n")
    assert set(discover(tmp_path, None, ())) == {"a.py"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    _write(tmp_path, "outside/secret.py", "root/a.py")
    root = tmp_path / "root"
    (root / "file.py").symlink_to(tmp_path / "outside" / "secret.py")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    assert set(discover(root, None, ())) == {"a.py"}


def test_a_glob_widens_what_is_found(tmp_path: Path) -> None:
    _write(tmp_path, "a.py", "b.rb")
    assert set(discover(tmp_path, "**/*.rb", ())) == {"b.rb"}
    assert set(discover(tmp_path, None, {"b.rb"})) == {"a.py", "b.rb"}


def test_awkward_names(tmp_path: Path) -> None:
    names = {"a b.py", "q'\".py", "é漢.py", "new\nline.py", "[x]{y}*.py"}
    _write(tmp_path, *names)
    Path(os.fsdecode(bytes(tmp_path) + b"/\xff.py")).write_text("x")
    assert set(discover(tmp_path, None, ())) == names


def test_a_deleted_tracked_file_is_not_found(repo: Path) -> None:
    (repo / "src" / "auth.py").unlink()
    assert "src/auth.py" not in discover(repo, None, ())


def test_a_checkout_cannot_make_us_run_programs(
    repo: Path, git: Callable[..., None], tmp_path: Path
) -> None:
    program = tmp_path / "monitor"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    program.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(program))
    assert discover(repo, None, ())
    assert not (tmp_path / "ran").exists()
