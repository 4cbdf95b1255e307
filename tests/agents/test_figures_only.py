"""What whoever compares figures reads of an agent's output: all but what its tools answered."""

from dataclasses import replace
from pathlib import Path

import pytest

from swarm_bench.core.entry_points import load
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.ports import Agent

SAMPLES = Path(__file__).parent / "samples"
PROGRAMS = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "qwen": "qwen",
}


@pytest.mark.parametrize("folder", PROGRAMS)
def test_all_figures_are_the_same_without_the_answers_of_tools(folder: str, tmp_path: Path) -> None:
    agent: Agent = load("agents", PROGRAMS[folder])()
    (stderr := tmp_path / "stderr").touch()
    streams = [path for path in (SAMPLES / folder).glob("*.json*") if "stderr" not in path.name]
    answered = False
    for path in streams:
        exit = AgentExit(returncode=0, stopped=None, stdout=path, stderr=stderr)
        whole, bare = agent.outcome(exit), agent.outcome(replace(exit, figures_only=True))
        assert not bare.tool_answers
        assert not bare.retrieved
        assert replace(whole, tool_answers=None, retrieved=None) == replace(
            bare, tool_answers=None, retrieved=None
        )
        answered |= bool(whole.tool_answers and whole.retrieved)
    assert answered
