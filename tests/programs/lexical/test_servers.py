"""The shipped searches as processes, asked as their mode files say."""

import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest

from swarm_bench.retrieval.locations import list_files, read_locations
from swarm_bench.retrieval.modes.mode import (
    fill_search_calls,
    find_modes,
    render_command,
    render_servers,
)
from swarm_bench.runtime.mcp.client import Connection, own_server
from swarm_bench.text.tool_roles import role
from tests.builders.golden import Sentences

FILES = {
    "app/sessions.py": "class SessionInterface:\n    def open_session(self): ...\n",
    "app/routing.py": "x = 1\n" * 90 + "def add_rule(session): ...\n",
    "setup.py": "name = 'app'\n",
    "docs/sessions.md": "The session interface.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "workspace"


def ask(
    name: str, workspace: Path, what: Callable[[Connection], Awaitable[str]], path: str = ""
) -> str:
    (mode,) = find_modes([name])
    values = {"workspace": str(workspace)}
    (server,) = render_servers(mode, values, {}).values()

    async def asked() -> str:
        async with own_server(
            server, env={"PATH": path}, cwd=workspace, tag=f"lexical-{workspace}", secrets=()
        ) as connection:
            return await what(connection)

    return anyio.run(asked)


def answer(name: str, workspace: Path, query: str, path: str = "") -> str:
    (mode,) = find_modes([name])
    assert mode.search is not None
    tool, arguments = mode.search.tool, fill_search_calls(mode, query, {}, {})[0]

    async def call(connection: Connection) -> str:
        return (await connection.call(tool, arguments)).text

    return ask(name, workspace, call, path)


def files(text: str, workspace: Path) -> list[str]:
    return list_files(read_locations(text, None, str(workspace), FILES))


@pytest.mark.parametrize("name", ["bm25", "grep"])
def test_the_files_that_fit_a_question_are_named_the_best_first(name: str, workspace: Path) -> None:
    text = answer(name, workspace, "Where is the interface of a session?")
    assert files(text, workspace) == ["app/sessions.py", "app/routing.py"]


@pytest.mark.parametrize("name", ["bm25", "grep"])
def test_a_file_at_the_top_is_named_so_that_it_is_recognised(name: str, workspace: Path) -> None:
    assert files(answer(name, workspace, "the name"), workspace) == ["setup.py"]


def test_bm25_names_the_piece_and_grep_the_lines(workspace: Path, golden: Sentences) -> None:
    for name in ("bm25", "grep"):
        golden(answer(name, workspace, "add_rule"))


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_grep_answers_the_same_with_and_without_ripgrep(workspace: Path) -> None:
    query = "Where is the interface of a session?"
    with_ripgrep = answer("grep", workspace, query, os.environ["PATH"])
    assert with_ripgrep == answer("grep", workspace, query)


@pytest.mark.parametrize("name", ["bm25", "grep"])
def test_nothing_found_is_said(name: str, workspace: Path) -> None:
    assert "No file" in answer(name, workspace, "unheard_of")
    assert "No file" in answer(name, workspace, "")


@pytest.mark.parametrize("name", ["bm25", "grep"])
def test_wrong_arguments_are_an_error(name: str, workspace: Path) -> None:
    async def call(connection: Connection) -> str:
        answer = await connection.call("search_code", {"query": 3})
        return str(answer.is_error)

    assert ask(name, workspace, call) == "True"


@pytest.mark.parametrize("name", ["bm25", "grep"])
def test_the_rules_know_what_its_tool_is_for(name: str, workspace: Path) -> None:
    async def roles(connection: Connection) -> str:
        return ", ".join(f"{tool.name}: {role(tool.name, tool)}" for tool in connection.tools)

    assert ask(name, workspace, roles) == "search_code: search"


def test_the_index_is_made_by_the_preparation_and_hides_from_git(workspace: Path) -> None:
    (mode,) = find_modes(["bm25"])
    assert mode.prepare is not None
    values = {"workspace": str(workspace)}
    command = render_command(mode, mode.prepare.command, values, {})
    assert anyio.run(lambda: anyio.run_process(command)).returncode == 0
    made = {path.name for path in (workspace / ".bm25").iterdir()}
    assert made == {"index.db", ".gitignore"}
    (workspace / "app/sessions.py").unlink()  # it stays as it is when files change
    assert "app/sessions.py" in answer("bm25", workspace, "session")
