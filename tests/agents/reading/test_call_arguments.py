"""Every adapter hands over the commands and paths of its transcript, and not without bound."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.codex import stream as _codex_stream
from swarm_bench.agents.gemini import stream as _gemini_stream
from swarm_bench.agents.opencode import stream as _opencode_stream
from swarm_bench.agents.qwen import stream as _qwen_stream
from swarm_bench.agents.reading.call_arguments import MAX_ENTRIES, MAX_LENGTH, Commands
from swarm_bench.agents.stream_json import stream as _claude_stream
from swarm_bench.core.outcome import AgentExit, Outcome

LINE, PATH = "canopy-mcp --root .", "/home/me/.canopy/index.db"


def _claude(tool: str, read: str) -> list[dict[str, Any]]:
    calls = [
        {"type": "tool_use", "id": "1", "name": tool, "input": {"command": LINE}},
        {"type": "tool_use", "id": "2", "name": read, "input": {"file_path": PATH}},
        {"type": "tool_use", "id": "3", "name": "Write", "input": {"file_path": "/new"}},
    ]
    return [{"type": "assistant", "message": {"id": "m", "model": "x", "content": calls}}]


def _codex() -> list[dict[str, Any]]:
    item = {"id": "1", "type": "command_execution", "status": "completed", "command": LINE}
    return [{"type": "thread.started"}, {"type": "item.completed", "item": item}]


def _gemini() -> list[dict[str, Any]]:
    shell = {"tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": LINE}}
    read = {"tool_name": "read_file", "tool_id": "2", "parameters": {"absolute_path": PATH}}
    return [{"type": "init"}, *({"type": "tool_use", **one} for one in (shell, read))]


def _opencode() -> list[dict[str, Any]]:
    given = {"bash": {"command": LINE}, "read": {"filePath": PATH}}
    return [
        {"type": "tool_use", "part": {"tool": tool, "state": {"input": inputs, "output": ""}}}
        for tool, inputs in given.items()
    ]


CASES: dict[str, tuple[Callable[[AgentExit], Outcome], list[dict[str, Any]]]] = {
    "claude": (_claude_stream.read_outcome, _claude("Bash", "Read")),
    "qwen": (_qwen_stream.read_outcome, _claude("run_shell_command", "read_file")),
    "codex": (_codex_stream.read_outcome, _codex()),
    "gemini": (_gemini_stream.read_outcome, _gemini()),
    "opencode": (_opencode_stream.read_outcome, _opencode()),
}


@pytest.mark.parametrize("name", CASES)
def test_commands_and_paths_are_handed_over(name: str, tmp_path: Path) -> None:
    outcome_of, events = CASES[name]
    out, err = tmp_path / "out", tmp_path / "err"
    out.write_text("\n".join(map(json.dumps, events)))
    err.write_text("")
    outcome = outcome_of(AgentExit(returncode=1, stopped=None, stdout=out, stderr=err))
    assert outcome.commands == (LINE,)
    assert outcome.paths == (() if name == "codex" else (PATH,))


def test_what_is_looked_at_is_bounded() -> None:
    commands = Commands()
    for number in range(MAX_ENTRIES + 10):
        commands.add_call("Bash", {"command": f"{number} " + "x" * 2 * MAX_LENGTH})
    commands.add_call("shell", {"command": ["sh", "-c", "a b"]})
    lines = commands.outcome_fields(True)["commands"]
    assert (len(lines), max(map(len, lines))) == (MAX_ENTRIES, MAX_LENGTH)
    assert commands.outcome_fields(False) == {}
    words = Commands()
    words.add_call("shell", {"command": ["sh", "-c", "a b"]})
    assert words.outcome_fields(True)["commands"] == ("sh -c 'a b'",)
