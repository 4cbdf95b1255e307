import os
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.canopy.index.indexing import Index
from swarm_bench.programs.canopy.nodes import Handle
from swarm_bench.programs.canopy.parameters import Search
from swarm_bench.programs.canopy.search.finder import Finder


def _find(index: Index, pattern: str) -> list[Handle]:
    return Finder(index.store(), str(index.root)).run(Search(pattern=pattern))


@pytest.fixture
def index(repo: Path) -> Any:
    index = Index(repo)
    yield index
    index.close()


def test_new_edited_and_deleted_files_are_picked_up(index: Index, repo: Path) -> None:
    assert index.refresh().indexed == 4
    (repo / "src" / "new.py").write_text("def brandnew(): pass\n")
    (repo / "src" / "auth.py").write_text("def edited(): pass\n")
    (repo / "settings.json").unlink()
    assert index.refresh().indexed == 2
    assert [each.path for each in _find(index, "brandnew")] == ["src/new.py"]
    assert [each.path for each in _find(index, "edited")] == ["src/auth.py"]
    assert _find(index, "AuthController") == []
    assert _find(index, "secret") == []


def test_an_edit_of_the_same_length_is_picked_up(index: Index, repo: Path) -> None:
    index.refresh()
    file = repo / "settings.json"
    file.write_text(file.read_text().replace("secret", "hidden"))
    index.refresh()
    assert len(_find(index, "hidden")) == 1


def test_nothing_is_written_when_nothing_changed(index: Index, repo: Path) -> None:
    index.refresh()
    index.close()
    file = repo / ".canopy" / "index.db"
    before = file.stat().st_mtime_ns
    again = Index(repo)
    assert again.refresh().indexed == 0
    assert _find(again, "login")
    again.close()
    assert file.stat().st_mtime_ns == before


def test_the_index_file_is_complete_when_indexing_ends(index: Index, repo: Path) -> None:
    index.refresh()
    wal = repo / ".canopy" / "index.db-wal"
    assert not wal.exists() or wal.stat().st_size == 0


def test_a_touched_file_is_not_parsed_again(index: Index, repo: Path) -> None:
    index.refresh()
    os.utime(repo / "src" / "auth.py", (1, 1))
    assert index.refresh().indexed == 0
    assert len(_find(index, "AuthController")) == 1


def test_files_that_are_no_text_are_skipped_and_remembered(index: Index, repo: Path) -> None:
    (repo / "binary.txt").write_bytes(b"a\0b")
    (repo / "latin.txt").write_bytes(b"caf\xe9")
    (repo / "locked.txt").write_text("x")
    (repo / "empty.txt").write_text("")
    assert index.refresh().skipped == 2
    file = repo / ".canopy" / "index.db"
    before = file.stat().st_mtime_ns
    assert index.refresh().indexed == 0
    assert file.stat().st_mtime_ns == before


def test_the_checkout_stays_clean(index: Index, repo: Path, git: Callable[..., None]) -> None:
    index.refresh()
    git(repo, "diff", "--exit-code")
    git(repo, "add", "-A")
    git(repo, "diff", "--cached", "--exit-code")


def test_a_damaged_index_is_made_anew(index: Index, repo: Path) -> None:
    (repo / ".canopy").mkdir()
    (repo / ".canopy" / "index.db").write_bytes(b"no database at all" * 1000)
    assert index.refresh().indexed == 4


def test_another_programs_index_is_left_alone(index: Index, repo: Path) -> None:
    (repo / ".canopy").mkdir()
    connection = sqlite3.connect(repo / ".canopy" / "index.db")
    connection.execute("CREATE TABLE files (path TEXT)")
    connection.close()
    with pytest.raises(ToolError, match="another program"):
        index.refresh()


def test_a_canopy_folder_that_leads_elsewhere_is_refused(
    index: Index, repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / ".canopy").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ToolError, match="symbolic link"):
        index.refresh()


@pytest.mark.parametrize("name", ["index.db", "index.lock", "feedback.db", ".gitignore"])
def test_nothing_in_the_canopy_folder_may_lead_elsewhere(
    index: Index, repo: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "precious"
    outside.write_text("kept")
    (repo / ".canopy").mkdir()
    (repo / ".canopy" / name).symlink_to(outside)
    with pytest.raises(ToolError, match="symbolic link"):
        index.refresh()
    assert outside.read_text() == "kept"


def test_the_index_may_be_removed_under_a_running_server(index: Index, repo: Path) -> None:
    index.refresh()
    for file in (repo / ".canopy").iterdir():
        file.unlink()
    (repo / ".canopy").rmdir()
    assert index.refresh().indexed == 4


def test_invalidated_files_are_read_again(index: Index) -> None:
    index.refresh()
    assert index.invalidate("src/**") == 2
    assert _find(index, "AuthController") == []
    assert index.refresh().indexed == 2
    assert len(_find(index, "AuthController")) == 1


def test_an_index_with_mostly_dead_rows_is_made_anew(index: Index, repo: Path) -> None:
    body = "\n".join(f"def f{number}(): pass" for number in range(400))
    for turn in range(5):
        (repo / "src" / "many.py").write_text(f"turn = {turn}\n{body}\n")
        index.refresh()
    (rows,) = index.store().connection.execute("SELECT count(*) FROM texts_docsize").fetchone()
    assert rows < 1500
    assert len(_find(index, "f399")) == 1
    assert len(_find(index, "AuthController")) == 1


def _many_files(root: Path, count: int) -> None:
    body = "\n".join(f"def name_{number}(value):\n    return value + 1\n" for number in range(80))
    for number in range(count):
        (root / f"many_{number}.py").write_text(f"def only_{number}(): pass\n{body}")


def test_servers_that_start_together_share_one_index(
    repo: Path, start_mcp: Callable[..., Any]
) -> None:
    _many_files(repo, 150)
    servers = [start_mcp("--root", str(repo)) for _ in range(6)]
    request = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
        '{"name":"canopy_query","arguments":{"symbol":"only_149"}}}'
    )
    for server in servers:
        server.write(request)
    for server in servers:
        assert "only_149" in server.read()["result"]["content"][0]["text"]
    connection = sqlite3.connect(repo / ".canopy" / "feedback.db")
    indexed = [row[0] for row in connection.execute("SELECT files_indexed FROM query_events")]
    connection.close()
    assert sorted(indexed) == [0, 0, 0, 0, 0, 154]


def test_a_killed_server_leaves_an_index_that_the_next_one_completes(
    repo: Path, start_mcp: Callable[..., Any]
) -> None:
    _many_files(repo, 260)
    first = start_mcp("--root", str(repo))
    first.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"canopy_query",'
                '"arguments":{"symbol":"only_1"}}}')  # fmt: skip
    wal = repo / ".canopy" / "index.db-wal"
    while not wal.exists() or wal.stat().st_size < 500_000:
        assert first.process.poll() is None
        time.sleep(0.005)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    second = start_mcp("--root", str(repo))
    for number in (0, 130, 259):
        found = second.json("canopy_query", symbol=f"only_{number}")
        assert [each["file_path"] for each in found["handles"]] == [f"many_{number}.py"]
    assert second.json("canopy_status")["files_indexed"] == 264
