"""Calls in the terms of tools that no program in miniature has."""

from typing import Any

from swarm_bench.core.ports import ToolCall, ToolSpec
from swarm_bench.programs.rehearsal.thinking.toolbox import Toolbox

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
