"""What Claude Code printed in recorded runs: one row per sample. The ones with `v329` in the name
are of version 2.1.329, the others of 2.1.197; all ran against a server that plays the provider."""

from dataclasses import replace
from pathlib import Path

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.core.outcome import AgentExit, Outcome, StopReason, Usage
from swarm_bench.core.status import CONSEQUENCES, Cause, Status

SAMPLES = Path(__file__).parents[1] / "samples" / "claude-code"

ENDINGS: dict[str, tuple[int, Status, Cause]] = {
    "background_bash_result_not_last_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "compaction_auto_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "compaction_reactive_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "conn_refused_noretry_json": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "conn_refused_stream": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "empty_answer_json": (0, Status.AGENT_FAILED, Cause.EMPTY_ANSWER),
    "error400_prompt_too_long_json": (1, Status.AGENT_FAILED, Cause.CONTEXT_OVERFLOW),
    "error401_after_10_retries_stream": (1, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "error401_noretry_json": (1, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "error403_json": (1, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "error404_model_json": (1, Status.PROVIDER_LIMITED, Cause.UNKNOWN_MODEL),
    "error429_1retry_json": (1, Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "error429_stream": (1, Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "error500_json": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "error529_noretry_json": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "error529_stream": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "json_schema_json": (0, Status.COMPLETED, Cause.FINISHED),
    "max_budget_json": (1, Status.BUDGET_REACHED, Cause.COST_LIMIT),
    "max_tokens_stop_json": (1, Status.AGENT_FAILED, Cause.ANSWER_CUT),
    "max_turns5_json": (1, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "max_turns_json": (1, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "max_turns_parallel2calls_ok_numturns3_json": (0, Status.COMPLETED, Cause.FINISHED),
    "max_turns_text": (1, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "mcp_permission_denied_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "mcp_recommended_flags_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "mcp_server_failed_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "mcp_server_slow_pending_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "mcp_success_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "mcp_toolsearch_deferred_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "midstream_overloaded_fallback_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "parallel_tools_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "partial_messages_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "permission_denied_write_json": (0, Status.COMPLETED, Cause.FINISHED),
    "refusal_json": (1, Status.AGENT_FAILED, Cause.REFUSED),
    "retry_then_success_json": (0, Status.COMPLETED, Cause.FINISHED),
    "sigint_during_request_json": (0, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "sigint_during_tool_json": (0, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "sigint_stream": (0, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "sigkill_stream": (-9, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "sigterm_stream_no_result": (143, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "subagent_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "success_4turns_3tools_json": (0, Status.COMPLETED, Cause.FINISHED),
    "success_json": (0, Status.COMPLETED, Cause.FINISHED),
    "success_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "unknown_model_cost_json": (0, Status.COMPLETED, Cause.FINISHED),
    "unknown_tool_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "v329_broken_stream_then_success_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "v329_broken_streams_stream": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "v329_compaction_auto_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "v329_conn_refused_3_retries_stream": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "v329_error400_context_stream": (1, Status.AGENT_FAILED, Cause.CONTEXT_OVERFLOW),
    "v329_error400_stream": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "v329_error401_3_retries_stream": (1, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "v329_error429_long_retry_after_stream": (1, Status.PROVIDER_LIMITED, Cause.RATE_LIMITED),
    "v329_error529_3_retries_stream": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "v329_max_budget_stream": (1, Status.BUDGET_REACHED, Cause.COST_LIMIT),
    "v329_max_tokens_stop_stream": (1, Status.AGENT_FAILED, Cause.ANSWER_CUT),
    "v329_max_turns3_parallel_stream": (1, Status.BUDGET_REACHED, Cause.MAX_TURNS),
    "v329_mcp_slow_and_failed_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "v329_not_logged_in_stream": (1, Status.PROVIDER_LIMITED, Cause.NOT_AUTHORIZED),
    "v329_refusal_stream": (1, Status.AGENT_FAILED, Cause.REFUSED),
    "v329_request_timed_out_stream": (1, Status.PROVIDER_LIMITED, Cause.PROVIDER_FAILED),
    "v329_sigint_during_answer_stream": (0, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "v329_sigint_during_bash_stream": (0, Status.AGENT_FAILED, Cause.ERROR_RESULT),
    "v329_sigterm_during_bash_stream": (143, Status.AGENT_FAILED, Cause.EXIT_CODE),
    "v329_subagent_in_background_two_results_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "v329_subagent_in_foreground_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "v329_unknown_model_cost_stream": (0, Status.COMPLETED, Cause.FINISHED),
    "verbose_json_is_array": (0, Status.COMPLETED, Cause.FINISHED),
    "verbose_user_config_json_is_array": (0, Status.COMPLETED, Cause.FINISHED),
}
"""Exit code, and what it is to be read as."""


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Standard error of every sample."""
    path = tmp_path / "stderr"
    path.touch()
    return path


def read(name: str, stderr: Path, stopped: StopReason | None = None) -> Outcome:
    (sample,) = SAMPLES.glob(f"{name}.*")
    code = None if stopped else ENDINGS[name][0]
    return Claude().outcome(
        AgentExit(returncode=code, stopped=stopped, stdout=sample, stderr=stderr)
    )


def test_every_sample_has_a_row() -> None:
    assert {sample.stem for sample in SAMPLES.iterdir()} == set(ENDINGS)


@pytest.mark.parametrize("name", ENDINGS)
def test_status_and_cause(name: str, empty: Path) -> None:
    outcome = read(name, empty)
    _, status, cause = ENDINGS[name]
    assert (CONSEQUENCES[outcome.cause].status, outcome.cause) == (status, cause)
    assert (outcome.text is not None) == (cause is Cause.FINISHED)
    if cause not in (Cause.FINISHED, Cause.EMPTY_ANSWER):
        assert outcome.detail


@pytest.mark.parametrize(
    ("stopped", "cause"),
    [
        ("timeout", Cause.TIMEOUT),
        ("output-limit", Cause.OUTPUT_LIMIT),
        ("turn-limit", Cause.MAX_TURNS),
    ],
)
@pytest.mark.parametrize("name", ENDINGS)
def test_when_we_stopped_it_that_is_the_cause_and_figures_are_kept(
    name: str, stopped: StopReason, cause: Cause, empty: Path
) -> None:
    outcome, plain = read(name, empty, stopped), read(name, empty)
    assert outcome.cause is cause
    assert replace(outcome, cause=plain.cause, detail=plain.detail) == plain


@pytest.mark.parametrize(
    ("name", "usage", "all_in"),
    [
        ("success_stream", (40, 180, 80, 20), (40, 180, 80, 20)),
        ("sigint_during_tool_json", (10, 0, 20, 5), (10, 0, 20, 5)),
        # With a sub-agent, a compaction.
        ("subagent_stream", (20, 30, 40, 10), (30, 30, 60, 15)),
        ("v329_subagent_in_foreground_stream", (20, 90, 40, 10), (40, 180, 80, 20)),
        ("compaction_auto_stream", (50, 176400, 25000, 35), (60, 352400, 30000, 42)),
        # The result leaves out, or counts in part, what was charged: an answer that was interrupted
        # or broke off, the request that reached the limit of cost, one before a retry.
        ("v329_sigint_during_answer_stream", (20, 30, 40, 6), (20, 30, 40, 6)),
        ("v329_broken_streams_stream", (40, 180, 80, 12), (40, 180, 80, 12)),
        ("v329_broken_stream_then_success_stream", (20, 30, 40, 8), (20, 30, 40, 8)),
        ("midstream_overloaded_fallback_stream", (10, 0, 20, 5), (10, 0, 20, 5)),
        ("v329_max_budget_stream", (10, 0, 20, 5), (10, 0, 20, 5)),
        # Without a stream nothing shows that there was no sub-agent.
        ("max_budget_json", (None,) * 4, (300000, 0, 0, 60000)),
        # Two results: tokens of the main conversation are of both, all others run on.
        ("v329_subagent_in_background_two_results_stream", (30, 120, 60, 15), (40, 180, 80, 20)),
        # A result that counted nothing.
        ("conn_refused_stream", (None,) * 4, (None,) * 4),
        # No result: what the events said, whose output is a placeholder.
        ("v329_sigterm_during_bash_stream", (10, 0, 20, None), (None,) * 4),
        ("max_turns_text", (None,) * 4, (None,) * 4),
    ],
)
def test_tokens(
    name: str, usage: tuple[int | None, ...], all_in: tuple[int | None, ...], empty: Path
) -> None:
    outcome = read(name, empty)
    for given, figures in ((outcome.usage, usage), (outcome.all_in, all_in)):
        assert (given.input, given.cache_read, given.cache_create, given.output) == figures


@pytest.mark.parametrize("name", ENDINGS)
def test_tokens_are_of_the_requests_that_the_cost_is_of(name: str, empty: Path) -> None:
    outcome = read(name, empty)
    apart = outcome.usage not in (outcome.all_in, Usage())
    assert not apart or outcome.cost is None or outcome.subagents or outcome.compactions


def test_two_results_are_one_run(empty: Path) -> None:
    outcome = read("v329_subagent_in_background_two_results_stream", empty)
    assert outcome.text == "x2 "
    assert outcome.turns == 3
    assert outcome.duration_ms == 116
    assert outcome.api_ms == 54
    assert outcome.cost == pytest.approx(0.000258)
    assert outcome.subagents == 1


def test_turns_are_those_that_it_reports(empty: Path) -> None:
    # A budget of 3, used up by three requests with two calls each; and 2 requests with two calls.
    assert read("v329_max_turns3_parallel_stream", empty).turns == 4
    assert read("max_turns_parallel2calls_ok_numturns3_json", empty).turns == 3


def test_the_budget_is_about_requests(empty: Path) -> None:
    assert read("v329_max_turns3_parallel_stream", empty).requests == 3
    assert read("success_stream", empty).requests == 4
    alone = read("success_json", empty)
    assert (alone.requests, alone.turns_are_requests) == (None, False)


def test_tokens_per_request(empty: Path) -> None:
    plain = read("success_stream", empty).turn_usage
    assert plain is not None
    assert plain[1] == Usage(input=10, cache_read=30, cache_create=20, output=None)
    assert len(plain) == 4
    partial = read("partial_messages_stream", empty).turn_usage
    assert partial is not None
    assert [usage.output for usage in partial] == [5, 5]
    assert read("success_json", empty).turn_usage is None


def test_retries_are_counted_where_events_are_printed(empty: Path) -> None:
    assert read("error401_after_10_retries_stream", empty).retries == 10
    assert read("v329_error529_3_retries_stream", empty).retries == 3
    assert read("success_stream", empty).retries == 0
    assert read("retry_then_success_json", empty).retries is None


def test_compactions_are_counted(empty: Path) -> None:
    assert read("compaction_auto_stream", empty).compactions == 1
    assert read("compaction_reactive_stream", empty).compactions == 1
    assert read("v329_compaction_auto_stream", empty).compactions == 1
    assert read("success_stream", empty).compactions == 0
    assert read("success_json", empty).compactions is None


def test_subagents_are_counted(empty: Path) -> None:
    assert read("subagent_stream", empty).subagents == 1
    assert read("success_stream", empty).subagents == 0
    assert read("success_json", empty).subagents is None
    foreground = read("v329_subagent_in_foreground_stream", empty)
    assert foreground.subagents == 1
    assert foreground.tool_calls == {"Agent": 1, "Bash": 1}


def test_calls_that_were_refused_and_calls_that_failed(empty: Path) -> None:
    denied = read("mcp_permission_denied_stream", empty)
    assert denied.permission_denials == {"mcp__canopy__canopy_query": 1}
    assert denied.tool_failures == {"mcp__canopy__canopy_query": 1}
    assert read("permission_denied_write_json", empty).permission_denials == {"Write": 1}
    assert read("unknown_tool_stream", empty).tool_failures == {"NoSuchTool": 1}


def test_tools_have_the_times_of_their_events_and_the_size_of_their_results(empty: Path) -> None:
    found = read("v329_mcp_slow_and_failed_stream", empty)
    assert found.tool_seconds == {"mcp__canopy__canopy_query": 0.032}
    assert found.tool_result_tokens == {"mcp__canopy__canopy_query": 6}
    of_subagents = read("v329_subagent_in_foreground_stream", empty)
    assert of_subagents.tool_calls is not None
    assert of_subagents.tool_seconds is not None
    assert of_subagents.tool_seconds.keys() == of_subagents.tool_calls.keys() == {"Agent", "Bash"}
    assert of_subagents.tool_seconds["Agent"] > of_subagents.tool_seconds["Bash"] == 0.041


def test_calls_made_together_share_their_time(empty: Path) -> None:
    found = read("v329_max_turns3_parallel_stream", empty)
    assert found.tool_seconds == {"Bash": 0.09}, "53, 18 and 19 ms; summed over the calls 140"


def test_events_without_a_time_and_results_that_are_no_text(empty: Path) -> None:
    found = read("mcp_toolsearch_deferred_stream", empty)
    assert found.tool_seconds is None
    assert found.tool_result_tokens is not None
    assert found.tool_result_tokens.keys() == {"mcp__canopy__canopy_query"}
    assert read("success_json", empty).tool_result_tokens is None


def test_servers_and_their_state(empty: Path) -> None:
    states = {
        "mcp_success_stream": {"canopy": "connected"},
        "mcp_server_failed_stream": {"canopy": "failed"},
        "mcp_server_slow_pending_stream": {"canopy": "pending"},
        "v329_mcp_slow_and_failed_stream": {"canopy": "connected", "broken": "failed"},
    }
    assert {name: read(name, empty).servers for name in states} == states


def test_a_price_of_an_unknown_model_is_unreliable(empty: Path) -> None:
    assert read("v329_unknown_model_cost_stream", empty).cost_unreliable is True
    assert read("unknown_model_cost_json", empty).cost_unreliable is True
    assert read("v329_subagent_in_foreground_stream", empty).cost_unreliable is False
    # This version does not say what its price is based on.
    assert read("success_stream", empty).cost_unreliable is None


def test_the_cost_of_nothing_is_not_known(empty: Path) -> None:
    assert read("conn_refused_noretry_json", empty).cost is None
    assert read("max_budget_json", empty).cost == 3
