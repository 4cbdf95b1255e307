"""Calls in the terms of tools that no program in miniature has."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.programs.rehearsal.thinking import history, toolbox
from swarm_bench.programs.rehearsal.thinking.toolbox import Toolbox
from swarm_bench.programs.rules import patterns
from swarm_bench.programs.scout.own_tools import OwnTools
from swarm_bench.text.terms import terms_of

TEXT = {"type": "string"}


def _tool(name: str, required: list[str] | None = None, **properties: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required or []}
    return ToolSpec(name=name, description="", schema=schema)


def _asking(tool: ToolSpec, name: str, **arguments: Any) -> tuple[str, dict[str, object]]:
    toolbox = Toolbox.sort([tool], "/w", {})
    return toolbox.translate(ToolCall(id="1", name=name, arguments=arguments))


def test_a_command_of_words() -> None:
    words = {"type": "array", "items": TEXT}
    tool = _tool("shell", ["command", "workdir"], command=words, workdir=TEXT)
    name, arguments = _asking(tool, "Read", file_path="a.py", offset=1, limit=2)
    assert name == "shell"
    assert arguments["command"] == ["bash", "-lc", "cat -n ./a.py | sed -n '1,2p' | cut -c1-310"]
    assert arguments["workdir"] == "/w"


def test_an_absolute_path_where_the_tool_wants_one() -> None:
    tool = _tool("read_file", ["absolute_path"], absolute_path=TEXT, offset=TEXT, limit=TEXT)
    _, arguments = _asking(tool, "Read", file_path="a.py", offset=3, limit=2)
    assert arguments == {"absolute_path": "/w/a.py", "offset": 3, "limit": 2}


def test_lines_counted_from_zero() -> None:
    offset = {"type": "integer", "description": "The 0-based line number to start from."}
    tool = _tool("read_file", path=TEXT, offset=offset, limit=TEXT)
    assert _asking(tool, "Read", file_path="a.py", offset=3, limit=2)[1]["offset"] == 2


def test_a_tool_that_reads_whole_files() -> None:
    tool = _tool("read_file", ["path"], path=TEXT)
    assert _asking(tool, "Read", file_path="a.py", offset=3, limit=2)[1] == {"path": "a.py"}


def test_letters_with_a_meaning_in_a_file_pattern() -> None:
    tool = _tool("grep", pattern=TEXT, path=TEXT, include=TEXT)
    call = {"pattern": "x", "path": "web/[id].js", "output_mode": "content", "head_limit": 12}
    assert _asking(tool, "Grep", **call)[1] == {"pattern": "x", "path": "web", "include": "?id?.js"}


def test_lines_are_asked_for_where_nothing_can_count() -> None:
    tool = _tool("grep", pattern=TEXT, max_results={"type": "integer"})
    call = {"pattern": "(?:x)", "output_mode": "count", "head_limit": 60}
    assert _asking(tool, "Grep", **call)[1] == {"pattern": "(x)", "max_results": 250}


def test_what_a_broken_tool_did_the_shell_does() -> None:
    tools = [_tool("grep", pattern=TEXT), _tool("bash", command=TEXT)]
    toolbox = Toolbox.sort(tools, None, {}, frozenset({"grep", "bash"}))
    call = ToolCall(id="1", name="Grep", arguments={"pattern": "x", "output_mode": "content"})
    assert toolbox.translate(call)[0] == "bash"
    assert [tool.name for tool in toolbox.list_tools()] == ["Grep", "Glob", "Read"]


def test_without_any_tool_nothing_is_offered() -> None:
    assert Toolbox.sort([_tool("set_color", color=TEXT)], None, {}).list_tools() == []


def test_more_lines_are_asked_for_where_namesakes_in_other_folders_are_found_too() -> None:
    call = {"pattern": "x", "output_mode": "content", "head_limit": 12}
    by_name = _tool("grep", pattern=TEXT, path=TEXT, include=TEXT, limit=TEXT)
    by_path = _tool("grep", pattern=TEXT, path=TEXT, limit=TEXT)
    assert _asking(by_name, "Grep", path="web/a.js", **call)[1]["limit"] == 48
    assert _asking(by_name, "Grep", path="a.js", **call)[1]["limit"] == 48
    assert _asking(by_path, "Grep", path="web/a.js", **call)[1]["limit"] == 12


TERMS = terms_of("Where are background jobs queued, and how is authentication done? See `Token`.")
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("Grep", {"pattern": patterns.match_mentions(TERMS), "output_mode": "count", "head_limit": 60}),
    (
        "Grep",
        {"pattern": patterns.match_definitions(TERMS), "output_mode": "content", "head_limit": 9},
    ),
    (
        "Grep",
        {"pattern": patterns.match_mentions(TERMS), "output_mode": "content", "head_limit": 3},
    ),
    ("Grep", {"pattern": "[aA]uth", "path": "routes/auth.go", "output_mode": "content"}),
    ("Grep", {"pattern": "Login|AUTH", "path": "web/[id].auth.js", "output_mode": "content"}),
    ("Grep", {"pattern": "nowhere", "output_mode": "count"}),
    ("Glob", {"pattern": "**/*{auth,token}*"}),
    ("Glob", {"pattern": "**/*none*"}),
    ("Read", {"file_path": "auth.go", "offset": 8, "limit": 4}),
    ("Read", {"file_path": "web/[id].auth.js", "offset": 1, "limit": 60}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_command_gives_what_scouts_tool_gives(
    name: str, arguments: dict[str, Any], shop: Path
) -> None:
    (shop / ".git").mkdir()
    (shop / ".git" / "auth.go").write_text("func AuthToken() {\n")
    line = toolbox.command(name, arguments)
    said = subprocess.run(
        ["bash", "-c", line], cwd=shop, capture_output=True, text=True, check=True
    ).stdout
    own = ToolCall(id="call_0001_01", name=name, arguments=arguments)
    theirs = ToolCall(id=own.id, name="bash", arguments={"command": line})
    messages = [
        Message(role="assistant", calls=(theirs,)),
        Message(role="user", results=(ToolResult(id=own.id, text=said),)),
    ]
    (step,) = history.list_calls(messages, {own.id: own}, None)
    expected = OwnTools(shop).call(name, arguments).split("\n[")[0]
    assert step.result.text == expected


def test_a_hostile_name_stays_one_word(tmp_path: Path) -> None:
    name = "a'; touch made; '.py"
    (tmp_path / name).write_text("x = 1\n")
    line = toolbox.command("Read", {"file_path": name, "offset": 1, "limit": 5})
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "x", "=", "1"]
    assert not (tmp_path / "made").exists()


def test_groups_are_written_so_that_every_dialect_reads_them() -> None:
    assert toolbox.plain(r"(?:a|\(?:b)(?:c)") == r"(a|\(?:b)(c)"
