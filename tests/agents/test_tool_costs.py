"""What tools cost by name: what is not known of one call is not known of its tool."""

from swarm_bench.agents._tool_costs import (
    between,
    moment_of,
    seconds_by_tool,
    tokens_by_tool,
    tokens_of,
)

CALLS = {"a": "Read", "b": "Read", "c": "Grep"}


def test_seconds_are_summed_over_the_calls_of_a_tool() -> None:
    assert seconds_by_tool(CALLS, {"a": 0.5, "b": 0.25, "c": 1.0}) == {"Read": 0.75, "Grep": 1.0}


def test_a_tool_with_a_call_without_a_time_is_left_out() -> None:
    assert seconds_by_tool(CALLS, {"a": 0.5, "c": 1.0}) == {"Grep": 1.0}


def test_without_any_time_nothing_is_known() -> None:
    assert seconds_by_tool(CALLS, {}) is None
    assert seconds_by_tool(CALLS, {"of something else": 1.0}) is None
    assert seconds_by_tool({}, {}) == {}


def test_tokens_are_those_of_the_results_that_came() -> None:
    assert tokens_by_tool(CALLS, {"a": 3, "c": 0}) == {"Read": 3, "Grep": 0}


def test_a_tool_with_a_result_that_cannot_be_counted_is_left_out() -> None:
    assert tokens_by_tool(CALLS, {"a": 3, "b": None, "c": 1}) == {"Grep": 1}


def test_only_text_is_counted() -> None:
    text = {"type": "text", "text": "1234"}
    assert tokens_of("12345") == 2
    assert tokens_of([text, text]) == 2
    assert tokens_of([]) == 0
    assert tokens_of([text, {"type": "image", "source": {"data": "AAAA"}}]) is None
    assert tokens_of([{"type": "text", "text": 5}]) is None
    assert tokens_of(None) is None


def test_times_have_a_zone_and_go_forward() -> None:
    begin = moment_of("2026-11-21T01:51:08.078Z")
    assert between(begin, moment_of("2026-11-21T02:51:08.578+01:00")) == 0.5
    assert between(moment_of("2026-11-21T01:51:09Z"), begin) is None
    assert between(begin, None) is None
    for value in ("2026-11-21T01:51:08", "yesterday", "", 1795212967559, None):
        assert moment_of(value) is None
