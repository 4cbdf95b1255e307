import json
from pathlib import Path

import pytest

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rehearsal.thinking import tool_kinds

# What searches contents, finds names, reads, and runs commands.
KINDS = {
    "claude": (None, None, "Read", "Bash"),
    "claude-search": ("Grep", "Glob", "Read", None),
    "claude-deferred": (None, None, "Read", "Bash"),
    "codex": (None, None, None, "exec_command"),
    "gemini": ("grep_search", "glob", "read_file", "run_shell_command"),
    "opencode": ("grep", "glob", "read", "bash"),
    "qwen": ("grep_search", "glob", "read_file", "run_shell_command"),
}


def _tools(program: str) -> list[ToolSpec]:
    text = (Path(__file__).parent / "tools" / f"{program}.json").read_text("utf-8")
    return [ToolSpec(**tool) for tool in json.loads(text)]


@pytest.mark.parametrize("program", KINDS)
def test_tools_of_real_programs(program: str) -> None:
    tools = _tools(program)
    found = [
        kind(tools)
        for kind in (
            tool_kinds.content_search,
            tool_kinds.name_search,
            tool_kinds.file_read,
            tool_kinds.shell,
        )
    ]
    assert tuple(tool and tool.name for tool in found) == KINDS[program]


@pytest.mark.parametrize(
    ("name", "argument"),
    [("web_search", "query"), ("mcp__x__grep", "pattern"), ("search", "pattern")],
)
def test_what_is_no_search_of_files(name: str, argument: str) -> None:
    tool = ToolSpec(name=name, description="Finds.", schema={"properties": {argument: {}}})
    assert tool_kinds.content_search([tool]) is None


def test_what_a_schema_requires_is_given() -> None:
    properties = {
        "cmd": {"type": "string"},
        "description": {"type": "string"},
        "is_background": {"type": "boolean"},
        "max": {"type": "integer", "default": 5},
        "other": {"type": "string"},
    }
    schema = {"properties": properties, "required": ["cmd", "is_background", "max"]}
    tool = ToolSpec(name="t", description="", schema=schema)
    assert tool_kinds.fill_required(tool, {"cmd": "ls"}, "List files") == {
        "cmd": "ls",
        "is_background": False,
        "max": 5,
        "description": "List files",
    }
