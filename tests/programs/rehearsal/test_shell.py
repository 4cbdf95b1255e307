"""The command lines are run, and what they print is what scout's tools give."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.programs.rehearsal.thinking import history, shell
from swarm_bench.programs.rules import patterns
from swarm_bench.programs.scout.own_tools import OwnTools
from swarm_bench.text.terms import terms_of

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
    line = shell.command(name, arguments)
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
    line = shell.command("Read", {"file_path": name, "offset": 1, "limit": 5})
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "x", "=", "1"]
    assert not (tmp_path / "made").exists()


def test_groups_are_written_so_that_every_dialect_reads_them() -> None:
    assert shell.plain(r"(?:a|\(?:b)(?:c)") == r"(a|\(?:b)(c)"
