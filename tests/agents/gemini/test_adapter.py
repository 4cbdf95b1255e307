"""Gemini CLI: how it is launched, and what its recorded output is read as. All samples are of
0.61.0, run against a server that plays the provider."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.gemini.adapter import Gemini
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import AgentExit, AgentRequest, Launch, Outcome, StopReason, Usage
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.testing.contracts import check_agent

SAMPLES = Path(__file__).parents[1] / "samples" / "gemini"

ENDINGS: dict[str, tuple[int, StopReason | None, Status, Cause]] = {
    "answer_cut_looks_whole": (0, None, Status.COMPLETED, Cause.FINISHED),
    "conn_refused_killed_at_150s_stream": (
        -9,
        "timeout",
        Status.PROVIDER_LIMITED,
        Cause.PROVIDER_FAILED,
    ),
    "connection_refused": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "context_overflow": (144, None, Status.AGENT_FAILED, Cause.CONTEXT_OVERFLOW),
    "empty_answer": (0, None, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "empty_answer_json": (0, None, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "error401_stdout_empty": (145, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "key_refused": (145, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "loop_detected": (0, None, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "loop_detected_json": (0, None, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "max_turns": (53, None, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "max_turns_json_stdout_empty": (53, None, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "max_turns_stream": (53, None, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "mcp_broken": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_slow_underscore": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_success_stream": (0, None, Status.COMPLETED, Cause.FINISHED),
    "mcp_untrusted_not_offered_stream": (0, None, Status.COMPLETED, Cause.FINISHED),
    "no_login": (41, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "rate_limit": (173, None, Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "refused_by_filter": (0, None, Status.AGENT_FAILED, Cause.REFUSED),
    "server_error": (244, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "sigterm_ignored_stream": (-9, None, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "success_json": (0, None, Status.COMPLETED, Cause.FINISHED),
    "timeout": (0, "timeout", Status.BUDGET_REACHED, Cause.TIMEOUT),
    "tools_stream": (0, None, Status.COMPLETED, Cause.FINISHED),
    "unknown_model": (1, None, Status.PROVIDER_LIMITED, Cause.UNKNOWN_MODEL),
    "untrusted_folder": (55, None, Status.AGENT_FAILED, Cause.NO_OUTPUT),
}
"""Exit code and why we stopped it, and what that is to be read as."""


def outcome(sample: str, home: Path | None = None, servers: tuple[str, ...] = ()) -> Outcome:
    code, stopped, _, _ = ENDINGS[sample]
    stdout = next(path for path in SAMPLES.glob(f"{sample}.*") if "stderr" not in path.name)
    stderr = SAMPLES / f"{sample}.stderr.txt"
    return Gemini().outcome(
        AgentExit(
            returncode=code,
            stopped=stopped,
            stdout=stdout,
            stderr=stderr,
            home=home,
            servers=servers,
        )
    )


@pytest.mark.parametrize("sample", ENDINGS)
def test_every_recorded_run_has_its_cause(sample: str) -> None:
    _, _, status, cause = ENDINGS[sample]
    found = outcome(sample)
    assert (found.cause, CONSEQUENCES[found.cause].status) == (cause, status)


def test_no_sample_is_without_a_row() -> None:
    assert {path.name.partition(".")[0] for path in SAMPLES.iterdir()} == set(ENDINGS)


@pytest.mark.parametrize("sample", ENDINGS)
def test_only_answers_have_a_text_and_only_failures_a_detail(sample: str) -> None:
    found = outcome(sample)
    assert (found.text is not None) == (found.cause is Cause.FINISHED)
    assert found.detail is None or found.cause is not Cause.FINISHED


def test_prompt_tokens_are_split_and_thoughts_are_output() -> None:
    found = outcome("mcp_success_stream")
    assert found.usage == Usage(input=60, cache_read=30, cache_create=0, output=14)
    assert found.usage.effective == 104


def test_a_run_without_an_answered_request_has_no_figures() -> None:
    for sample in ("key_refused", "rate_limit", "connection_refused"):
        assert outcome(sample).usage == Usage()


def test_thoughts_are_unknown_when_the_total_leaves_them_out(tmp_path: Path) -> None:
    stats = {"total_tokens": 0, "input_tokens": 30, "output_tokens": 5, "cached": 10}
    events: list[dict[str, Any]] = [
        {"type": "init", "session_id": "s", "model": "gemini-2.5-pro"},
        {"type": "message", "role": "assistant", "content": "Hi.", "delta": True},
        {"type": "result", "status": "success", "stats": stats},
    ]
    found = read(tmp_path, events)
    assert found.usage == Usage(input=20, cache_read=10, cache_create=0, output=None)


def test_turns_are_counted_by_the_tools_between_them() -> None:
    assert outcome("tools_stream").turns == 3
    assert outcome("max_turns").turns == 3
    assert outcome("key_refused").turns is None


def test_the_answer_is_what_was_said_after_the_last_tool() -> None:
    assert outcome("tools_stream").text == "done after tools"


def test_mcp_tools_have_the_names_of_a_record() -> None:
    assert outcome("mcp_success_stream").tool_calls == {"mcp__canopy__canopy_query": 1}
    assert outcome("mcp_slow_underscore").tool_calls == {"mcp__my_server__find_where": 1}
    assert outcome("loop_detected_json").tool_calls == {"run_shell_command": 4}


def test_failed_calls_are_counted(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [
        {"type": "init", "session_id": "s", "model": "gemini-2.5-pro"},
        {"type": "tool_use", "tool_name": "mcp_canopy_look", "tool_id": "1", "parameters": {}},
        {"type": "tool_result", "tool_id": "1", "status": "error", "output": "no"},
    ]
    found = read(tmp_path, events)
    assert found.tool_failures == {"mcp__canopy__look": 1}
    assert found.tool_unanswered == {}


def test_calls_without_a_result_are_counted_where_calls_are_shown_one_by_one() -> None:
    cut = outcome("sigterm_ignored_stream")
    assert cut.tool_calls == cut.tool_unanswered == {"run_shell_command": 1}
    assert outcome("loop_detected_json").tool_unanswered is None


def test_retries_are_counted() -> None:
    assert outcome("rate_limit").retries == 3
    assert outcome("server_error").retries == 3
    assert outcome("tools_stream").retries == 0


def test_the_home_tells_each_request_and_the_servers(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "repo" / "chats"
    chats.mkdir(parents=True)
    tokens = {"input": 100, "output": 5, "cached": 40, "thoughts": 2, "tool": 0, "total": 107}
    answer: dict[str, Any] = {"id": "a", "type": "gemini", "tokens": tokens}
    lines: list[dict[str, Any]] = [
        {"sessionId": "s"},
        answer,
        {**answer, "toolCalls": []},
        {**answer, "id": "b"},
    ]
    write_lines(chats / "session-1.jsonl", lines)
    log = "[2026-11-21T02:13:54Z] [LOG] [MCP error] Error during discovery for MCP server 'canopy'"
    (tmp_path / "gemini-debug.log").write_text(f"{log}: gone\n", encoding="utf-8")
    found = outcome("timeout", tmp_path, ("my server", "canopy"))
    once = Usage(input=60, cache_read=40, cache_create=0, output=7)
    assert found.turn_usage == (once, once)
    assert found.usage.effective == 214  # of a run that could not say its own figures
    assert found.servers == {"my_server": "connected", "canopy": "failed"}


def test_a_call_that_was_made_alone_has_a_time() -> None:
    found = outcome("tools_stream")
    assert found.tool_seconds == {"run_shell_command": 0.077}
    assert found.tool_result_tokens is None  # what is printed is for people


def test_calls_made_together_have_a_time_if_they_are_of_one_tool(tmp_path: Path) -> None:
    def event(kind: str, call: str, second: int) -> dict[str, Any]:
        time = f"2026-11-21T01:00:0{second}.500Z"
        return {"type": kind, "timestamp": time, "tool_id": call, "tool_name": call[0]}

    events = [
        {"type": "init"},
        *(event("tool_use", "a", 1), event("tool_use", "b1", 1)),
        *(event("tool_result", "a", 2), event("tool_result", "b1", 2)),
        *(event("tool_use", "b2", 3), event("tool_result", "b2", 5)),
        *(event("tool_use", "c1", 5), event("tool_use", "c2", 5)),
        *(event("tool_result", "c1", 6), event("tool_result", "c2", 6)),
    ]
    assert read(tmp_path, events).tool_seconds == {"c": 1.0}


def test_the_conversation_has_what_the_model_got_from_tools(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "repo" / "chats"
    chats.mkdir(parents=True)
    call = "mcp_canopy_canopy_query__fc490"
    result = [{"functionResponse": {"id": call, "response": {"output": "123456789"}}}]
    entry = {"id": "a", "type": "gemini", "toolCalls": [{"id": call, "result": result}]}
    write_lines(chats / "session-1.jsonl", [{"sessionId": "s"}, entry])
    found = outcome("mcp_success_stream", tmp_path)
    assert found.tool_seconds == {"mcp__canopy__canopy_query": 0.031}
    assert found.tool_result_tokens == {"mcp__canopy__canopy_query": 3}
    entry["toolCalls"] = [{"id": call, "result": [*result, {"inlineData": {"data": "AAAA"}}]}]
    write_lines(chats / "session-1.jsonl", [entry])
    assert outcome("mcp_success_stream", tmp_path).tool_result_tokens == {}


def test_the_summary_in_one_object_has_times_of_tools_called_once(tmp_path: Path) -> None:
    """It adds up the times of calls, which may have been made together."""
    assert outcome("loop_detected_json").tool_seconds is None
    whole = json.loads((SAMPLES / "loop_detected_json.json").read_text("utf-8"))
    whole["stats"]["tools"]["byName"]["run_shell_command"]["count"] = 1
    assert read(tmp_path, [whole]).tool_seconds == {"run_shell_command": 0.27}


def test_the_summary_in_one_object_adds_up_models_of_which_none_is_missing(tmp_path: Path) -> None:
    whole = json.loads((SAMPLES / "loop_detected_json.json").read_text("utf-8"))
    models = whole["stats"]["models"]
    models["other"] = {"api": {"totalRequests": 2}, "tokens": {"prompt": 1, "candidates": 1}}
    outcome = read(tmp_path, [whole])
    assert (outcome.turns, outcome.usage.output) == (6, None)
    del models["other"]["api"]
    assert read(tmp_path, [whole]).turns is None


def test_figures_of_more_conversations_than_are_read_are_missing(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "repo" / "chats"
    chats.mkdir(parents=True)
    (tmp_path / "elsewhere").write_text("{}", encoding="utf-8")
    (chats / "session-link.jsonl").symlink_to(tmp_path / "elsewhere")
    assert outcome("timeout", tmp_path).turn_usage is None
    for number in range(120):
        (chats / f"session-{number}.jsonl").touch()
    assert outcome("timeout", tmp_path).turn_usage is None


def test_names_of_tools_can_be_written_as_utf_8(tmp_path: Path) -> None:
    stats = '{"models": {}, "tools": {"byName": {"\\ud800": {"count": 1}}}}'
    said = f'{{"session_id": "s", "response": "a", "stats": {stats}}}'
    (tmp_path / "stdout").write_text(said, encoding="utf-8")
    (tmp_path / "stderr").touch()
    exit = AgentExit(
        returncode=0, stopped=None, stdout=tmp_path / "stdout", stderr=tmp_path / "stderr"
    )
    assert Gemini().outcome(exit).tool_calls == {"\ufffd": 1}


def test_without_its_home_nothing_is_said_of_servers() -> None:
    assert outcome("mcp_broken").servers is None
    assert outcome("mcp_broken").turn_usage is None


def test_it_keeps_the_contract_of_an_agent(tmp_path: Path) -> None:
    check_agent(Gemini(), tmp_path)


def test_activity_says_what_it_does() -> None:
    lines = (SAMPLES / "tools_stream.jsonl").read_bytes().splitlines()
    doing = [seen.doing for line in lines if (seen := Gemini().activity(line)) is not None]
    assert doing[:2] == ["writing", "run_shell_command echo hi"]


def test_its_settings_hold_exactly_the_servers_and_the_turns(tmp_path: Path) -> None:
    launch = launched(tmp_path, servers={"canopy_x": {"command": "canopy-mcp", "args": ["--a"]}})
    settings = settings_of(tmp_path)
    assert settings["mcpServers"] == {
        "canopy--x": {"command": "canopy-mcp", "args": ["--a"], "trust": True, "timeout": 120_000}
    }
    assert settings["model"] == {"maxSessionTurns": 7}
    assert option(launch, "--allowed-mcp-server-names") == "canopy--x"
    assert launch.env["HOME"] == str(tmp_path / "home")


def test_the_baseline_allows_no_server(tmp_path: Path) -> None:
    launch = launched(tmp_path)
    assert settings_of(tmp_path)["mcpServers"] == {}
    assert option(launch, "--allowed-mcp-server-names") == "none-of-them"


def test_servers_over_http_are_named_as_the_program_names_them(tmp_path: Path) -> None:
    launched(tmp_path, servers={"a": {"type": "http", "url": "http://x/mcp"},
                                "b": {"type": "sse", "url": "http://x/sse"}})  # fmt: skip
    servers = settings_of(tmp_path)["mcpServers"]
    assert servers["a"]["httpUrl"] == "http://x/mcp"
    assert servers["b"]["url"] == "http://x/sse"


def test_a_server_name_that_could_not_be_told_again_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rename the server"):
        launched(tmp_path, servers={"my--server": {"command": "x"}})


def test_a_rehearsal_has_its_own_address_key_and_model(tmp_path: Path) -> None:
    launch = launched(tmp_path, rehearsal="http://127.0.0.1:1/trial/t")
    assert launch.env["GOOGLE_GEMINI_BASE_URL"] == "http://127.0.0.1:1/trial/t"
    assert launch.env["GEMINI_API_KEY"] == "rehearsal"
    assert option(launch, "--model") == "gemini-2.5-pro"
    assert launch.inherit == ()


def test_the_users_settings_cannot_lead_a_rehearsal_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "user" / ".gemini").mkdir(parents=True)
    theirs = {"security": {"auth": {"selectedType": "vertex-ai", "enforcedType": "vertex-ai"}}}
    settings = tmp_path / "user" / ".gemini" / "settings.json"
    settings.write_text(json.dumps(theirs), encoding="utf-8")
    launch = launched(
        tmp_path,
        rehearsal="http://127.0.0.1:1/trial/t",
        inherit_settings=True,
        environment={"HOME": str(tmp_path / "user")},
    )
    auth = settings_of(tmp_path)["security"]["auth"]
    assert set(auth.values()) == {"gemini-api-key"}
    assert launch.env["HTTPS_PROXY"] == ""


def test_a_real_run_is_let_have_credentials_by_name(tmp_path: Path) -> None:
    launch = launched(tmp_path, model="gemini-2.5-flash")
    assert option(launch, "--model") == "gemini-2.5-flash"
    assert {"GEMINI_API_KEY", "HTTPS_PROXY"} <= set(launch.inherit)
    assert "GEMINI_API_KEY" not in launch.env


def test_words_of_the_user_stand_before_the_prompt(tmp_path: Path) -> None:
    launch = launched(tmp_path, arguments=("--debug",))
    assert launch.argv[-2:] == ("--debug", "--prompt=-v is what?")


def test_with_inherited_settings_only_servers_and_budgets_are_ours(tmp_path: Path) -> None:
    user = tmp_path / "user"
    (user / ".gemini").mkdir(parents=True)
    theirs = {"mcpServers": {"other": {}}, "ui": {"theme": "x"}, "model": {"name": "m"}}
    (user / ".gemini" / "settings.json").write_text(json.dumps(theirs), encoding="utf-8")
    (user / ".gemini" / "GEMINI.md").write_text("mine", encoding="utf-8")
    launch = launched(
        tmp_path,
        servers={"canopy": {"command": "c"}},
        inherit_settings=True,
        environment={"HOME": str(user)},
    )
    settings = settings_of(tmp_path)
    assert set(settings["mcpServers"]) == {"canopy"}
    assert settings["ui"] == {"theme": "x"}
    assert settings["model"] == {"name": "m", "maxSessionTurns": 7}
    assert (tmp_path / "home" / ".gemini" / "GEMINI.md").read_text("utf-8") == "mine"
    assert "HOME" not in launch.env
    assert json.loads((user / ".gemini" / "settings.json").read_text("utf-8")) == theirs


def test_inherited_settings_with_comments_are_refused(tmp_path: Path) -> None:
    (tmp_path / "user" / ".gemini").mkdir(parents=True)
    settings = tmp_path / "user" / ".gemini" / "settings.json"
    settings.write_text('{"ui": {}} // mine', encoding="utf-8")
    environment = {"HOME": str(tmp_path / "user")}
    with pytest.raises(UsageError, match="not plain JSON"):
        launched(tmp_path, inherit_settings=True, environment=environment)


def test_a_key_that_the_user_sets_for_the_agent_is_its_log_in(tmp_path: Path) -> None:
    launched(tmp_path, environment={"GEMINI_API_KEY": "k"})
    assert settings_of(tmp_path)["security"]["auth"]["selectedType"] == "gemini-api-key"
    (tmp_path / "2").mkdir()
    launched(tmp_path / "2")
    assert "selectedType" not in settings_of(tmp_path / "2")["security"]["auth"]


def test_a_dollar_in_a_server_reaches_it_as_it_stands(tmp_path: Path) -> None:
    """The program fills in variables once, and in `env` and `headers` another time, where a
    backslash keeps a `$`."""
    server = {"command": "x", "args": ["$A"], "env": {"KEY": "$B${C}"}}
    launched(tmp_path, servers={"one": server})
    given = settings_of(tmp_path)["mcpServers"]["one"]
    once = json.loads(json.dumps(given).replace("${SWARM_BENCH_UNSET:-$}", "$"))
    assert (once["args"], once["env"]["KEY"]) == (["$A"], "\\$B\\${C}")


def test_the_program_that_was_identified_is_started(tmp_path: Path) -> None:
    assert launched(tmp_path, program="/opt/bin/gemini").argv[0] == "/opt/bin/gemini"


def test_a_prompt_is_never_a_command(tmp_path: Path) -> None:
    launch = launched(tmp_path, prompt="/help me")
    assert launch.argv[-1] == "--prompt=\n/help me"


def launched(folder: Path, *, servers: dict[str, Any] | None = None, **changes: Any) -> Launch:
    home = folder / "home"
    home.mkdir()
    config = home / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers or {}}), encoding="utf-8")
    values: dict[str, Any] = {"model": None, "prompt": "-v is what?", **changes}
    request = AgentRequest(
        workspace=folder / "repo",
        home=home,
        mcp_config=config,
        max_turns=7,
        seed=0,
        **values,
    )
    return Gemini().launch(request)


def settings_of(folder: Path) -> dict[str, Any]:
    text = (folder / "home" / ".gemini" / "settings.json").read_text("utf-8")
    settings: dict[str, Any] = json.loads(text)
    return settings


def option(launch: Launch, name: str) -> str:
    assert launch.argv.count(name) == 1
    return launch.argv[launch.argv.index(name) + 1]


def read(folder: Path, events: list[dict[str, Any]]) -> Outcome:
    stdout, stderr = folder / "stdout", folder / "stderr"
    write_lines(stdout, events)
    stderr.write_bytes(b"")
    return Gemini().outcome(AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=stderr))


def write_lines(path: Path, events: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
