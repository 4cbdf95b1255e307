from typing import Any

import pytest

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.session.records import Evidence, Treatment
from swarm_bench.core.status import Cause
from swarm_bench.core.treatment.mode_parts import Purpose
from swarm_bench.retrieval.witnesses.treatment import count_mcp_calls, is_of_server, label_trial
from tests.builders.golden import Sentences

QUERY = "mcp__canopy__canopy_query"
CONNECTED = {"canopy": "connected"}
IN_VAIN: dict[str, Any] = {"tool_calls": {QUERY: 1}, "tool_failures": {QUERY: 1}}


@pytest.mark.parametrize(
    ("given", "seen", "label"),
    [
        (["canopy"], {"servers": CONNECTED, "tool_calls": {QUERY: 1}}, Treatment.USED),
        (["canopy"], {"tool_calls": {QUERY: 1}}, Treatment.USED),
        (["canopy"], {"servers": CONNECTED, "tool_calls": {"Read": 1}}, Treatment.UNUSED),
        (
            ["canopy"],
            {"servers": CONNECTED, "tool_calls": {QUERY: 2}, "tool_failures": {QUERY: 2}},
            Treatment.UNUSED,
        ),
        (["canopy"], {"tool_calls": {QUERY: 2}, "tool_failures": {QUERY: 1}}, Treatment.USED),
        (
            ["canopy"],
            {"servers": CONNECTED, "tool_calls": {QUERY: 1}, "tool_unanswered": {QUERY: 1}},
            Treatment.UNUSED,
        ),
        (
            ["canopy"],
            {
                "tool_calls": {QUERY: 2},
                "tool_failures": {QUERY: 1},
                "tool_unanswered": {QUERY: 1},
            },
            Treatment.UNUSED,
        ),
        (["canopy"], {"tool_calls": {QUERY: 2}, "tool_unanswered": {QUERY: 1}}, Treatment.USED),
        (["a__b", "my.server"], {"tool_calls": {"mcp__a__b__c": 1}}, Treatment.USED),
        (["my.server"], {"servers": {"my.server": "connected"}}, Treatment.UNKNOWN),
        (
            ["my.server"],
            {"servers": {"my.server": "connected"}, "tool_calls": {}},
            Treatment.UNUSED,
        ),
        (
            ["my.server"],
            {"tools_offered": ("mcp__my_server__find",), "tool_calls": {}},
            Treatment.UNUSED,
        ),
        (["a"], {"tools_offered": ("mcp__ab__find",)}, Treatment.CONTAMINATED),
        (["canopy"], {"tools_offered": (QUERY,), "tool_calls": {}}, Treatment.UNUSED),
        (["canopy"], {"servers": {"canopy": "failed"}}, Treatment.NOT_CONNECTED),
        (["canopy"], {"servers": {}, "tools_offered": ("Read",)}, Treatment.NOT_CONNECTED),
        (["canopy"], {"servers": {"canopy": "pending"}}, Treatment.NOT_CONNECTED),
        (
            ["canopy"],
            {"servers": {}, "tools_offered": (), **IN_VAIN},
            Treatment.NOT_CONNECTED,
        ),
        (["canopy"], {"servers": {"canopy": "failed"}, **IN_VAIN}, Treatment.NOT_CONNECTED),
        (["canopy"], {"tools_offered": ("Read",), **IN_VAIN}, Treatment.NOT_CONNECTED),
        (["canopy"], {"servers": {"canopy": "pending"}, **IN_VAIN}, Treatment.UNUSED),
        (["canopy"], {"servers": {"canopy": "unknown"}, **IN_VAIN}, Treatment.UNUSED),
        (["canopy"], {"servers": {}, "tools_offered": (QUERY,), **IN_VAIN}, Treatment.UNUSED),
        (["canopy"], IN_VAIN, Treatment.UNUSED),
        (["a", "b"], {"servers": {"a": "unknown", "b": "unknown"}}, Treatment.UNKNOWN),
        (["canopy"], {}, Treatment.UNKNOWN),
        ([], {"servers": {}, "tools_offered": ("Read",)}, Treatment.NOT_GIVEN),
        ([], {}, Treatment.UNKNOWN),
        ([], {"servers": CONNECTED}, Treatment.CONTAMINATED),
        ([], {"tools_offered": (QUERY,)}, Treatment.CONTAMINATED),
        ([], {"tool_calls": {QUERY: 1}}, Treatment.CONTAMINATED),
        (["other"], {"servers": CONNECTED, "tool_calls": {}}, Treatment.CONTAMINATED),
    ],
)
def test_labels(given: list[str], seen: dict[str, Any], label: Treatment) -> None:
    assert label_trial(given, Outcome(cause=Cause.FINISHED, **seen))[0] is label


