"""Qwen Code: how it is launched, and what its recorded output is read as. The samples with `v024`
in the name are of 0.24.4, the others of 0.15.10; all ran against a server that plays the provider.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.qwen.adapter import Qwen
from swarm_bench.core.outcome import AgentExit, AgentRequest, Launch, Outcome, StopReason, Usage
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.testing.contracts import check_agent

SAMPLES = Path(__file__).parents[1] / "samples" / "qwen"

ENDINGS: dict[str, tuple[int, StopReason | None, Status, Cause]] = {
    "conn_refused_reported_as_success_json": (
        0, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED,
    ),
    "empty_answer_json": (0, None, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "error401_reported_as_success_json": (
        0, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED,
    ),
    "max_turns_json_stdout_empty": (53, None, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "max_turns_stream_no_result": (53, None, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "mcp_toolsearch_stream": (0, None, Status.COMPLETED, Cause.FINISHED),
    "sigterm_stream": (-15, None, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "success_json": (0, None, Status.COMPLETED, Cause.FINISHED),
    "tools_stream": (0, None, Status.COMPLETED, Cause.FINISHED),
    "v024_answer_cut": (0, None, Status.COMPLETED, Cause.FINISHED),
    "v024_connection_refused": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "v024_context_overflow": (1, None, Status.AGENT_FAILED, Cause.CONTEXT_OVERFLOW),
    "v024_empty_answer": (1, None, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "v024_key_refused": (1, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "v024_loop": (1, None, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "v024_max_turns": (53, None, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "v024_mcp_broken": (0, None, Status.COMPLETED, Cause.FINISHED),
    "v024_mcp_slow": (0, None, Status.COMPLETED, Cause.FINISHED),
    "v024_no_login": (1, None, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "v024_rate_limit": (1, None, Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "v024_refused_by_filter": (1, None, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "v024_server_error": (1, None, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "v024_success": (0, None, Status.COMPLETED, Cause.FINISHED),
    "v024_timeout": (-15, "timeout", Status.BUDGET_REACHED, Cause.TIMEOUT),
    "v024_unknown_model": (1, None, Status.PROVIDER_LIMITED, Cause.UNKNOWN_MODEL),
}  # fmt: skip
"""Exit code and why we stopped it, and what that is to be read as."""


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Standard error of samples that have none."""
    path = tmp_path / "stderr"
    path.touch()
    return path


def outcome(sample: str, empty: Path) -> Outcome:
    code, stopped, _, _ = ENDINGS[sample]
    stdout = next(path for path in SAMPLES.glob(f"{sample}.*") if "stderr" not in path.name)
    stderr = SAMPLES / f"{sample}.stderr.txt"
    return Qwen().outcome(
        AgentExit(
            returncode=code,
            stopped=stopped,
            stdout=stdout,
            stderr=stderr if stderr.exists() else empty,
        )
    )


@pytest.mark.parametrize("sample", ENDINGS)
def test_every_recorded_run_has_its_cause(sample: str, empty: Path) -> None:
    _, _, status, cause = ENDINGS[sample]
    found = outcome(sample, empty)
    assert (found.cause, CONSEQUENCES[found.cause].status) == (cause, status)


def test_no_sample_is_without_a_row() -> None:
    assert {path.name.partition(".")[0] for path in SAMPLES.iterdir()} == set(ENDINGS)


@pytest.mark.parametrize("sample", ENDINGS)
def test_only_answers_have_a_text(sample: str, empty: Path) -> None:
    found = outcome(sample, empty)
    assert (found.text is not None) == (found.cause is Cause.FINISHED)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("[API Error: 401 invalid x-api-key]", Cause.NOT_AUTHORIZED),
        ("[API Error: 429 busy]\nPossible quota limitations in place.", Cause.RATE_LIMITED),
        ("[API Error: something]", Cause.PROVIDER_FAILED),
        ("The log has `[API Error: 401 no]` in it.", Cause.FINISHED),
        ("[API Error: 401 no] is what `a.py` prints.", Cause.FINISHED),
        (" ", Cause.EMPTY_ANSWER),
    ],
)
def test_an_error_in_the_place_of_the_answer_is_none(
    tmp_path: Path, empty: Path, answer: str, cause: Cause
) -> None:
    stdout = tmp_path / "stdout"
    result = {"type": "result", "subtype": "success", "is_error": False, "result": answer}
    stdout.write_text(json.dumps(result), encoding="utf-8")
    exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=empty)
    assert Qwen().outcome(exit).cause is cause


