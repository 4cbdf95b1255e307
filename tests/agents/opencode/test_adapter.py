"""How OpenCode is started, and what its recorded output means."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.opencode.adapter import OpenCode
from swarm_bench.core.outcome import AgentExit, AgentRequest, Launch, Outcome, StopReason, Usage
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.retrieval.witnesses.treatment import label_trial
from swarm_bench.testing.contracts import check_agent

SAMPLES = Path(__file__).parents[1] / "samples" / "opencode"

ENDINGS: dict[str, tuple[int, StopReason | None, Status, Cause]] = {
    "empty_answer": (0, None, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "error401": (1, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "fresh_home_race_exit1": (1, None, Status.AGENT_FAILED, Cause.NO_OUTPUT),
    "log_answer_cut": (0, None, Status.AGENT_FAILED, Cause.ANSWER_CUT),
    "log_conn_refused": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "log_content_filter": (1, None, Status.AGENT_FAILED, Cause.REFUSED),
    "log_context_overflow": (1, None, Status.AGENT_FAILED, Cause.CONTEXT_OVERFLOW),
    "log_error404": (1, None, Status.PROVIDER_LIMITED, Cause.UNKNOWN_MODEL),
    "log_mcp_broken": (0, None, Status.COMPLETED, Cause.FINISHED),
    "log_mcp_success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "log_rate_limited_killed": (-15, "timeout", Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "log_stream_without_usage": (0, None, Status.COMPLETED, Cause.FINISHED),
    "log_turn_limit": (-15, "turn-limit", Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "log_unknown_model": (1, None, Status.PROVIDER_LIMITED, Cause.UNKNOWN_MODEL),
    "mcp_broken_silent": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "sigterm": (-15, None, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "tools": (0, None, Status.COMPLETED, Cause.FINISHED),
}
"""Exit code, why it was stopped, and what that is. Those with `log` have OpenCode's log beside
them. All are of version 1.18.33, against a server that plays the provider."""


def outcome(name: str, tmp_path: Path, servers: tuple[str, ...] = ()) -> Outcome:
    code, stopped, _, _ = ENDINGS[name]
    stderr = SAMPLES / f"{name}.stderr.txt"
    if not stderr.exists():
        stderr = tmp_path / "stderr"
        stderr.touch()
    return OpenCode().outcome(
        AgentExit(
            returncode=code,
            stopped=stopped,
            stdout=SAMPLES / f"{name}.jsonl",
            stderr=stderr,
            servers=servers,
        )
    )


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


def with_servers(request: AgentRequest, **servers: object) -> AgentRequest:
    request.mcp_config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return request


def settings(launch: Launch) -> Any:
    return json.loads(Path(launch.env["OPENCODE_CONFIG"]).read_text(encoding="utf-8"))


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    check_agent(OpenCode(), tmp_path)


def test_every_sample_has_a_row() -> None:
    assert {path.stem for path in SAMPLES.glob("*.jsonl")} == set(ENDINGS)


@pytest.mark.parametrize("name", ENDINGS)
def test_endings(name: str, tmp_path: Path) -> None:
    *_, status, cause = ENDINGS[name]
    found = outcome(name, tmp_path)
    assert (CONSEQUENCES[found.cause].status, found.cause) == (status, cause)
    assert (found.text is not None) == (cause in (Cause.FINISHED, Cause.ANSWER_CUT))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("error401", "invalid x-api-key (HTTP status 401)"),
        ("log_conn_refused", "Cannot connect to API"),
        ("log_rate_limited_killed", "Rate limit reached"),
        ("log_unknown_model", "Model not found: nope/none"),
        ("sigterm", "Exit code -15"),
    ],
)
def test_failures_in_the_words_of_the_program(name: str, words: str, tmp_path: Path) -> None:
    assert words in (outcome(name, tmp_path).detail or "")


def test_an_answer_and_its_figures(tmp_path: Path) -> None:
    found = outcome("tools", tmp_path)
    assert found.text == "done after tools"
    assert found.usage == Usage(input=90, cache_read=90, cache_create=0, output=15)
    assert found.turns == 3
    assert found.turn_usage is not None
    assert found.turn_usage[1] == Usage(input=30, cache_read=30, cache_create=0, output=5)
    assert found.cost == pytest.approx(0.000129)
    assert found.tool_calls == {"bash": 2}
    assert (found.payload or b"").startswith(b'{"type":"step_finish"')


def test_without_a_log_its_figures_are_missing(tmp_path: Path) -> None:
    found = outcome("tools", tmp_path, servers=("canopy",))
    assert (found.retries, found.compactions, found.subagents, found.servers) == (None,) * 4
    assert found.all_in == Usage()


def test_the_log_has_servers_and_model(tmp_path: Path) -> None:
    found = outcome("log_mcp_success", tmp_path, servers=("canopy",))
    assert found.servers == {"canopy": "connected"}
    assert found.tool_calls == {"mcp__canopy__canopy_evidence_pack": 2}
    assert found.model == "rehearsal/rehearsal"
    assert found.program_version == "1.18.33"
    assert (found.retries, found.compactions, found.subagents) == (0, 0, 0)
    assert found.all_in == found.usage
    assert label_trial(["canopy"], found)[0] == "used"


def test_braces_in_a_server_reach_it_as_they_stand(request_: AgentRequest) -> None:
    """The program replaces them in the text of its settings."""
    servers = {"one": {"command": "x", "env": {"KEY": "{env:HOME}{file:/etc/hostname}"}}}
    request_.mcp_config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    text = Path(OpenCode().launch(request_).env["OPENCODE_CONFIG"]).read_text("utf-8")
    assert "{env:" not in text
    assert "{file:" not in text
    (given,) = json.loads(text)["mcp"].values()
    assert given["environment"] == servers["one"]["env"]


def test_tools_have_times_and_sizes(tmp_path: Path) -> None:
    found = outcome("tools", tmp_path)
    assert found.tool_calls == {"bash": 2}
    assert found.tool_seconds == {"bash": 0.099}
    assert found.tool_result_tokens == {"bash": 2}


def test_a_failed_call_has_the_size_of_its_error_and_an_attachment_none(tmp_path: Path) -> None:
    states = {
        "grep": {"status": "error", "error": "no such"},
        "read": {"status": "completed", "output": "a", "attachments": [{"mime": "image/png"}]},
    }
    events = [
        {"type": "tool_use", "part": {"tool": name, "state": state}}
        for name, state in states.items()
    ]
    stdout, stderr = tmp_path / "stdout", tmp_path / "stderr"
    stdout.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    stderr.touch()
    found = OpenCode().outcome(AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=stderr))
    assert found.tool_seconds is None
    assert found.tool_result_tokens == {"grep": 2}


def test_a_broken_server_shows(tmp_path: Path) -> None:
    found = outcome("log_mcp_broken", tmp_path, servers=("canopy",))
    assert found.servers == {"canopy": "failed"}
    assert label_trial(["canopy"], found)[0] == "not-connected"


def test_a_model_without_a_price_has_no_cost(tmp_path: Path) -> None:
    assert outcome("log_mcp_success", tmp_path).cost is None


def test_a_step_without_a_cost_leaves_none_to_the_run(tmp_path: Path) -> None:
    lines = (SAMPLES / "tools.jsonl").read_text("utf-8").replace('"cost":', '"price":', 1)
    (stdout := tmp_path / "stdout").write_text(lines, encoding="utf-8")
    (stderr := tmp_path / "stderr").touch()
    exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=stderr)
    assert OpenCode().outcome(exit).cost is None


def test_tokens_that_the_provider_did_not_give_are_missing(tmp_path: Path) -> None:
    found = outcome("log_stream_without_usage", tmp_path)
    assert found.usage.effective is None
    assert found.usage.input is None


def test_a_stopped_run_has_what_it_used(tmp_path: Path) -> None:
    found = outcome("log_turn_limit", tmp_path)
    assert found.usage == Usage(input=120, cache_read=180, cache_create=0, output=150)
    assert found.turns == 3


def test_retries_are_counted(tmp_path: Path) -> None:
    assert outcome("log_conn_refused", tmp_path).retries == 5


def test_a_stream_that_broke_is_the_providers_failure(tmp_path: Path) -> None:
    event = {"type": "step_finish", "part": {"reason": "unknown", "tokens": {"input": 0}}}
    (tmp_path / "stdout").write_text(json.dumps(event), encoding="utf-8")
    (tmp_path / "stderr").touch()
    found = OpenCode().outcome(
        AgentExit(
            returncode=0, stopped=None, stdout=tmp_path / "stdout", stderr=tmp_path / "stderr"
        )
    )
    assert (found.cause, found.usage) == (Cause.PROVIDER_FAILED, Usage())


def test_a_refused_call_is_no_success(tmp_path: Path) -> None:
    state = {"status": "error", "error": "The user rejected permission to use this tool"}
    event = {"type": "tool_use", "part": {"tool": "bash", "state": state}}
    (tmp_path / "stdout").write_text(json.dumps(event), encoding="utf-8")
    (tmp_path / "stderr").touch()
    found = OpenCode().outcome(
        AgentExit(
            returncode=0, stopped=None, stdout=tmp_path / "stdout", stderr=tmp_path / "stderr"
        )
    )
    assert found.tool_failures == found.permission_denials == {"bash": 1}
    assert found.tool_unanswered is None


def test_steps_that_called_tools_are_turns_of_the_budget() -> None:
    lines = (SAMPLES / "tools.jsonl").read_bytes().splitlines()
    seen = [activity for line in lines if (activity := OpenCode().activity(line)) is not None]
    assert sum(activity.turns for activity in seen) == 2
    assert "bash echo hi" in [activity.doing for activity in seen]
    assert len([activity for activity in seen if activity.usage]) == 3


def test_the_launch(request_: AgentRequest) -> None:
    launch = OpenCode().launch(replace(request_, model="a/b", arguments=("--thinking",)))
    assert launch.argv[:2] == ("opencode", "run")
    assert launch.argv[-3:] == ("--thinking", "--", "--What is here?")
    assert launch.argv[launch.argv.index("--model") + 1] == "a/b"
    assert launch.turn_limit == 7
    assert "ANTHROPIC_API_KEY" in launch.inherit


def test_nothing_of_user_or_workspace_is_read(request_: AgentRequest) -> None:
    launch = OpenCode().launch(request_)
    assert "--pure" in launch.argv
    assert launch.env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert launch.env["OPENCODE_DISABLE_EXTERNAL_SKILLS"] == "1"
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        assert Path(launch.env[name]).is_relative_to(request_.home)


def test_servers_are_named_so_that_their_tools_can_be_told(request_: AgentRequest) -> None:
    stdio = {"command": "tool", "args": ["--root", "/r"], "env": {"KEY": "a"}}
    http = {"type": "http", "url": "http://h/mcp", "headers": {"X": "1"}}
    given = settings(OpenCode().launch(with_servers(request_, **{"my tool": stdio, "web": http})))
    assert set(given["mcp"]) == {"mcp__my_tool_", "mcp__web_"}
    assert given["mcp"]["mcp__my_tool_"]["command"] == ["tool", "--root", "/r"]
    assert given["mcp"]["mcp__my_tool_"]["environment"] == {"KEY": "a"}
    assert given["mcp"]["mcp__web_"]["url"] == "http://h/mcp"
    assert given["mcp"]["mcp__web_"]["headers"] == {"X": "1"}
    found = outcome("log_mcp_success", request_.home, servers=("my tool", "web"))
    assert found.servers == {"my_tool": "connected", "web": "connected"}


def test_modes_differ_by_their_servers_alone(request_: AgentRequest) -> None:
    baseline = OpenCode().launch(request_)
    before = settings(baseline)
    canopy = OpenCode().launch(with_servers(request_, canopy={"command": "canopy"}))
    assert canopy == baseline
    assert {key for key in before if before[key] != settings(canopy)[key]} == {"mcp"}


def test_no_package_is_fetched_for_a_new_home(request_: AgentRequest) -> None:
    OpenCode().launch(request_)
    folder = request_.home / ".config" / "opencode"
    assert (folder / "node_modules").is_dir()
    assert "@opencode-ai/plugin" in (folder / "package-lock.json").read_text(encoding="utf-8")


def test_a_rehearsal_asks_the_loopback_server_and_nobody_else(request_: AgentRequest) -> None:
    url = "http://127.0.0.1:9999/trial/abc"
    launch = OpenCode().launch(replace(request_, model="a/b", rehearsal=url))
    assert settings(launch)["provider"]["rehearsal"]["options"]["baseURL"] == f"{url}/v1"
    assert settings(launch)["model"] == "rehearsal/rehearsal"
    assert launch.inherit == ()
    assert launch.argv[launch.argv.index("--model") + 1] == "rehearsal/rehearsal"
    assert settings(launch)["enabled_providers"] == ["rehearsal"]


def test_the_users_settings_cannot_lead_a_rehearsal_elsewhere(request_: AgentRequest) -> None:
    url = "http://127.0.0.1:9999/trial/abc"
    launch = OpenCode().launch(replace(request_, rehearsal=url, inherit_settings=True))
    assert launch.argv[launch.argv.index("--model") + 1] == "rehearsal/rehearsal"
    given = json.loads(launch.env["OPENCODE_CONFIG_CONTENT"])
    assert given["enabled_providers"] == ["rehearsal"]


def test_the_program_that_was_identified_is_started(request_: AgentRequest) -> None:
    launch = OpenCode().launch(replace(request_, program="/opt/bin/opencode"))
    assert launch.argv[:2] == ("/opt/bin/opencode", "run")


def test_inherited_settings_keep_the_users_home(request_: AgentRequest) -> None:
    with_servers(request_, canopy={"command": "canopy"})
    launch = OpenCode().launch(replace(request_, inherit_settings=True))
    assert not {"HOME", "XDG_CONFIG_HOME", "OPENCODE_CONFIG"} & set(launch.env)
    assert "OPENCODE_DISABLE_PROJECT_CONFIG" not in launch.env
    assert "mcp__canopy_" in json.loads(launch.env["OPENCODE_CONFIG_CONTENT"])["mcp"]
    assert "--pure" not in launch.argv
