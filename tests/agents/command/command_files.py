"""Command files and programs for the tests of agents that a file describes."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from swarm_bench.agents.command.adapter import Command
from swarm_bench.core.outcome import AgentExit, AgentRequest, Outcome

BASE: dict[str, Any] = {
    "name": "mine",
    "command": [sys.executable, "-c", "pass", "{{ prompt }}", "{{ max_turns }}"],
    "mcp": "none",
    "output": {"format": "json", "answer": "$.answer"},
}


def written(folder: Path, changes: Mapping[str, Any] | None = None) -> Path:
    """A command file: the least one there can be, with `changes`; `None` takes a key out."""
    content = {**BASE, **(changes or {})}
    path = folder / "mine.yaml"
    kept = {key: value for key, value in content.items() if value is not None}
    path.write_text(yaml.safe_dump(kept), encoding="utf-8")
    return path


def agent(folder: Path, **changes: Any) -> Command:
    return Command(str(written(folder, changes)))


def request(folder: Path, **changes: Any) -> AgentRequest:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    config = home / "mcp.json"
    config.write_text('{"mcpServers": {"canopy": {"command": "c"}}}', encoding="utf-8")
    values: dict[str, Any] = {
        "prompt": "What is here?",
        "workspace": folder,
        "home": home,
        "mcp_config": config,
        "max_turns": 7,
        "model": None,
        "seed": 3,
    }
    return AgentRequest(**{**values, **changes})


def read(
    folder: Path, made: Command, stdout: str = "", *, stderr: str = "", **ending: Any
) -> Outcome:
    """The outcome of a program that left this; `ending` are fields of `AgentExit`."""
    (folder / "stdout").write_text(stdout, encoding="utf-8")
    (folder / "stderr").write_text(stderr, encoding="utf-8")
    values: dict[str, Any] = {"returncode": 0, "stopped": None, **ending}
    return made.outcome(AgentExit(stdout=folder / "stdout", stderr=folder / "stderr", **values))