def test_prompt_tokens_are_split(empty: Path) -> None:
    found = outcome("v024_success", empty)
    assert found.usage == Usage(input=300, cache_read=150, cache_create=0, output=21)
    assert found.turn_usage is not None
    assert found.turn_usage[-1] == Usage(input=100, cache_read=100, cache_create=0, output=7)
    assert found.turns == len(found.turn_usage) == 3


def test_a_text_before_a_call_is_no_request_of_its_own(empty: Path) -> None:
    found = outcome("tools_stream", empty)
    assert found.turn_usage is not None
    assert len(found.turn_usage) == found.turns == 3


def test_a_used_up_budget_has_the_figures_of_its_requests(empty: Path) -> None:
    found = outcome("v024_max_turns", empty)
    assert found.usage == Usage(input=300, cache_read=150, cache_create=0, output=21)
    assert found.turns == 3
    assert found.tool_calls == {"run_shell_command": 3}


def test_a_run_without_an_answered_request_has_no_figures(empty: Path) -> None:
    for sample in ("v024_key_refused", "v024_server_error", "error401_reported_as_success_json"):
        found = outcome(sample, empty)
        assert (found.usage, found.turns) == (Usage(), 0)


def test_calls_without_a_result_are_counted(empty: Path) -> None:
    cut = outcome("sigterm_stream", empty)
    assert cut.tool_calls == cut.tool_unanswered == {"run_shell_command": 1}
    assert outcome("tools_stream", empty).tool_unanswered == {}


def test_its_start_names_servers_and_tools(empty: Path) -> None:
    found = outcome("v024_mcp_slow", empty)
    assert found.servers == {"my_server": "connected"}
    assert "mcp__my_server__find_where" in (found.tools_offered or ())
    assert "tool_search" not in (found.tools_offered or ())
    assert found.tool_calls == {"mcp__my_server__find_where": 1}
    assert found.program_version == "0.24.4"
    assert outcome("v024_mcp_broken", empty).servers == {"my_server": "disconnected"}


def test_it_keeps_the_contract_of_an_agent(tmp_path: Path) -> None:
    check_agent(Qwen(), tmp_path)


def test_it_is_given_exactly_the_servers_and_the_turns(tmp_path: Path) -> None:
    launch = launched(tmp_path, servers={"canopy": {"command": "canopy-mcp", "args": ["--a"]}})
    assert file_of(tmp_path, "servers.json")["mcpServers"] == {
        "canopy": {"command": "canopy-mcp", "args": ["--a"], "trust": True, "timeout": 120_000}
    }
    assert option(launch, "--allowed-mcp-server-names") == "canopy"
    assert option(launch, "--max-session-turns") == "7"
    assert launch.env["HOME"] == str(tmp_path / "home")


def test_the_baseline_allows_no_server(tmp_path: Path) -> None:
    launch = launched(tmp_path)
    assert file_of(tmp_path, "servers.json") == {"mcpServers": {}}
    assert option(launch, "--allowed-mcp-server-names") == "none-of-them"


def test_tools_are_never_deferred_and_customisations_are_off(tmp_path: Path) -> None:
    launch = launched(tmp_path)
    settings = file_of(tmp_path, "settings.json")
    assert settings["tools"] == {"toolSearch": {"enabled": False}}
    assert settings["memory"]["enableManagedAutoMemory"] is False
    assert "--safe-mode" in launch.argv
    assert launch.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] == str(tmp_path / "home" / "settings.json")


