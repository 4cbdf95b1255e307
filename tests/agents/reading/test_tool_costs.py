"""What tools cost by name: what is not known of one call is not known of its tool."""

import pytest

from swarm_bench.agents.reading.tool_costs import (
    Span,
    count_tokens,
    make_span,
    make_span_until,
    parse_time,
    sum_seconds,
    tokens_by_tool,
)

CALLS = {"a": "Read", "b": "Read", "c": "Grep"}


def test_calls_made_together_share_their_time() -> None:
    together = {"a": Span(5, 5.5), "b": Span(5, 5.5), "c": Span(5, 6)}
    assert sum_seconds(CALLS, together) == {"Read": 0.5, "Grep": 1.0}


@pytest.mark.parametrize(
    ("first", "second", "seconds"),
    [
        (Span(0, 0.5), Span(2, 2.25), 0.75),
        (Span(0, 0.5), Span(0.5, 1), 1),
        (Span(0, 2), Span(1, 3), 3),
        (Span(1, 3), Span(0, 2), 3),
        (Span(0, 3), Span(1, 2), 3),
        (Span(1, 1), Span(1, 1), 0),
    ],
)
def test_seconds_are_those_in_which_a_call_of_the_tool_was_open(
    first: Span, second: Span, seconds: float
) -> None:
    found = sum_seconds(CALLS, {"a": first, "b": second, "c": Span(0, 1)})
    assert found == {"Read": seconds, "Grep": 1}


def test_a_tool_with_a_call_without_a_time_is_left_out() -> None:
    assert sum_seconds(CALLS, {"a": Span(0, 0.5), "c": Span(0, 1)}) == {"Grep": 1.0}


def test_without_any_time_nothing_is_known() -> None:
    assert sum_seconds(CALLS, {}) is None
    assert sum_seconds(CALLS, {"of something else": Span(0, 1)}) is None
    assert sum_seconds({}, {}) == {}


def test_tokens_are_those_of_the_results_that_came() -> None:
    assert tokens_by_tool(CALLS, {"a": 3, "c": 0}) == {"Read": 3, "Grep": 0}


def test_a_tool_with_a_result_that_cannot_be_counted_is_left_out() -> None:
    assert tokens_by_tool(CALLS, {"a": 3, "b": None, "c": 1}) == {"Grep": 1}


def test_only_text_is_counted() -> None:
    text = {"type": "text", "text": "1234"}
    assert count_tokens("12345") == 2
    assert count_tokens([text, text]) == 2
    assert count_tokens([]) == 0
    assert count_tokens([text, {"type": "image", "source": {"data": "AAAA"}}]) is None
    assert count_tokens([{"type": "text", "text": 5}]) is None
    assert count_tokens(None) is None


def test_times_have_a_zone_and_go_forward() -> None:
    begin = parse_time("2026-11-21T01:51:08.078Z")
    span = make_span(begin, parse_time("2026-11-21T02:51:08.578+01:00"))
    assert span is not None
    assert span.end - span.begin == 0.5
    assert make_span_until(parse_time("2026-11-21T01:51:08.578Z"), 0.5) == span
    assert make_span_until(begin, None) is make_span_until(None, 0.5) is None
    assert make_span(parse_time("2026-11-21T01:51:09Z"), begin) is None
    assert make_span(begin, None) is None
    for value in ("2026-11-21T01:51:08", "yesterday", "", 1795212967559, None):
        assert parse_time(value) is None
