"""Scout with servers that it was not made for."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.programs.scout.conftest import FILES, Done, citations

SERVER = Path(__file__).with_name("foreign_server.py")
SEARCH, READ = "mcp__library__search_code", "mcp__library__read_file"


def library(*options: str) -> str:
    server = {"command": sys.executable, "args": [str(SERVER), *options]}
    return "--mcp-config=" + json.dumps({"mcpServers": {"library": server}})


def test_it_searches_reads_and_cites_what_came_back(
    scout: Callable[..., Done], workspace: Path
) -> None:
    done = scout(library())
    assert done.calls[0] == [SEARCH]
    assert set(done.calls[1]) == {"Read"}  # the server's reader gives whole files only
    assert len(done.calls) == 3  # and then the answer
    answer = done.result["result"]
    assert ("shop/auth.py", 2) in citations(answer)
    for path, line in citations(answer):
        assert line <= len(FILES[path].splitlines())
    # What has no use is named; what changes things is left alone, and is no loss.
    assert done.result["swarm_bench"]["unusable_tools"] == ["mcp__library__explain"]
    assert all((workspace / name).exists() for name in FILES)


def test_a_reader_takes_the_place_of_the_built_in_one(scout: Callable[..., Done]) -> None:
    done = scout(library("--read-only"))
    assert [set(calls) for calls in done.calls] == [{"Grep", "Glob"}, {"Grep"}, {READ}, set()]
    assert ("shop/auth.py", 2) in citations(done.result["result"])


def test_a_server_that_serves_another_folder_is_no_loss(
    scout: Callable[..., Done], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    answer = scout(library("--root", str(elsewhere))).result["result"]
    assert answer == scout().result["result"]


def test_without_such_servers_nothing_is_told(scout: Callable[..., Done], workspace: Path) -> None:
    done = scout()
    assert "unusable_tools" not in done.result["swarm_bench"]
    assert str(workspace) not in done.result["result"]
