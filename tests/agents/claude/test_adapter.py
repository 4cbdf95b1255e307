"""How Claude Code is started."""

import json
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import AgentRequest, Launch
from swarm_bench.testing.contracts import check_agent


@pytest.fixture
def request_(tmp_path: Path) -> AgentRequest:
    home = tmp_path / "home"
    home.mkdir()
    (home / "mcp.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    return AgentRequest(
        prompt="--What is here?",
        workspace=tmp_path / "repo",
        home=home,
        mcp_config=home / "mcp.json",
        max_turns=7,
        model=None,
        seed=1,
    )


def option(launch: Launch, name: str) -> str:
    return launch.argv[launch.argv.index(name) + 1]


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    check_agent(Claude(), tmp_path)


def test_modes_differ_by_their_servers_alone(request_: AgentRequest) -> None:
    other = replace(request_, mcp_config=request_.home / "other.json")
    other.mcp_config.write_text('{"mcpServers": {"a": {"command": "b"}}}', encoding="utf-8")
    one, two = Claude().launch(request_), Claude().launch(other)
    assert [pair for pair in zip(one.argv, two.argv, strict=True) if pair[0] != pair[1]] == [
        (str(request_.mcp_config), str(other.mcp_config))
    ]
    assert one.env == two.env


def test_budget_prompt_and_servers(request_: AgentRequest) -> None:
    launch = Claude().launch(request_)
    assert launch.argv[0] == "claude"
    assert launch.argv[-2:] == ("--", "--What is here?")
    assert option(launch, "--max-turns") == "7"
    assert option(launch, "--mcp-config") == str(request_.mcp_config)
    assert "--strict-mcp-config" in launch.argv
    assert "--model" not in launch.argv
    assert launch.turn_limit is None
    assert launch.stop_signal is signal.SIGINT


def test_a_dollar_in_a_server_reaches_it_as_it_stands(request_: AgentRequest) -> None:
    """The program fills in variables: once for a command, twice for a URL."""
    servers = {
        "local": {"command": "x", "env": {"KEY": "a${HOME}$b"}},
        "remote": {"type": "http", "url": "http://localhost", "headers": {"X-Key": "a${HOME}$b"}},
    }
    request_.mcp_config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    given = Path(option(Claude().launch(request_), "--mcp-config"))
    assert (
        json.loads(filled_in(given.read_text("utf-8")))["mcpServers"]["local"] == servers["local"]
    )
    twice = json.loads(filled_in(filled_in(given.read_text("utf-8"))))
    assert twice["mcpServers"]["remote"] == servers["remote"]


def filled_in(text: str) -> str:
    """As the program does it, without any variable set."""
    return re.sub(
        r"\$\{([^}]+)\}",
        lambda found: default if (default := found[1].partition(":-")[2]) else found[0],
        text.replace("${HOME}", "/home"),
    )


def test_the_program_that_was_identified_is_started(request_: AgentRequest) -> None:
    launch = Claude().launch(replace(request_, program="/opt/bin/claude"))
    assert launch.argv[0] == "/opt/bin/claude"


def test_nothing_of_the_users_is_read(request_: AgentRequest) -> None:
    launch = Claude().launch(request_)
    assert launch.env["HOME"] == str(request_.home)
    assert Path(launch.env["TMPDIR"]).is_relative_to(request_.home)
    assert Path(launch.env["TMPDIR"]).is_dir()
    assert option(launch, "--setting-sources") == ""
    assert "CLAUDE_CONFIG_DIR" not in launch.inherit


def test_credentials_are_let_through_by_name(request_: AgentRequest) -> None:
    launch = Claude().launch(replace(request_, model="claude-opus-5-5"))
    assert {"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "HTTPS_PROXY"} <= set(launch.inherit)
    assert not {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"} & set(launch.env)
    assert option(launch, "--model") == "claude-opus-5-5"


def test_a_rehearsal_reaches_the_loopback_server_and_no_key_does(request_: AgentRequest) -> None:
    address = "http://127.0.0.1:1/trial/x"
    launch = Claude().launch(replace(request_, model="ignored", rehearsal=address))
    assert launch.env["ANTHROPIC_BASE_URL"] == address
    assert launch.env["ANTHROPIC_API_KEY"] == "rehearsal"
    assert launch.inherit == ()
    assert option(launch, "--model") == "opus"


def test_the_users_own_settings(request_: AgentRequest) -> None:
    launch = Claude().launch(replace(request_, inherit_settings=True))
    assert "HOME" not in launch.env
    assert "--setting-sources" not in launch.argv
    assert "--strict-mcp-config" in launch.argv
    assert "CLAUDE_CONFIG_DIR" in launch.inherit
    assert "--settings" not in launch.argv


def test_the_users_settings_cannot_lead_a_rehearsal_elsewhere(request_: AgentRequest) -> None:
    address = "http://127.0.0.1:1/trial/x"
    launch = Claude().launch(replace(request_, inherit_settings=True, rehearsal=address))
    env = json.loads(option(launch, "--settings"))["env"]
    assert env["ANTHROPIC_BASE_URL"] == address
    assert env["CLAUDE_CODE_USE_BEDROCK"] == "0"


@pytest.mark.parametrize("words", [("--tools", "default"), ("--tools=default",)])
def test_words_of_the_users(request_: AgentRequest, words: tuple[str, ...]) -> None:
    plain = Claude().launch(replace(request_, arguments=("--effort", "low")))
    assert plain.argv[-4:-2] == ("--effort", "low")
    assert "Grep" in option(plain, "--tools")
    own = Claude().launch(replace(request_, arguments=words))
    assert [word for word in own.argv if word.startswith("--tools")] == [words[0]]


def test_a_machine_without_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="npm install -g @anthropic-ai/claude-code"):
        Claude().program(None)


def test_its_abilities_are_said() -> None:
    assert Claude.abilities.tested_version == "2.1.329"
    assert all(limit.endswith(".") for limit in Claude.abilities.limits)
