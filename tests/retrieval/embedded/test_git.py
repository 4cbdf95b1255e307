from pathlib import Path

import pytest

from swarm_bench.retrieval.embedded.git import ask_git


def test_an_answer_and_none(repo: Path, tmp_path: Path) -> None:
    assert ask_git(repo, "ls-files", "docs") == "docs/guide.md\n"
    assert ask_git(tmp_path, "ls-files") is None


def test_a_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 30\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert ask_git(tmp_path, "status", seconds=0.2) is None