def test_a_rehearsal_has_its_own_address_key_and_model(tmp_path: Path) -> None:
    launch = launched(tmp_path, rehearsal="http://127.0.0.1:1/trial/t")
    assert launch.env["OPENAI_BASE_URL"] == "http://127.0.0.1:1/trial/t/v1"
    assert launch.env["OPENAI_API_KEY"] == "rehearsal"
    assert option(launch, "--model") == "qwen3-coder-plus"
    assert launch.inherit == ()


def test_the_users_settings_cannot_lead_a_rehearsal_elsewhere(tmp_path: Path) -> None:
    launched(tmp_path, rehearsal="http://127.0.0.1:1/trial/t", inherit_settings=True)
    settings = file_of(tmp_path, "settings.json")
    [model] = settings["modelProviders"]["openai"]
    assert (model["id"], model["baseUrl"]) == ("qwen3-coder-plus", "http://127.0.0.1:1/trial/t/v1")
    assert settings["security"]["auth"]["enforcedType"] == "openai"
    assert settings["env"]["OPENAI_API_KEY"] == "rehearsal"


def test_the_workspace_never_chooses_the_provider(tmp_path: Path) -> None:
    launch = launched(tmp_path, model="gpt-5")
    assert launch.env["OPENAI_BASE_URL"] == "https://api.openai.com/v1"
    assert {"OPENAI_API_KEY", "HTTPS_PROXY"} <= set(launch.inherit)
    (tmp_path / "2").mkdir()
    given = {"OPENAI_BASE_URL": "https://models.example/v1"}
    other = launched(tmp_path / "2", model="gpt-5", environment=given)
    assert "OPENAI_BASE_URL" not in other.env


def test_words_of_the_user_stand_before_the_prompt(tmp_path: Path) -> None:
    launch = launched(tmp_path, arguments=("--debug",))
    assert launch.argv[-2:] == ("--debug", "--prompt=-v is what?")


def test_with_inherited_settings_only_servers_and_budgets_are_ours(tmp_path: Path) -> None:
    launch = launched(tmp_path, servers={"canopy": {"command": "c"}}, inherit_settings=True)
    assert option(launch, "--allowed-mcp-server-names") == "canopy"
    assert not {"HOME", "QWEN_SYSTEM_MD"} & set(launch.env)
    assert not {"--safe-mode", "--auth-type"} & set(launch.argv)
    assert "memory" not in file_of(tmp_path, "settings.json")


def test_the_program_that_was_identified_is_started(tmp_path: Path) -> None:
    assert launched(tmp_path, program="/opt/bin/qwen").argv[0] == "/opt/bin/qwen"


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
    return Qwen().launch(request)


def file_of(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "home" / name).read_text("utf-8"))
    return content


def option(launch: Launch, name: str) -> str:
    assert launch.argv.count(name) == 1
    return launch.argv[launch.argv.index(name) + 1]


def test_the_conversation_in_its_home_has_times_and_sizes_of_tools(empty: Path) -> None:
    chats = empty.parent / ".qwen" / "projects" / "-tmp-repo" / "chats"
    chats.mkdir(parents=True)
    sample, tool = SAMPLES / "v024_mcp_slow.jsonl", "mcp__my_server__find_where"

    def read() -> Outcome:
        home = empty.parent
        exit = AgentExit(returncode=0, stopped=None, stdout=sample, stderr=empty, home=home)
        return Qwen().outcome(exit)

    assert (read().tool_seconds, read().tool_result_tokens) == (None, None)
    said = {
        "event.name": "qwen-code.tool_call",
        "event.timestamp": "2026-11-21T23:43:35.793Z",
        "call_id": "call_1",
        "duration_ms": 512,
    }
    response = {"functionResponse": {"id": "call_1", "response": {"output": "12345"}}}
    entries = [
        {"type": "system", "systemPayload": {"uiEvent": said}},
        {
            "type": "tool_result",
            "message": {"parts": [response]},
            "toolCallResult": {"callId": "call_1"},
        },
    ]
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    (chats / "one.jsonl").write_text(lines, encoding="utf-8")
    assert read().tool_seconds == {tool: 0.512}
    assert read().tool_result_tokens == {tool: 2}
