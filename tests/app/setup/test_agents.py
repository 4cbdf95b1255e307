import os
import sys
from pathlib import Path

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.agents.scout.adapter import Scout
from swarm_bench.app import listing
from swarm_bench.app.setup.agents import check, list_agents, read_agent_environment
from swarm_bench.benchmarks.agents.finding import find_agent, identify, list_agent_names
from swarm_bench.config.layers import load
from swarm_bench.core.errors import ConfigError, UnknownName, UsageError
from swarm_bench.core.session.experiment import Mode
from tests.builders.golden import Sentences

SCRIPTED = "swarm_bench.agents.scripted:Scripted"


def test_a_name_or_a_class_of_ones_own_is_an_agent() -> None:
    assert find_agent("scout").name == "scout"
    assert find_agent(SCRIPTED).name == "scripted"


def test_an_agent_of_ones_own_goes_by_the_word_it_was_given_as(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("[]")
    assert identify(Scout(), "scout", None).name == "scout"
    assert identify(find_agent(SCRIPTED), SCRIPTED, str(script)).name == SCRIPTED


@pytest.mark.parametrize(
    ("word", "kind", "sentence"),
    [
        ("skout", UnknownName, "There is no agent called 'skout'; did you mean 'scout'"),
        ("scout:x", UsageError, "'scout' takes nothing after its name; give --agent scout"),
        (__file__, UsageError, "is not an agent file; write a .yaml that starts it, see"),
        ("x" * 300, UnknownName, "There is no agent called"),
        ("replay", UsageError, "'replay' needs to know which: --agent replay:DIR"),
        ("pathlib:Path", ConfigError, "is no agent: it needs launch, activity"),
        ("pathlib:Nothing", ConfigError, "cannot be loaded as one of the agents"),
        ("swarm_bench.core.session.experiment:Task", ConfigError, "cannot be made into an agent"),
        ("sys:exit", ConfigError, "cannot be made into an agent: SystemExit"),
    ],
)
def test_what_is_no_agent_is_refused_in_a_sentence(
    word: str, kind: type[UsageError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        find_agent(word)


class Silent:
    """An adapter that was written before there were capabilities."""

    name = "silent"
    launch = activity = outcome = program = Scout.launch


def test_an_agent_states_its_capabilities() -> None:
    with pytest.raises(ConfigError, match="is no agent: it needs .* and capabilities, as the role"):
        find_agent(f"{__name__}:Silent")


def test_agents_that_take_something_are_listed_with_it() -> None:
    names = [listing.name for listing in list_agents()]
    assert {"scout", "replay:DIR", "command:FILE.yaml"} <= set(names)
    assert {"claude", "codex", "gemini", "opencode", "qwen"} <= set(list_agent_names())


def test_a_file_of_ones_own_goes_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text(
        "name: claude\ncommand: [sh, -c, 'echo {{ prompt }}']\nmcp: none\n"
        "turns: {limit: none}\noutput: {format: text, answer: {pattern: '.+'}}\n"
    )
    word = str(path)
    assert identify(find_agent(word), word, None).name == "claude (mine.yml)"


def test_what_no_trial_could_be_started_with_is_refused_before_any(tmp_path: Path) -> None:
    mode = Mode(name="baseline", source="baseline.json")
    with pytest.raises(UsageError, match="scout has no settings to inherit"):
        check(Scout(), [mode], load({"inherit_settings": True}).settings, os.environ)
    with pytest.raises(UsageError, match="--fault is played by the rehearsal server"):
        check(Scout(), [mode], load({"fault": ["rate-limit"]}).settings, os.environ)
    with pytest.raises(UsageError, match="its value was not stored with the session"):
        read_agent_environment(load({"agent_env": ["A_KEY=(not stored)"]}).settings)
    with pytest.raises(UsageError, match="it is not set here"):
        read_agent_environment(load({"agent_env": ["SURELY_NOT_SET_HERE"]}).settings)


def test_the_agent_of_a_recording_may_be_a_file_of_ones_own() -> None:
    with pytest.raises(UsageError, match="no-such-folder"):
        find_agent("replay:no-such-folder@./mine.yaml")


def test_a_rehearsal_cannot_be_led_elsewhere(tmp_path: Path) -> None:
    """Nor is the home of an agent anybody else's."""
    mode = Mode(name="baseline", source="baseline.json")
    elsewhere = {"model": "rehearsal", "agent_env": ["ANTHROPIC_BASE_URL=http://127.0.0.1:1"]}
    with pytest.raises(UsageError, match="--agent-env ANTHROPIC_BASE_URL: the adapter"):
        check(Claude(), [mode], load(elsewhere).settings, os.environ)
    with pytest.raises(UsageError, match="--agent-env HOME: the adapter"):
        check(Claude(), [mode], load({"agent_env": [f"HOME={tmp_path}"]}).settings, os.environ)
    check(Claude(), [mode], load({"agent_env": ["CLAUDE_CODE_MAX_RETRIES=9"]}).settings, os.environ)


def test_what_is_installed_looks_for_nothing_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    find_agent(SCRIPTED)
    assert str(tmp_path) not in sys.path
    (tmp_path / "of_the_folder.py").write_text(
        "from swarm_bench.agents.scripted import Scripted as Own\n"
    )
    assert find_agent("of_the_folder:Own").name == "scripted"


def test_a_listed_agent_without_a_key_is_not_called_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho 2.0.0\n")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    caveats = {agent.name: agent.caveat for agent in listing.list_agents()}
    golden(caveats["claude"] or "")
    assert caveats["scout"] is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-any")
    assert {agent.name: agent.caveat for agent in listing.list_agents()}["claude"] is None
