"""By which line of its output each program's run is over."""

from pathlib import Path

import pytest

from swarm_bench.core.entry_points import load
from swarm_bench.core.outcome import AgentExit
from swarm_bench.core.ports import Agent
from swarm_bench.core.status import Cause

SAMPLES = Path(__file__).parent / "samples"
PROGRAMS = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "qwen": "qwen",
}
STREAMS = [
    (agent, path)
    for folder, agent in PROGRAMS.items()
    for path in sorted((SAMPLES / folder).glob("*.json*"))
    if "stderr" not in path.name
]


def over(agent: Agent, path: Path) -> bool | None:
    """What the last line says that says anything."""
    said = [
        activity.over
        for line in path.read_bytes().split(b"\n")
        if (activity := agent.activity(line))
    ]
    return next((word for word in reversed(said) if word is not None), None)


@pytest.mark.parametrize(("name", "path"), STREAMS, ids=[f"{a}-{p.stem}" for a, p in STREAMS])
def test_a_run_with_a_final_result_is_over_and_no_other(
    name: str, path: Path, tmp_path: Path
) -> None:
    agent: Agent = load("agents", name)()
    (stderr := tmp_path / "stderr").touch()
    end = AgentExit(returncode=0, stopped=None, stdout=path, stderr=stderr)
    outcome = agent.outcome(end)
    if outcome.cause is Cause.FINISHED:
        assert over(agent, path) is True
    if outcome.payload is None:
        assert over(agent, path) is not True
