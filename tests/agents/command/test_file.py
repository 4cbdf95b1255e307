"""A mistake in a command file is one sentence with its place and what to do."""

from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.command.adapter import Command
from swarm_bench.core.errors import ConfigError
from tests.agents.command.command_files import BASE, agent, written

OUTPUT = BASE["output"]
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"nmae": "x"}, "nmae is not a key that is known here"),
    ({"name": "a b"}, "name cannot be 'a b'"),
    ({"output": None}, "output is missing"),
    ({"command": "agent {{ prompt }}"}, "command must be a list of words"),
    ({"command": ["a", 5, "{{ prompt }}"]}, "has 5 in entry 2, which is no text; put it in quotes"),
    ({"command": ["a", "{{ promt }}"]}, "placeholder {{ promt }}; known are prompt"),
    ({"command": ["a", "{{ prompt | e }}"]}, "has {{ prompt | e }}, which is not filled in"),
    ({"command": ["a", "{{ max_turns }}"]}, "never uses {{ prompt }}"),
    ({"command": ["a", "{{ prompt }}"]}, "never uses {{ max_turns }}"),
    ({"command": ["./a", "{{ prompt }}"]}, "begins 'command' with './a'"),
    ({"command": [["a"], "{{ prompt }}"]}, "begins 'command' with"),
    ({"command": ["a", "x {{ arguments }}"]}, "{{ arguments }} inside entry 2"),
    ({"command": ["a", ["{{ arguments }}"]]}, "must be an entry of 'command' of its own"),
    ({"command": ["a", *["{{ arguments }}"] * 2]}, "has {{ arguments }} twice"),
    ({"mcp": None}, "or have 'mcp: none'"),
    ({"environment": {"A": "{{ mcp_config }}"}}, "must either use {{ mcp_config }}"),
    ({"environment": {"HOME": "/x"}}, "is set by swarm-bench"),
    ({"environment": {"a-b": "x"}}, "must be the name of a variable"),
    ({"files": {"../x": "y"}}, "must be a path below the agent's own folder"),
    ({"files": {"/x": "y"}}, "must be a path below the agent's own folder"),
    ({"files": {"mcp.json": "y"}}, "is taken"),
    ({"files": {"x": {"text": "y"}}}, "must be a string, or {literal: STRING}"),
    ({"version": {"command": ["a", "{{ home }}"]}}, "can have only {{ folder }} here"),
    ({"rehearsal": {"model": "m"}}, "a rehearsal would ask the real one"),
    ({"turns": {"limit": "counted"}}, "needs 'ends'"),
    ({"turns": {"limit": "never"}}, "turns.limit must be 'program', 'counted' or 'none'"),
    ({"stop_signal": "SIGKILL"}, "stop_signal must be 'SIGINT' or 'SIGTERM'"),
    (
        {"output": {**OUTPUT, "source": "out.json"}},
        "must be stdout, stderr, or a file '{{ home }}/",
    ),
    ({"output": {**OUTPUT, "source": "{{ home }}/../x"}}, "below the agent's own folder"),
    ({"output": {**OUTPUT, "format": "xml"}}, "output.format must be 'json'"),
    ({"output": {**OUTPUT, "format": "text"}}, "has a JSONPath, and 'format: text'"),
    ({"output": {**OUTPUT, "answer": "answer"}}, "is not a JSONPath: 'answer'"),
    ({"output": {**OUTPUT, "answer": "$[?match(@.a, 'x')]"}}, "is not a JSONPath"),
    ({"output": {**OUTPUT, "answer": []}}, "output.answer must not be empty"),
    ({"output": {**OUTPUT, "turns": {"pattern": "("}}}, "is not a regular expression: '('"),
    ({"output": {**OUTPUT, "turns": {"take": "sum"}}}, "needs 'path', 'pattern' or both"),
    ({"output": {**OUTPUT, "turns": {"path": "$", "stream": "stderr"}}}, "use 'pattern'"),
    ({"output": {**OUTPUT, "tokens": {"input_includes_cached": True}}}, "needs 'cache_read'"),
    ({"output": {**OUTPUT, "tools": {"mcp": "a_(b)"}}}, "without the groups"),
    ({"failures": [{"exit_code": 1, "cause": "finished"}]}, "cannot be 'finished'; known are"),
    ({"failures": [{"cause": "refused"}]}, "needs 'exit_code', 'when' or both"),
]


@pytest.mark.parametrize(("changes", "words"), MISTAKES, ids=[words for _, words in MISTAKES])
def test_a_mistake_is_named(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        agent(tmp_path, **changes)
    message = str(caught.value)
    assert words in message
    assert message.startswith(f"{tmp_path / 'mine.yaml'}:")
    assert message.endswith("; fix the file")
    assert "\n" not in message


def test_the_line_of_a_mistake_is_said(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text("utf-8") + "turns:\n  limit: maybe\n", encoding="utf-8")
    line = path.read_text("utf-8").splitlines().index("  limit: maybe") + 1
    with pytest.raises(ConfigError, match=f"mine.yaml:{line}: turns.limit"):
        Command(str(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="The agent file .*none.yaml cannot be read"):
        Command(str(tmp_path / "none.yaml"))


def test_a_folder_beside_the_file_can_be_named_everywhere(tmp_path: Path) -> None:
    made = agent(tmp_path, environment={"CONF": "{{ folder }}/conf.toml"})
    assert made.name == "mine"


def test_the_example_can_be_read() -> None:
    path = Path(__file__).parents[3] / "docs" / "examples" / "mini-swe-agent.yaml"
    made = Command(str(path))
    assert (made.name, made.capabilities.takes_mcp) == ("mini-swe-agent", False)
