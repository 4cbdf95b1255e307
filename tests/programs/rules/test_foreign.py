"""The rules with tools that nobody here has heard of."""

import json
from collections.abc import Mapping

import pytest

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.programs.rules import foreign
from swarm_bench.programs.rules.model import Rules

WORK = "/my work/ü"
TASK = foreign.add_workspace("Where is the login checked?", WORK)
TEXT = {"type": "string"}
SEARCH = ToolSpec(name="mcp__s__find", description="", schema={"properties": {"query": TEXT}})
READ = ToolSpec(
    name="mcp__s__view_file",
    description="",
    schema={
        "properties": {
            "path": TEXT,
            "start_line": {"type": "integer", "description": "0-based"},
            "end_line": {"type": "integer"},
        }
    },
)
OWN = [ToolSpec(name=name, description="") for name in ("Glob", "Grep", "Read")]


def play(
    tools: list[ToolSpec], said: Mapping[str, str], error: str = ""
) -> tuple[list[list[ToolCall]], str]:
    """The calls by turn and the answer, where each tool always says the same."""
    messages, turns = [Message(role="user", text=TASK)], list[list[ToolCall]]()
    while (reply := Rules().complete(messages, tools)).calls:
        turns.append(list(reply.calls))
        results = tuple(
            ToolResult(id=call.id, text=said.get(call.name, ""), is_error=call.name == error)
            for call in reply.calls
        )
        messages += [reply, Message(role="user", results=results)]
        assert len(turns) < 12
    return turns, reply.text


@pytest.mark.parametrize(
    "found",
    [
        f"{WORK}/shop/auth.py:41:def login(user):\n/etc/passwd:1:login",
        json.dumps({"results": [{"file": "shop/auth.py", "line": 41, "text": "def login(user):"}]}),
        json.dumps({"shop/auth.py": ["  >  41:def login(user):"]}),
        "Found 1 file:\n- shop/auth.py",
    ],
)
def test_what_a_search_names_is_read_around_the_line(found: str) -> None:
    text = "\n".join(["", "", "def login(user):", "    check(user)"])
    turns, answer = play([SEARCH, READ, *OWN], {SEARCH.name: found, READ.name: text})
    ((search,), (read,)) = turns
    assert search.arguments == {"query": "login checked"}
    assert read.arguments["path"] == f"{WORK}/shop/auth.py"
    first = read.arguments["start_line"] + 1
    assert first == (38 if "41" in found else 1)
    assert f"`shop/auth.py:{first + 2}` defines def `login`" in answer
    assert "passwd" not in answer


def test_a_search_without_a_reader_goes_on_with_read() -> None:
    turns, answer = play([SEARCH, *OWN], {SEARCH.name: "a/login.py:7:x", "Read": "4\tdef login():"})
    assert [call.name for call in turns[1]] == ["Read"]
    assert turns[1][0].arguments["offset"] == 4
    assert "`a/login.py:4`" in answer


@pytest.mark.parametrize("found", ["", "no matches", "[" * 100_000, '{"file": 7}', "../x.py", "/x"])
def test_without_a_file_the_search_is_asked_word_by_word_and_then_the_built_in_tools(
    found: str,
) -> None:
    turns, _ = play([SEARCH, READ, *OWN], {SEARCH.name: found, "Grep": "a.py:3"})
    assert [{call.name for call in turn} for turn in turns[2:3]] == [{"Grep", "Glob"}]
    asked = [[(call.name, call.arguments["query"]) for call in turn] for turn in turns[:2]]
    words = [(SEARCH.name, "auth"), (SEARCH.name, "check")]
    assert asked == [[(SEARCH.name, "login checked")], words]


def test_a_reader_that_fails_is_asked_once() -> None:
    said = {SEARCH.name: "shop/auth.py:4:login", "Grep": "shop/auth.py:4:def login():"}
    turns, _ = play([SEARCH, READ, *OWN], said, error=READ.name)
    asked = [call.name for turn in turns for call in turn]
    assert asked.count(READ.name) == 1
    assert "Read" in asked


def test_the_order_of_a_search_by_words_is_the_servers() -> None:
    found = "zoo/z.py:1:a\nlogin.py:1:login\nb.txt:1:b"
    turns, _ = play([SEARCH, READ, *OWN], {SEARCH.name: found, READ.name: "x = 1"})
    read = [str(call.arguments["path"]).removeprefix(f"{WORK}/") for call in turns[1]]
    assert read == ["zoo/z.py", "login.py", "b.txt"]


def test_parts_that_a_search_names_are_read_in_its_order() -> None:
    found = "`b.py:70-80`, `a.py:5-9`\n`b.py:1-4`"
    turns, _ = play([SEARCH, *OWN], {SEARCH.name: found, "Read": "1\tx"})
    read = [tuple(call.arguments.values()) for call in turns[1]]
    assert read == [("b.py", 70, 11), ("a.py", 5, 5), ("b.py", 1, 4)]


def test_what_a_search_shows_is_not_read_again() -> None:
    source = [f"{number}\t# login" for number in range(41, 60)]
    found = "\n".join(["`b.py`", "**`a.py`**", "```", "40\tdef check_login():", *source, "```"])
    turns, answer = play([SEARCH, READ, *OWN], {SEARCH.name: found})
    assert len(turns) == 1
    assert "`a.py:40`" in answer


def test_a_search_that_takes_one_name_is_asked_for_each() -> None:
    properties = {"name_path_pattern": TEXT, "substring_matching": {"type": "boolean"}}
    schema = {"properties": properties, "required": ["name_path_pattern"]}
    symbols = ToolSpec(name="mcp__s__find_symbol", description="", schema=schema)
    turns, _ = play([symbols, *OWN], {symbols.name: '[{"relative_path": "a.py", "line": 7}]'})
    assert [dict(call.arguments) for call in turns[0]] == [
        {"name_path_pattern": "auth", "substring_matching": True},
        {"name_path_pattern": "check", "substring_matching": True},
    ]
    assert [call.name for call in turns[1]] == ["Read"]


def test_canopy_leads_and_others_are_asked_in_its_first_turn() -> None:
    names = ("mcp__canopy__canopy_evidence_pack", "mcp__canopy__canopy_expand")
    canopy = [ToolSpec(name=name, description="") for name in names]
    tools = [*canopy, SEARCH, *OWN]
    turns, _ = play(tools, {SEARCH.name: "a.py:1:x"})
    assert [call.name for call in turns[0]] == [names[0], SEARCH.name]
    assert SEARCH.name not in [call.name for turn in turns[1:] for call in turn]
    assert foreign.describe_unusable(tools) == []
    assert foreign.describe_unusable([*canopy, *OWN]) is None


def test_the_place_is_told_to_servers_and_no_part_of_the_task() -> None:
    turns, _ = play([SEARCH, *OWN], {})
    alone = Rules().complete([Message(role="user", text=foreign.drop_workspace(TASK))], OWN)
    assert turns[0][0].arguments == {"query": "login checked"}
    assert [call.arguments for call in turns[2]] == [call.arguments for call in alone.calls]