STATUS, LIST = "mcp__canopy__canopy_status", "mcp__canopy__list_files"
PURPOSES: dict[str, Purpose | None] = {QUERY: "search", STATUS: "other"}


@pytest.mark.parametrize(
    ("calls", "failures", "label", "retrieved"),
    [
        ({STATUS: 2}, {}, Treatment.UNUSED, 0),
        ({STATUS: 2, QUERY: 1}, {QUERY: 1}, Treatment.UNUSED, 0),
        ({STATUS: 2, QUERY: 2}, {QUERY: 1}, Treatment.USED, 1),
        ({STATUS: 2, LIST: 1}, {}, Treatment.USED, 0),
        ({LIST: 1}, {LIST: 1}, Treatment.UNUSED, 0),
    ],
)
def test_only_a_call_that_retrieves_is_use(
    calls: dict[str, int], failures: dict[str, int], label: Treatment, retrieved: int
) -> None:
    seen: dict[str, Any] = {"servers": CONNECTED, "tool_calls": calls, "tool_failures": failures}
    shown = Outcome(cause=Cause.FINISHED, **seen)
    found, rests_on = label_trial(["canopy"], shown, PURPOSES)
    assert (found, rests_on.retrieved) == (label, retrieved)
    answered = {tool for tool, number in calls.items() if number > failures.get(tool, 0)}
    assert set(rests_on.others) == answered & {STATUS}
    assert set(rests_on.unclear) == answered & {LIST}
    only_beside = bool(rests_on.others) and label is Treatment.UNUSED
    assert [STATUS in one for one in rests_on.why] == [True] * only_beside


def test_a_name_with_what_a_tool_cannot_be_called_has_its_purpose() -> None:
    shown = Outcome(cause=Cause.FINISHED, tool_calls={"mcp__my_server__status.now": 1})
    label, _ = label_trial(["my.server"], shown, {"mcp__my_server__status_now": "other"})
    assert label is Treatment.UNUSED


def evidence(given: list[str], **seen: Any) -> Evidence:
    return label_trial(given, Outcome(cause=Cause.FINISHED, **seen))[1]


def test_what_nobody_shows_is_missing_and_not_nothing() -> None:
    assert evidence(["canopy"]) == Evidence()
    assert evidence([], servers={}, tools_offered=(), tool_calls={}) == Evidence(
        connected=(), offered=0, calls=0, failed=0
    )


def test_failed_calls_and_calls_without_an_answer_are_told_apart() -> None:
    seen: dict[str, Any] = {"tool_calls": {QUERY: 5, "Read": 2}, "tool_failures": {QUERY: 1}}
    found = evidence(["canopy"], **seen, tool_unanswered={QUERY: 2, "Read": 1})
    assert (found.calls, found.failed, found.unanswered) == (5, 1, 2)
    assert evidence(["canopy"], **seen).unanswered is None
    assert evidence(["canopy"], **seen, tool_unanswered={}).unanswered == 0


def test_a_call_without_a_connection_is_told(golden: Sentences) -> None:
    found = evidence(["canopy"], servers={}, tools_offered=(), **IN_VAIN)
    assert (found.connected, found.calls, found.failed) == ((), 1, 1)
    golden(*found.why)
    assert evidence(["canopy"], servers=CONNECTED, **IN_VAIN).why == ()


def test_of_several_servers_each_is_told() -> None:
    given, tool = ["canopy", "my.files"], "mcp__my_files__read"
    servers = {"canopy": "failed", "my.files": "connected"}
    seen: dict[str, Any] = {
        "servers": servers,
        "tools_offered": ("Read", tool),
        "tool_calls": {tool: 3},
    }
    label, found = label_trial(
        given, Outcome(cause=Cause.FINISHED, tool_failures={tool: 1}, **seen)
    )
    assert label is Treatment.USED
    assert found == Evidence(connected=("my.files",), offered=1, calls=3, failed=1, start="agree")


