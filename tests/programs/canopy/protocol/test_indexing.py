"""canopy_status, canopy_index, canopy_invalidate, and when a server indexes by itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.programs.canopy.protocol.conftest import FILES, checkout

STATUS = {
    "files_indexed", "total_tokens", "schema_version", "index_size_bytes", "last_indexed",
    "repo_root", "file_discovery", "feedback",
}  # fmt: skip
FEEDBACK = {
    "glob_hit_rate_at_k", "handle_expand_accept_rate", "avg_tokens_per_expand", "sample_count",
}  # fmt: skip
TEXTS = len(FILES) - 1
"""Files of the default glob: all but .gitignore."""


def test_status(mcp: Any, repo: Any, backend: Any) -> None:
    before = mcp.json("canopy_status")
    assert set(before) == STATUS
    assert set(before["feedback"]) == FEEDBACK
    assert (before["files_indexed"], before["total_tokens"]) == (0, 0)
    assert before["last_indexed"] is None
    assert (before["schema_version"], before["repo_root"]) == (3, str(repo.root))
    discovery = {"git"} if backend.is_embedded else {"fd", "ripgrep", "ignore-crate"}
    assert before["file_discovery"] in discovery
    mcp.json("canopy_query", symbol="login")
    after = mcp.json("canopy_status")
    assert after["files_indexed"] == TEXTS
    assert after["total_tokens"] > 0
    assert after["last_indexed"].endswith(" seconds ago")
    assert after["feedback"]["sample_count"] == 1


def test_index_answers_for_the_files_of_its_glob(mcp: Any, repo: Any) -> None:
    first = mcp.json("canopy_index", glob="**/*.py")
    assert set(first) == {
        "files_indexed", "files_skipped", "total_tokens", "index_size_bytes", "repo_root",
    }  # fmt: skip
    assert (first["files_indexed"], first["files_skipped"]) == (3, 0)
    assert first["repo_root"] == str(repo.root)
    other = mcp.json("canopy_index", glob="**/*.go")
    assert (other["files_indexed"], other["files_skipped"]) == (2, 0)
    again = mcp.json("canopy_index", glob="**/*.py")
    assert (again["files_indexed"], again["files_skipped"]) == (0, 3)
    assert again["total_tokens"] == first["total_tokens"] > 0
    assert mcp.json("canopy_status")["files_indexed"] == 5


def test_other_files_can_be_indexed_by_their_glob(mcp: Any, repo: Any) -> None:
    repo.edit("tool.cfg", "speed = 88\n")
    assert mcp.json("canopy_index", glob="*.cfg")["files_indexed"] == 1
    (found,) = mcp.json("canopy_query", pattern="88")["handles"]
    assert (found["file_path"], found["node_type"]) == ("tool.cfg", "chunk")


def test_invalidate(mcp: Any) -> None:
    mcp.json("canopy_query", symbol="login")
    assert mcp.text("canopy_invalidate", glob="*.md") == "Invalidated 2 files"
    assert mcp.text("canopy_invalidate") == f"Invalidated {TEXTS - 2} files"
    status = mcp.json("canopy_status")
    assert (status["files_indexed"], status["last_indexed"]) == (0, None)
    # An empty index is filled by the next query.
    assert mcp.json("canopy_query", symbol="logout")["total_matches"] == 1


def test_an_edit_is_picked_up_by_ours_only(mcp: Any, repo: Any, backend: Any) -> None:
    """canopy does not look again once a small repository is indexed, until it is told to."""
    mcp.json("canopy_query", symbol="login")
    repo.edit("src/later.py", "def later(): pass\n")
    found = mcp.json("canopy_query", symbol="later")["handles"]
    assert bool(found) is backend.is_embedded
    mcp.json("canopy_index", glob="**/*.py")
    assert mcp.json("canopy_query", symbol="later")["total_matches"] == 1


def test_a_part_of_the_index_stands_for_the_whole_with_canopy(mcp: Any, backend: Any) -> None:
    """A repository that has any file indexed counts as done: what else there is stays unfound."""
    mcp.json("canopy_index", glob="**/*.go")
    found = mcp.json("canopy_query", symbol="login")["handles"]
    assert bool(found) is backend.is_embedded


def test_the_first_use_edits_gitignore_with_canopy(
    start_mcp: Callable[..., Any], tmp_path: Path, backend: Any
) -> None:
    repo = checkout(tmp_path, {"a.py": "def one(): pass\n"})
    server = start_mcp("--root", str(repo.root))
    server.json("canopy_status")
    changed = repo.git("status", "--porcelain", "-uall")
    assert changed == ("" if backend.is_embedded else "?? .gitignore\n")
