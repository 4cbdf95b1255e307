"""An agent can name any number of tools, of any length; its record stays small."""

import json
from pathlib import Path

from swarm_bench.agents.stream_json.stream import read_outcome
from swarm_bench.benchmarks.swarm.trial_records import MOST_REQUESTS, cap_outcome
from swarm_bench.core.outcome import AgentExit, Outcome, ToolAnswer, Usage
from swarm_bench.core.status import Cause
from swarm_bench.engine.caps import LONGEST_NAME, MOST_NAMES, OTHER_NAMES
from tests.benchmarks.swarm.test_trial_records import record

CALLS = 20_000


def stream_of_names(folder: Path) -> AgentExit:
    """The output of an agent that calls as many tools, one of them with a name of a megabyte."""
    names = [f"mcp__canopy__tool-{number}-{'x' * 40}" for number in range(CALLS - 1)]
    names.insert(1, "n" * 2**20)
    servers = [{"name": f"server-{name}", "status": "s" * 10**5} for name in names[:2]]
    init = {"type": "system", "subtype": "init", "tools": names, "mcp_servers": servers}
    lines = [json.dumps(init)]
    for number, name in enumerate(names):
        call = {"type": "tool_use", "id": f"c{number}", "name": name, "input": {}}
        message = {"id": f"m{number}", "role": "assistant", "content": [call]}
        lines.append(json.dumps({"type": "assistant", "message": message}))
    (folder / "out").write_text("\n".join(lines))
    (folder / "err").touch()
    return AgentExit(returncode=0, stopped=None, stdout=folder / "out", stderr=folder / "err")


def test_a_record_of_many_names_is_small_and_says_so(tmp_path: Path) -> None:
    outcome = read_outcome(stream_of_names(tmp_path))
    assert outcome.tool_calls is not None
    assert len(outcome.tool_calls) == CALLS

    made = record("model", outcome)

    assert len(made.model_dump_json()) < 2_000_000
    assert made.tool_calls is not None
    assert sum(made.tool_calls.values()) == CALLS
    assert made.tool_calls[OTHER_NAMES] == CALLS - MOST_NAMES
    assert len(made.tool_calls) == MOST_NAMES + 1
    assert max(map(len, made.tool_calls)) == LONGEST_NAME
    cut = CALLS - MOST_NAMES + 1
    assert made.names_cut == 2 * cut + 1  # called, offered, and a server


def test_ordinary_names_stay_as_they_are() -> None:
    outcome = Outcome(
        cause=Cause.FINISHED,
        tool_calls={"Read": 2, "mcp__canopy__x": 1},
        tool_failures={"Read": 1},
        tool_seconds={"Read": 0.5},
        tool_answers=(ToolAnswer(tool="mcp__canopy__x", question="q", answer="a", bytes=1),),
        unusable_tools=("Bash",),
        tools_offered=("Read", "Bash"),
        servers={"canopy": "connected"},
        turn_usage=(Usage(input=1),),
        model="m",
    )
    kept = cap_outcome(outcome)
    assert kept.names_cut == 0
    assert vars(kept) == {**vars(outcome), "names_cut": 0}
    nothing = cap_outcome(Outcome(cause=Cause.FINISHED))
    assert (nothing.tool_calls, nothing.servers, nothing.tools_offered) == (None, None, None)


def test_the_usage_of_too_many_requests_is_missing() -> None:
    many = (Usage(input=1),) * (MOST_REQUESTS + 1)
    assert cap_outcome(Outcome(cause=Cause.FINISHED, turn_usage=many)).turn_usage is None
