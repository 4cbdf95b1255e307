"""What was approved is what starts: files that change meanwhile, and what `--plan` shows of it."""

import json
from pathlib import Path

import pytest

from swarm_bench.analysis.planning.session_plan import describe_plan
from swarm_bench.app.doctor.examination import create_mode_reader, drop_unapproved
from swarm_bench.app.running import agents
from swarm_bench.app.setup.agents import check
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.app.trust.approval import approve, list_unapproved
from swarm_bench.benchmarks.agents.finding import find_agent
from swarm_bench.config.layers import Resolved, load
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import Mode
from swarm_bench.reports.plan_text import render_plan
from tests.builders.golden import Sentences

SECRET = "sk-the-value-of-a-key"
AGENT = """\
name: own
version: {command: [touch, asked]}
command: [sh, -c, touch ran, '{{ prompt }}', '{{ mcp_config }}', '{{ max_turns }}']
output: {format: json, answer: $.answer}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder whose settings name a mode and an agent."""
    here, state = tmp_path / "here", tmp_path / "state"
    (here / "mcp_configs").mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.setenv("MY_ROOT", SECRET)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    write_mode(here, "touch")
    (here / "agent.yaml").write_text(AGENT)
    (here / "a.py").write_text("class A: pass\n")
    (here / "swarm-bench.toml").write_text(
        'modes = ["baseline", "mine"]\nagent = "agent.yaml"\nruns = 1\nagents = 1\n'
    )
    return here


def write_mode(here: Path, command: str) -> None:
    server = {"command": command, "args": ["ran", "${MY_ROOT}"], "env": {"MY_TOKEN": SECRET}}
    content = {"mcpServers": {"x": server}, "swarmBench": {"teardown": ["touch", "torn"]}}
    (here / "mcp_configs" / "mine.json").write_text(json.dumps(content))


def nobody(event: object) -> None:
    """Hears the events."""


def trusted(**given: object) -> Resolved:
    return approve(resolve(given, COMPARE, None), trust=True)


def ran(here: Path) -> bool:
    return any((here / name).exists() for name in ("ran", "torn", "asked"))


def test_nothing_is_approved_by_itself(folder: Path) -> None:
    with pytest.raises(UsageError, match="you did not type"):
        agents.run(resolve({}, COMPARE, None), COMPARE, nobody)
    assert not ran(folder)


@pytest.mark.parametrize("file", ["mcp_configs/mine.json", "agent.yaml"])
def test_a_file_that_changes_after_the_question_is_not_started(file: str, folder: Path) -> None:
    resolved = trusted()
    (folder / file).write_text((folder / file).read_text().replace("ran", "run"))
    with pytest.raises(UsageError, match="you did not type"):
        agents.run(resolved, COMPARE, nobody)
    if file.endswith(".json"):
        with pytest.raises(UsageError, match="you did not type"):
            create_mode_reader(resolved)("mine")
    assert not ran(folder)


def test_trust_is_remembered_where_the_process_says(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".env").write_text(f"XDG_STATE_HOME={folder}/planted\nHOME={folder}/planted\n")
    trusted()
    assert (tmp_path / "state" / "swarm-bench" / "trust.json").is_file()
    assert not (folder / "planted").exists()
    assert not list_unapproved(approve(load({})))
    other = tmp_path / "other"
    folder.rename(other)
    monkeypatch.chdir(other)
    with pytest.raises(UsageError):
        approve(load({}))


def test_what_changed_since_it_was_trusted_says_so(folder: Path, golden: Sentences) -> None:
    assert not any(one.has_changed for one in list_unapproved(load({})))
    trusted()
    write_mode(folder, "rm")
    with pytest.raises(UsageError) as refused:
        approve(load({}))
    golden(str(refused.value))
    assert "agent.yaml" not in str(refused.value)


def test_the_environment_vouches_for_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWARM_BENCH_TRUST", "1")
    approve(load({}))
    monkeypatch.setenv("SWARM_BENCH_TRUST", "0")
    with pytest.raises(UsageError):
        approve(load({}))
    monkeypatch.setenv("SWARM_BENCH_TRUST", "please")
    with pytest.raises(UsageError, match="set it to 1 or 0"):
        approve(load({}))


def test_no_is_an_answer(folder: Path) -> None:
    with pytest.raises(UsageError, match="the answer was no"):
        approve(load({}), ask=lambda asked: False)
    assert {one.word for one in list_unapproved(load({}))} == {"agent", "mine"}


def test_the_plan_shows_what_would_start_and_who_said_so(folder: Path, golden: Sentences) -> None:
    (folder / ".env").write_text(f"ANTHROPIC_API_KEY={SECRET}\n")
    resolved = approve(resolve({"seed": 4}, COMPARE, None), refuse=False)
    planned = agents.plan_session(resolved, COMPARE)
    assert not ran(folder)
    assert [*planned.launches.agent][1:4] == ["-c", "touch ran", "{{ prompt }}"]
    text = render_plan(describe_plan(planned))
    of_mode = text.partition("Mode:       mine\n")[2].partition("Seed:")[0]
    golden(of_mode)
    assert "seed = 4 (command line)" in text
    assert "runs = 1 (settings file)" in text
    golden(text.partition("Untrusted:")[2].partition("  Run")[0])
    assert SECRET not in text


def test_keys_in_dotenv_reach_the_agent_and_an_address_waits(folder: Path) -> None:
    (folder / ".env").write_text(f"ANTHROPIC_API_KEY={SECRET}\nANTHROPIC_BASE_URL=http://x\n")
    given = {"agent": "claude", "modes": ["baseline"]}
    waiting = approve(load(given), refuse=False)
    assert waiting.from_dotenv == {"ANTHROPIC_API_KEY": SECRET}
    assert trusted(**given).from_dotenv == {
        "ANTHROPIC_API_KEY": SECRET,
        "ANTHROPIC_BASE_URL": "http://x",
    }


def test_a_mode_file_sees_of_dotenv_what_the_agents_get(folder: Path) -> None:
    (folder / ".env").write_text(f"ANTHROPIC_API_KEY={SECRET}\nEXA_API_KEY=of-the-mode\n")
    resolved = approve(load({"agent": "claude"}), trust=True)

    def check_with(variable: str) -> None:
        server = {"command": "sh", "env": {"KEY": f"${{{variable}}}"}}
        mode = Mode(name="own", source="own.json", servers={"x": server})
        check(find_agent("claude"), [mode], resolved.settings, resolved.environment)

    check_with("ANTHROPIC_API_KEY")
    with pytest.raises(ConfigError, match="EXA_API_KEY, which is not set"):
        check_with("EXA_API_KEY")


def test_doctor_leaves_out_what_waits(folder: Path) -> None:
    resolved = approve(load({}), refuse=False)
    left = drop_unapproved(resolved.settings, list_unapproved(resolved))
    assert (left.agent, left.modes) == ("scout", ["baseline"])
