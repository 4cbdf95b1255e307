"""How Codex is started, and what its recorded output means."""

import json
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from swarm_bench.agents.codex.adapter import Codex
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import AgentExit, AgentRequest, Launch, Outcome, StopReason, Usage
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.retrieval.witnesses.treatment import label_trial
from swarm_bench.testing.contracts import check_agent

SAMPLES = Path(__file__).parents[1] / "samples" / "codex"

ENDINGS: dict[str, tuple[int, StopReason | None, Status, Cause]] = {
    "conn_refused_killed_at_120s": (-15, "timeout", Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "empty_answer": (0, None, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "error401": (1, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "error429": (1, None, Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "error500": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "log_answer_cut": (1, None, Status.AGENT_FAILED, Cause.ANSWER_CUT),
    "log_broken_stream_then_success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "log_conn_refused": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "log_content_filter": (1, None, Status.AGENT_FAILED, Cause.REFUSED),
    "log_context_overflow": (1, None, Status.AGENT_FAILED, Cause.CONTEXT_OVERFLOW),
    "log_error429_quota": (1, None, Status.PROVIDER_LIMITED, Cause.NO_CREDIT),
    "log_error500": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "log_error503": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "log_failing_command": (0, None, Status.COMPLETED, Cause.FINISHED),
    "log_mcp_required_broken": (1, None, Status.HARNESS_FAILED, Cause.NOT_STARTED),
    "log_mcp_success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "log_parallel_calls": (0, None, Status.COMPLETED, Cause.FINISHED),
    "log_rate_limited_killed": (-15, "timeout", Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "log_turn_limit": (-15, "turn-limit", Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "mcp_broken_silent": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_no_approval_fails": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_required_slow_ok": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_slow_not_offered": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "sigint": (1, None, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "sigterm": (-15, None, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "tools": (0, None, Status.COMPLETED, Cause.FINISHED),
}
"""Exit code, why it was stopped, and what that is. Those with `log` have Codex's log beside them.
All are of version 0.169.0, against a server that plays the provider."""


def outcome(name: str, tmp_path: Path) -> Outcome:
    code, stopped, _, _ = ENDINGS[name]
    stderr = SAMPLES / f"{name}.stderr.txt"
    if not stderr.exists():
        stderr = tmp_path / "stderr"
        stderr.touch()
    return Codex().outcome(
        AgentExit(returncode=code, stopped=stopped, stdout=SAMPLES / f"{name}.jsonl", stderr=stderr)
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


def settings(launch: Launch) -> dict[str, object]:
    """The settings on the command line, as Codex reads them."""
    lines = [
        word for before, word in zip(launch.argv, launch.argv[1:], strict=False) if before == "-c"
    ]
    return tomllib.loads("\n".join(lines))


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    check_agent(Codex(), tmp_path)


def test_every_sample_has_a_row() -> None:
    assert {path.stem for path in SAMPLES.glob("*.jsonl")} == set(ENDINGS)


@pytest.mark.parametrize("name", ENDINGS)
def test_endings(name: str, tmp_path: Path) -> None:
    *_, status, cause = ENDINGS[name]
    found = outcome(name, tmp_path)
    assert (CONSEQUENCES[found.cause].status, found.cause) == (status, cause)
    assert (found.text is not None) == (cause is Cause.FINISHED)
    assert found.cost is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("conn_refused_killed_at_120s", "Connection failed"),
        ("error401", "401 Unauthorized"),
        ("log_error500", "(HTTP status 500)"),
        ("log_mcp_required_broken", "required MCP servers failed to initialize: canopy"),
        ("log_rate_limited_killed", "last status: 429"),
        ("sigterm", "Exit code -15"),
    ],
)
def test_failures_in_the_words_of_the_program(name: str, words: str, tmp_path: Path) -> None:
    assert words in (outcome(name, tmp_path).detail or "")


def test_an_answer_and_its_figures(tmp_path: Path) -> None:
    found = outcome("tools", tmp_path)
    assert found.text == "done after tools"
    assert found.usage == Usage(input=60, cache_read=60, cache_create=0, output=10)
    assert found.tool_calls == {"shell": 1}
    assert found.tool_failures == {}
    assert (found.payload or b"").startswith(b'{"type":"turn.completed"')


def test_without_a_log_its_figures_are_missing(tmp_path: Path) -> None:
    found = outcome("tools", tmp_path)
    assert (found.turns, found.turn_usage, found.retries, found.servers) == (None,) * 4
    assert found.all_in == Usage()


def test_the_log_has_turns_servers_and_model(tmp_path: Path) -> None:
    found = outcome("log_mcp_success", tmp_path)
    assert found.turns == 3
    assert found.turn_usage == (Usage(input=23, cache_read=60, cache_create=17, output=50),) * 3
    assert found.usage == Usage(input=69, cache_read=180, cache_create=51, output=150)
    assert found.all_in == found.usage
    assert found.servers == {"canopy": "connected"}
    assert found.tool_calls == {"mcp__canopy__canopy_evidence_pack": 2}
    assert found.tool_failures == {}
    assert found.program_version == "0.169.0"
    assert found.model == "rehearsal"
    assert found.retries == 0


def test_a_server_of_the_users_own_may_not_have_connected(tmp_path: Path) -> None:
    log = (SAMPLES / "log_mcp_success.stderr.txt").read_text(encoding="utf-8")
    stderr = tmp_path / "stderr"
    stderr.write_text(log.replace('"canopy"', '"canopy, mine"'), encoding="utf-8")
    stdout = SAMPLES / "log_mcp_success.jsonl"
    exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=stderr)
    assert Codex().outcome(exit).servers == {"canopy": "unknown", "mine": "unknown"}


def test_the_treatment_shows(tmp_path: Path) -> None:
    baseline, used = outcome("log_turn_limit", tmp_path), outcome("log_mcp_success", tmp_path)
    assert label_trial([], baseline)[0] == "not-given"
    assert label_trial(["canopy"], used)[0] == "used"
    assert label_trial([], used)[0] == "contaminated"


def test_the_log_has_times_and_sizes_of_tools(tmp_path: Path) -> None:
    pack = "mcp__canopy__canopy_evidence_pack"
    found = outcome("log_mcp_success", tmp_path)
    assert (found.tool_seconds, found.tool_result_tokens) == ({pack: 0.028}, {pack: 378})
    together = outcome("log_parallel_calls", tmp_path)
    assert (together.tool_seconds, together.tool_result_tokens) == ({"shell": 0.043}, {"shell": 54})
    without_log = outcome("mcp_success", tmp_path)
    assert (without_log.tool_seconds, without_log.tool_result_tokens) == (None, None)


def test_what_the_log_does_not_say_of_every_call_is_missing(tmp_path: Path) -> None:
    log = (SAMPLES / "log_parallel_calls.stderr.txt").read_text("utf-8")
    exit = AgentExit(
        returncode=0,
        stopped=None,
        stdout=SAMPLES / "log_parallel_calls.jsonl",
        stderr=tmp_path / "stderr",
    )
    exit.stderr.write_text(log.replace("duration_ms=15 success", "success"), encoding="utf-8")
    assert Codex().outcome(exit).tool_seconds == {}
    shortened = log.replace("output_truncated=false", "output_truncated=true", 1)
    exit.stderr.write_text(shortened, encoding="utf-8")
    assert Codex().outcome(exit).tool_result_tokens == {}
    exit.stderr.write_text(log.replace("call_id=call_1_1", "call_id=call_1_0"), encoding="utf-8")
    assert Codex().outcome(exit).tool_result_tokens == {}


def test_a_stopped_run_has_what_it_used(tmp_path: Path) -> None:
    found = outcome("log_turn_limit", tmp_path)
    assert found.usage == Usage(input=69, cache_read=180, cache_create=51, output=150)
    assert found.turns == 3
    assert found.tool_calls == {"shell": 3}


def test_figures_that_contradict_each_other_are_missing(tmp_path: Path) -> None:
    stdout = tmp_path / "stdout"
    usage = '"input_tokens":5,"cached_input_tokens":9,"cache_write_input_tokens":0'
    stdout.write_text(
        f'{{"type":"turn.completed","usage":{{{usage},"output_tokens":2}}}}', encoding="utf-8"
    )
    (tmp_path / "stderr").touch()
    exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=tmp_path / "stderr")
    assert Codex().outcome(exit).usage == Usage(output=2)


def test_retries_are_counted(tmp_path: Path) -> None:
    assert outcome("log_broken_stream_then_success", tmp_path).retries == 1
    assert outcome("log_error500", tmp_path).retries == 8  # nine requests were seen


def test_failed_and_refused_calls(tmp_path: Path) -> None:
    assert outcome("log_failing_command", tmp_path).tool_failures == {"shell": 1}
    refused = outcome("mcp_no_approval_fails", tmp_path)
    assert refused.permission_denials == {"mcp__canopy__canopy_query": 1}
    assert refused.tool_failures == {"mcp__canopy__canopy_query": 1}
    assert refused.tool_unanswered == {}


def test_calls_that_never_completed(tmp_path: Path) -> None:
    cut = outcome("sigterm", tmp_path)
    assert cut.tool_calls == cut.tool_unanswered == {"shell": 1}
    given = {"id": "item_0", "type": "mcp_tool_call", "server": "s", "tool": "t"}
    open_still = given | {"status": "in_progress"}
    events = [
        {"type": "thread.started"},
        {"type": "item.started", "item": open_still},
        {"type": "item.completed", "item": open_still},
    ]
    stdout, stderr = tmp_path / "stdout", tmp_path / "stderr"
    exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=stderr)
    stdout.write_text("\n".join(map(json.dumps, events)))
    found = Codex().outcome(exit)
    assert (found.tool_failures, found.tool_unanswered) == ({}, {"mcp__s__t": 1})
    done = {"type": "item.completed", "item": given | {"status": "completed"}}
    stdout.write_text("\n".join(map(json.dumps, [*events, done])))
    assert Codex().outcome(exit).tool_unanswered == {}


def test_words_before_a_tool_call_are_no_answer(tmp_path: Path) -> None:
    stdout = tmp_path / "stdout"
    lines = (SAMPLES / "tools.jsonl").read_text(encoding="utf-8").splitlines()
    stdout.write_text("\n".join(line for line in lines if "done after" not in line))
    (tmp_path / "stderr").touch()
    exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=tmp_path / "stderr")
    found = Codex().outcome(exit)
    assert (found.cause, found.text) == (Cause.EMPTY_ANSWER, None)


def test_the_live_view_has_the_calls_and_the_tokens() -> None:
    lines = (SAMPLES / "log_parallel_calls.jsonl").read_bytes().splitlines()
    seen = [activity for line in lines if (activity := Codex().activity(line)) is not None]
    assert sum(activity.turns for activity in seen) == 0
    assert "shell /bin/bash -lc 'echo hi'" in [activity.doing for activity in seen]
    assert [activity.usage for activity in seen if activity.usage] == [
        Usage(input=46, cache_read=120, cache_create=34, output=100)
    ]


@pytest.mark.parametrize(
    ("name", "turns"),
    [("log_parallel_calls", 2), ("log_conn_refused", 0), ("log_turn_limit", 3)],
)
def test_every_request_that_is_answered_counts_for_the_budget(name: str, turns: int) -> None:
    lines = (SAMPLES / f"{name}.stderr.txt").read_bytes().splitlines()
    seen = [activity for line in lines if (activity := Codex().activity(line)) is not None]
    assert sum(activity.turns for activity in seen) == turns


def test_the_launch(request_: AgentRequest) -> None:
    launch = Codex().launch(replace(request_, model="gpt-x", arguments=("--oss",)))
    assert launch.argv[:2] == ("codex", "exec")
    assert launch.argv[-3:] == ("--oss", "--", "--What is here?")
    assert launch.argv[launch.argv.index("--model") + 1] == "gpt-x"
    assert launch.turn_limit == 8
    assert "CODEX_API_KEY" in launch.inherit
    assert "--model" not in Codex().launch(request_).argv


def test_nothing_of_user_or_workspace_is_read(request_: AgentRequest) -> None:
    launch = Codex().launch(request_)
    given = settings(launch)
    assert launch.env["HOME"] == str(request_.home)
    assert launch.env["CODEX_HOME"] == str(request_.home / ".codex")
    assert given["project_doc_max_bytes"] == 0
    assert given["features"] == {
        "plugins": False,
        "apps": False,
        "hooks": False,
        "unbounded_connection_retries": False,
    }
    assert given["skills"] == {"include_instructions": False, "bundled": {"enabled": False}}


def test_servers_are_required_and_not_on_the_command_line(request_: AgentRequest) -> None:
    stdio = {"command": "tool", "args": ["--root", "/r"], "env": {"KEY": 'a "b" \\ \x7f\n'}}
    http = {"type": "http", "url": "http://h/mcp", "headers": {"X": "1"}}
    launch = Codex().launch(with_servers(request_, **{"my tool": stdio, "web": http}))
    assert not any("tool" in word and "--root" in word for word in launch.argv)
    written = (request_.home / ".codex" / "config.toml").read_text(encoding="utf-8")
    servers = tomllib.loads(written)["mcp_servers"]
    assert set(servers) == {"my_tool", "web"}
    assert servers["my_tool"].items() >= stdio.items()
    assert servers["web"]["url"] == "http://h/mcp"
    assert servers["web"]["http_headers"] == {"X": "1"}
    assert all(server["required"] is True for server in servers.values())


def test_modes_differ_by_their_servers_alone(request_: AgentRequest) -> None:
    baseline = Codex().launch(request_)
    assert Codex().launch(with_servers(request_, canopy={"command": "canopy"})) == baseline


def test_retries_are_bounded(request_: AgentRequest) -> None:
    provider = settings(Codex().launch(request_))["model_providers"]
    assert isinstance(provider, dict)
    assert provider["swarm_bench"]["request_max_retries"] == 2
    assert provider["swarm_bench"]["stream_max_retries"] == 2
    assert provider["swarm_bench"]["requires_openai_auth"] is True


def test_a_rehearsal_asks_the_loopback_server_and_nobody_else(request_: AgentRequest) -> None:
    url = "http://127.0.0.1:9999/trial/abc"
    launch = Codex().launch(replace(request_, model="gpt-x", rehearsal=url))
    provider = settings(launch)["model_providers"]
    assert isinstance(provider, dict)
    assert provider["swarm_bench"]["base_url"] == f"{url}/v1"
    assert provider["swarm_bench"]["env_key"] in launch.env
    assert launch.inherit == ()
    assert "gpt-x" not in launch.argv


def test_inherited_settings_keep_the_users_home(request_: AgentRequest) -> None:
    with_servers(request_, canopy={"command": "canopy"})
    launch = Codex().launch(replace(request_, inherit_settings=True))
    assert not {"HOME", "CODEX_HOME", "TMPDIR"} & set(launch.env)
    given = settings(launch)
    assert "project_doc_max_bytes" not in given
    assert isinstance(given["mcp_servers"], dict)
    assert given["mcp_servers"]["canopy"]["command"] == "canopy"


def test_secrets_of_servers_are_on_no_command_line(request_: AgentRequest) -> None:
    stdio = {"command": "printenv", "args": ["KEY"], "env": {"KEY": "pri'vate $1\n"}}
    http = {"url": "http://h/mcp", "headers": {"Authorization": "Bearer hush"}}
    with_servers(request_, tool=stdio, web=http)
    launch = Codex().launch(replace(request_, inherit_settings=True))
    assert not any("vate" in word or "hush" in word for word in launch.argv)
    servers = settings(launch)["mcp_servers"]
    assert isinstance(servers, dict)
    variable = servers["web"]["env_http_headers"]["Authorization"]
    assert launch.env[variable] == "Bearer hush"
    words = [servers["tool"]["command"], *servers["tool"]["args"]]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert said.stdout == "pri'vate $1\n\n"


def test_a_variable_that_no_shell_can_set_is_refused(request_: AgentRequest) -> None:
    with_servers(request_, tool={"command": "tool", "env": {"A-B": "1"}})
    with pytest.raises(UsageError, match="rename it"):
        Codex().launch(replace(request_, inherit_settings=True))


def test_the_program_that_was_identified_is_started(request_: AgentRequest) -> None:
    launch = Codex().launch(replace(request_, program="/opt/bin/codex"))
    assert launch.argv[:2] == ("/opt/bin/codex", "exec")


def test_an_answer_stays_one_whatever_comes_after_it(tmp_path: Path) -> None:
    (tmp_path / "stderr").touch()
    exit = AgentExit(
        returncode=-9,
        stopped="timeout",
        stdout=SAMPLES / "tools.jsonl",
        stderr=tmp_path / "stderr",
    )
    found = Codex().outcome(exit)
    assert (found.cause, found.text) == (Cause.TIMEOUT, "done after tools")