def test_a_tool_belongs_to_the_server_with_the_longer_name_that_was_seen() -> None:
    tool = "mcp__a__b__c"
    assert evidence(["a"], tool_calls={tool: 1}).calls == 1
    assert evidence(["a", "a__b"], tool_calls={tool: 1}).calls == 1
    servers = {"a": "connected", "a__b": "connected"}
    leaked = evidence(["a"], servers=servers, tools_offered=(tool,), tool_calls={tool: 1})
    assert (leaked.foreign, leaked.calls, leaked.offered) == (("a__b",), 0, 0)


def test_foreign_tools_are_named_unless_their_server_is() -> None:
    tools = ("mcp__one__x", "mcp__two__y", "Read")
    assert evidence([], servers={"one": "connected"}, tools_offered=tools).foreign == (
        "one",
        "mcp__two__y",
    )


def test_a_tool_that_an_agent_only_imagined_contaminates_nothing(golden: Sentences) -> None:
    seen: dict[str, Any] = {"servers": {}, "tool_calls": {QUERY: 2}, "tool_failures": {QUERY: 2}}
    outcome = Outcome(cause=Cause.FINISHED, tools_offered=("Read",), **seen)
    label, found = label_trial([], outcome)
    assert label is Treatment.NOT_GIVEN
    assert found.foreign == ()
    golden(*found.why)


@pytest.mark.parametrize(
    ("servers", "offered", "calls", "verdict", "sentence"),
    [
        (CONNECTED, (QUERY,), {QUERY: 1}, "agree", None),
        (CONNECTED, None, {QUERY: 1}, "agree", None),
        (None, None, {QUERY: 1}, None, None),
        (CONNECTED, (QUERY,), {}, None, None),
        ({"canopy": "pending"}, ("Read",), {QUERY: 1}, "explained", "connected after the start"),
        ({"canopy": "failed"}, ("Read",), {QUERY: 1}, "contradict", "canopy was failed when"),
        ({}, None, {QUERY: 1}, "contradict", "canopy was missing when"),
        (CONNECTED, ("Read",), {QUERY: 1}, "contradict", "not among the tools offered"),
        (CONNECTED, (), {QUERY: 1, "ToolSearch": 1}, "explained", "a search for tools"),
        (CONNECTED, (), {QUERY: 1, "tool_search": 1}, "explained", "a search for tools"),
        ({"canopy": "unknown"}, None, {QUERY: 1}, "agree", None),
    ],
)
def test_the_start_event_is_held_against_the_transcript(
    servers: Any, offered: Any, calls: Any, verdict: str | None, sentence: str | None
) -> None:
    found = evidence(["canopy"], servers=servers, tools_offered=offered, tool_calls=calls)
    assert found.start == verdict
    assert len(found.why) == (sentence is not None)
    assert all(sentence in one for one in found.why if sentence)


def test_calls_that_nobody_shows_are_missing() -> None:
    assert count_mcp_calls(Outcome(cause=Cause.FINISHED)) is None
    assert count_mcp_calls(Outcome(cause=Cause.FINISHED, tool_calls={"Read": 2})) == 0
    assert count_mcp_calls(Outcome(cause=Cause.FINISHED, tool_calls={QUERY: 2, "Read": 1})) == 2


@pytest.mark.parametrize(
    "tool",
    [
        "mcp__my_server__search",
        "mcp_my_server_search",
        "mcp_my--server_search",
    ],
)
def test_a_tool_is_known_by_its_server_however_it_is_spelt(tool: str) -> None:
    assert is_of_server(tool, ["other", "my_server"])


@pytest.mark.parametrize(
    "tool",
    ["Read", "my_server_search", "mcp__my_server_2__find", "mcp__other__search", "my_server"],
)
def test_other_tools_are_of_no_server(tool: str) -> None:
    assert not is_of_server(tool, ["my_server"])
    assert not is_of_server(tool, [])
