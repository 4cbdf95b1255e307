from typing import Any

import pytest

from swarm_bench.core.outcome import Outcome
from swarm_bench.core.records import Treatment
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.treatment import is_of_server, mcp_calls, treatment

QUERY = "mcp__canopy__canopy_query"
CONNECTED = {"canopy": "connected"}


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
        (["a__b", "my.server"], {"tool_calls": {"mcp__a__b__c": 1}}, Treatment.USED),
        (["my.server"], {"servers": {"my.server": "connected"}}, Treatment.UNUSED),
        (["my.server"], {"tools_offered": ("mcp__my_server__find",)}, Treatment.UNUSED),
        (["a"], {"tools_offered": ("mcp__ab__find",)}, Treatment.CONTAMINATED),
        (["canopy"], {"tools_offered": (QUERY,), "tool_calls": {}}, Treatment.UNUSED),
        (["canopy"], {"servers": {"canopy": "failed"}}, Treatment.NOT_CONNECTED),
        (["canopy"], {"servers": {}, "tools_offered": ("Read",)}, Treatment.NOT_CONNECTED),
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
    assert treatment(given, Outcome(cause=Cause.FINISHED, **seen)) is label


def test_calls_that_nobody_shows_are_missing() -> None:
    assert mcp_calls(Outcome(cause=Cause.FINISHED)) is None
    assert mcp_calls(Outcome(cause=Cause.FINISHED, tool_calls={"Read": 2})) == 0
    assert mcp_calls(Outcome(cause=Cause.FINISHED, tool_calls={QUERY: 2, "Read": 1})) == 2


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
