"""Evidence packs and expanded texts, as a server may give them."""

import json
from typing import Any

import pytest

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.programs.rules.canopy_search import Tools, find_tools, next_calls, observe_expanded
from swarm_bench.programs.rules.model import Rules
from swarm_bench.programs.rules.observations import Observations, Step
from swarm_bench.text.terms import terms_of

TOOLS = Tools(pack="mcp__canopy__canopy_evidence_pack", expand="mcp__canopy__canopy_expand")
SPECS = [ToolSpec(name=name, description="") for name in (TOOLS.pack, TOOLS.expand, "Grep")]
A, B = "h" + "a" * 24, "h" + "b" * 24


def step(tool: str, text: str, *, is_error: bool = False) -> Step:
    call = ToolCall(id=tool, name=tool, arguments={})
    return Step(call=call, result=ToolResult(id=tool, text=text, is_error=is_error))


def pack(**more: Any) -> str:
    handles = [
        {"id": A, "file_path": "a.py", "line_range": [10, 12]},
        {"id": B, "file_path": "b.py", "line_range": [1, 1]},
    ]
    return json.dumps({"handles": handles, "expand_suggestion": [A, B], **more})


def test_what_a_pack_suggests_is_expanded_first_and_by_the_budget() -> None:
    text = pack(expand_suggestion=[B], guidance={"suggested_expand_count": 1})
    taken = [step(TOOLS.pack, text)]
    ((name, arguments),) = next_calls(terms_of("Find the login."), taken, TOOLS, Observations())
    assert (name, arguments) == (TOOLS.expand, {"handle_ids": [B, A]})


def test_a_handle_too_long_for_the_budget_is_begun_with_the_built_in_tool() -> None:
    handles = [{"id": A, "file_path": "a.py", "line_range": [10, 900]}]
    taken = [step(TOOLS.pack, json.dumps({"handles": handles}))]
    calls = next_calls(terms_of("Find the login."), taken, TOOLS, Observations())
    assert calls == [("Read", {"file_path": "a.py", "offset": 10, "limit": 60})]


def test_expanded_lines_have_the_place_that_the_pack_named() -> None:
    first = f"// {A}\ndef a():\n    // {'c' * 24}\n    pass\n"
    text = f"{first}\n\n// {B[1:]}\nb = 1\n\n// Failed to expand: hx"
    observed = Observations()
    observe_expanded(observed, [step(TOOLS.pack, pack()), step(TOOLS.expand, text)], TOOLS)
    assert observed.lines == {
        "a.py": {10: "def a():", 11: f"    // {'c' * 24}", 12: "    pass"},
        "b.py": {1: "b = 1"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 100_000,
        '{"handles": 7, "guidance": [], "expand_suggestion": {}}',
        '{"handles": [null, {"id": 1}, {"id": "x", "file_path": "a", "line_range": [2, 1]}]}',
        pack(guidance={"suggested_expand_count": "many", "max_additional_queries": None}),
        pack(guidance={"suggested_expand_count": -4}, expand_suggestion=[None, "unknown", B]),
    ],
)
def test_any_pack_leads_on(text: str) -> None:
    asks = Rules().complete([Message(role="user", text="Find the login.")], SPECS)
    results = tuple(ToolResult(id=call.id, text=text) for call in asks.calls)
    conversation = [
        Message(role="user", text="Find the login."),
        asks,
        Message(role="user", results=results),
    ]
    following = Rules().complete(conversation, SPECS)
    assert following.calls


def test_canopy_has_to_offer_both_tools() -> None:
    assert find_tools(SPECS) == TOOLS
    assert find_tools(SPECS[:1]) is None
    assert find_tools([]) is None


QUERY = ToolSpec(name="mcp__canopy__canopy_query", description="")
CALLERS = "Which functions call the function `storable` directly?"


def test_who_asks_for_callers_is_told_the_references() -> None:
    asks = Rules().complete([Message(role="user", text=CALLERS)], [*SPECS, QUERY])
    packs, references = asks.calls
    assert packs.name == TOOLS.pack
    assert (references.name, references.arguments["symbol"]) == (QUERY.name, "storable")
    assert references.arguments["kind"] == "reference"
    for task, tools in ((CALLERS, SPECS), ("Where is `storable` defined?", [*SPECS, QUERY])):
        asks = Rules().complete([Message(role="user", text=task)], tools)
        assert [call.name for call in asks.calls] == [TOOLS.pack]


def test_references_are_read_before_the_pack_and_before_it_is_enough() -> None:
    """The pack has the definition, which covers the only term of the task."""
    asks = Rules().complete([Message(role="user", text=CALLERS)], [*SPECS, QUERY])
    caller = "c" * 24  # a query has bare ids
    handles = [{"id": caller, "file_path": "c.py", "line_range": [7, 9]}]
    texts = (pack(), json.dumps({"handles": handles, "total_matches": 1}))
    results = [
        ToolResult(id=call.id, text=text) for call, text in zip(asks.calls, texts, strict=True)
    ]
    conversation = [
        Message(role="user", text=CALLERS),
        asks,
        Message(role="user", results=tuple(results)),
    ]
    (expands,) = Rules().complete(conversation, [*SPECS, QUERY]).calls
    assert expands.arguments["handle_ids"] == [caller, A, B]
    read = f"// {caller}\ndef keep(x):\n    return storable(x)\n\n// {A}\ndef storable(value):\n"
    conversation += [
        Message(role="assistant", calls=(expands,)),
        Message(role="user", results=(ToolResult(id=expands.id, text=read),)),
    ]
    answer = Rules().complete(conversation, [*SPECS, QUERY]).text
    assert answer.index("`c.py") < answer.index("b.py")
