"""Scout as the harness sees it: a command line, lines of output, an outcome."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import AgentExit, AgentRequest, Outcome
from swarm_bench.core.status import Cause
from tests.builders.experiments import experiment


def run(folder: Path, max_turns: int) -> Outcome:
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "auth.py").write_text("def login(user):\n    return user\n", encoding="utf-8")
    config = folder / "mcp.json"
    config.write_text('{"mcpServers": {}}', encoding="utf-8")
    agent = Scout()
    launch = agent.launch(
        AgentRequest(
            prompt="--verbose? Find the login.",
            workspace=workspace,
            home=folder,
            mcp_config=config,
            max_turns=max_turns,
            model=None,
            seed=1,
        )
    )
    started = datetime.now(UTC)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        done = subprocess.run(
            launch.argv, cwd=workspace, stdout=out, stderr=err, env=dict(launch.env), check=False
        )
    outcome = agent.outcome(
        AgentExit(
            returncode=done.returncode,
            stopped=None,
            stdout=folder / "out",
            stderr=folder / "err",
            started=started,
        )
    )
    lines = (folder / "out").read_bytes().splitlines()
    activities = [activity for line in lines if (activity := agent.activity(line))]
    requests = {activity.request: activity.usage for activity in activities}
    assert sum(usage.output or 0 for usage in requests.values() if usage) == outcome.usage.output
    return outcome


def test_a_whole_run(tmp_path: Path) -> None:
    outcome = run(tmp_path, 15)
    assert outcome.cause is Cause.FINISHED
    assert outcome.text is not None
    assert "`auth.py:1`" in outcome.text
    assert outcome.usage.effective is not None
    assert outcome.model == "rules"
    assert outcome.program_version == Scout().program(None).version
    assert outcome.cost_unreliable is None
    assert outcome.cost_estimated is True
    assert outcome.token_counter == "utf8-bytes/4"
    assert outcome.servers == {}
    assert outcome.tools_offered == ("Glob", "Grep", "Read")
    assert outcome.tool_calls is not None
    assert outcome.tool_calls["Read"] == 1
    assert outcome.tool_failures == outcome.tool_unanswered == {}
    assert outcome.tool_seconds is not None
    assert outcome.tool_result_tokens is not None
    assert outcome.tool_seconds.keys() == outcome.tool_calls.keys()
    assert all(0 < seconds < 10 for seconds in outcome.tool_seconds.values())
    assert outcome.tool_result_tokens["Read"] > 5
    assert outcome.retrieved is not None
    first = next(one for one in outcome.retrieved if "auth.py" in one.mentions)
    assert first.turn == 1
    assert first.tokens is not None
    assert 0 < first.tokens < (outcome.usage.effective or 0)
    assert first.seconds is not None
    assert 0 < first.seconds < 20


def test_a_budget_that_is_too_small(tmp_path: Path) -> None:
    outcome = run(tmp_path, 1)
    assert outcome.cause is Cause.MAX_TURNS
    assert outcome.text is None
    assert outcome.turns == 1
    assert outcome.usage.reported is not None


def test_a_model_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="no model of scout called 'opus'"):
        Scout().program("opus")


def test_its_model_is_known_before_anything_ran() -> None:
    assert experiment(agent=Scout().program(None)).model_label == "rules"
    assert experiment().model_label == "the agent's default"
    assert experiment(model="m").model_label == "m"
