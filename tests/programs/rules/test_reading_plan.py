"""What is read, and when it is enough: the same for every way of searching."""

import json
import re
from collections.abc import Callable, Mapping

import pytest

from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.programs.rules import foreign, patterns
from swarm_bench.programs.rules.model import Rules
from swarm_bench.programs.rules.observations import Observations
from swarm_bench.programs.rules.reading_plan import (
    BUDGET,
    Budget,
    Candidate,
    choose_next,
    is_enough,
    plan,
)
from swarm_bench.text.terms import terms_of

WORK = "/w"
TASK = "Where are zebra stripes painted?"
TERMS = terms_of(TASK)
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
OWN = [ToolSpec(name=name, description="") for name in ("Glob", "Grep", "Read")]
PACK, EXPAND = "mcp__canopy__canopy_evidence_pack", "mcp__canopy__canopy_expand"
CANOPY = [ToolSpec(name=name, description="") for name in (PACK, EXPAND)]
SEARCH = ToolSpec(name="mcp__s__search", description="", schema={"properties": {"query": TEXT}})
READER = ToolSpec(
    name="mcp__s__read_file",
    description="",
    schema={"properties": {"path": TEXT, "start_line": NUMBER, "end_line": NUMBER}},
)
Read = tuple[str, int, int]
PLACES: list[Read] = [
    ("herd/f.py", 101, 160),
    ("herd/e.py", 11, 70),
    ("herd/d.py", 301, 360),
    ("herd/c.py", 1, 60),
    ("herd/b.py", 51, 110),
    ("herd/a.py", 501, 560),
    ("herd/g.py", 1, 60),
]
"""Ranked, the best first: one more than the budget allows."""


class Desk:
    """The tools of every kind over the same ranked places, and what was read with them.

    `answering` is the place whose text speaks of the task; all others say nothing of it.
    """

    def __init__(self, answering: int) -> None:
        self.reads: list[list[Read]] = []
        self._answering = answering
        self._ids = {f"h{index:024}": place for index, place in enumerate(PLACES)}

    def play(self, tools: list[ToolSpec]) -> list[list[Read]]:
        """What was read, by request."""
        messages = [prompt(tools)]
        while (reply := Rules().complete(messages, tools)).calls:
            self.reads.append([])
            results = tuple(ToolResult(id=call.id, text=self._answer(call)) for call in reply.calls)
            messages += [reply, Message(role="user", results=results)]
            assert len(messages) < 40
        return [reads for reads in self.reads if reads]

    def _answer(self, call: ToolCall) -> str:
        arguments = call.arguments
        match call.name.rpartition("__")[2]:
            case "canopy_evidence_pack":
                handles = [
                    {"id": id, "file_path": path, "line_range": [first, last]}
                    for id, (path, first, last) in self._ids.items()
                ]
                return json.dumps({"handles": handles})
            case "canopy_expand":
                parts = [f"// {id}\n{self._text(self._ids[id])}" for id in arguments["handle_ids"]]
                return "\n\n".join(parts)
            case "search":
                return "\n".join(f"{path}:{first + 3}:zebra" for path, first, _ in PLACES)
            case "read_file":
                path = arguments["path"].removeprefix(f"{WORK}/")
                return self._text((path, arguments["start_line"], arguments["end_line"]))
            case "Read":
                last = arguments["offset"] + arguments["limit"] - 1
                text = self._text((arguments["file_path"], arguments["offset"], last))
                numbered = enumerate(text.split("\n"), start=arguments["offset"])
                return "\n".join(f"{number}\t{line}" for number, line in numbered)
            case "Grep":
                return self._grep(arguments)
        return "No files hits"

    def _grep(self, arguments: Mapping[str, str]) -> str:
        if arguments["output_mode"] == "count":
            is_zebra = re.search(arguments["pattern"], "zebra")
            ranked = [f"{path}:{40 - at}" for at, (path, _, _) in enumerate(PLACES)]
            return "\n".join(ranked) if is_zebra else "No matches hits"
        if arguments["pattern"] != patterns.match_mentions(TERMS):
            return "No matches hits"
        hits = [place for place in PLACES if place[0] == arguments.get("path")]
        return "\n".join(f"{path}:{first + 3}:zebra" for path, first, _ in hits)

    def _text(self, place: Read) -> str:
        self.reads[-1].append(place)
        lines = ["pass"] * (place[2] - place[1] + 1)
        if self._answering < len(PLACES) and place == PLACES[self._answering]:
            lines[0] = "def paint_zebra_stripes():"
        return "\n".join(lines)


def prompt(tools: list[ToolSpec], task: str = TASK) -> Message:
    """As scout asks: servers are told where the files are."""
    served = foreign.list_tools(tools)
    return Message(role="user", text=foreign.add_workspace(task, WORK) if served else task)


WAYS = {
    "built-in": OWN,
    "canopy": [*CANOPY, *OWN],
    "search": [SEARCH, *OWN],
    "search and reader": [SEARCH, READER, *OWN],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("answering", "requests"), [(0, 1), (2, 1), (3, 2), (6, 2), (99, 2)])
def test_the_same_ranked_places_lead_to_the_same_reads(
    way: str, answering: int, requests: int
) -> None:
    reads = Desk(answering).play(WAYS[way])
    planned = PLACES[: BUDGET.files]
    assert reads == [planned[:3], planned[3:]][:requests]


def test_places_that_say_nothing_of_the_task_save_nothing() -> None:
    """Whatever the server's places were, the built-in tools then do all that the baseline does."""
    alone, served = _calls([]), _calls([SEARCH])
    assert served[: len(served) - len(alone)] == [["mcp__s__search"], ["Read"] * 3, ["Read"]]
    assert served[len(served) - len(alone) :] == alone


def _calls(more: list[ToolSpec]) -> list[list[str]]:
    """The calls by request, where the server's four places are of no use."""

    def answer(call: ToolCall) -> str:
        if call.name == "mcp__s__search":
            return "\n".join(f"lorem/{name}.py:1:ipsum" for name in "abcd")
        if call.name == "Read":
            is_right = call.arguments["file_path"] == "zoo.py"
            return "4\tdef paint_zebra_stripes():" if is_right else "1\tipsum"
        count = call.arguments.get("output_mode") == "count"
        return "zoo.py:3" if count else "zoo.py:4:def paint_zebra_stripes():"

    return _names(answer, [*more, *OWN])


def test_a_task_of_a_single_term_is_located_before_it_is_read() -> None:
    def answer(call: ToolCall) -> str:
        texts = {"count": "zoo.py:3", "content": "zoo.py:41:zebra"}
        return texts.get(call.arguments.get("output_mode", ""), "No files found")

    names = _names(answer, OWN, "Where is the zebra?")
    assert names == [["Grep", "Glob"], ["Grep", "Grep"], ["Read"]]


def _names(
    answer: Callable[[ToolCall], str], tools: list[ToolSpec], task: str = TASK
) -> list[list[str]]:
    """Names of the tools called, by request."""
    messages, names = [prompt(tools, task)], list[list[str]]()
    while (reply := Rules().complete(messages, tools)).calls:
        names.append([call.name for call in reply.calls])
        results = tuple(ToolResult(id=call.id, text=answer(call)) for call in reply.calls)
        messages += [reply, Message(role="user", results=results)]
        assert len(names) < 20
    return names


def test_a_plan_ends_with_the_budget() -> None:
    budget = Budget(files=2, lines=100, reading_lines=30)
    candidates = [
        Candidate(path="a.py", lines={5: "zebra", 7: "zebra", 300: "zebra"}),
        Candidate(path="b.py", part=range(10, 55)),
        Candidate(path="a.py", part=range(2, 12)),
        Candidate(path="b.py", part=range(90, 100)),
        Candidate(path="c.py"),
    ]
    planned = plan(candidates, TERMS, budget)
    assert [(reading.path, reading.lines) for reading in planned] == [
        ("a.py", range(2, 32)),
        ("a.py", range(297, 327)),
        ("b.py", range(90, 100)),  # the part before it no longer fits
    ]


def test_a_part_that_is_too_long_is_begun() -> None:
    (reading,) = plan([Candidate(path="a.py", part=range(5, 900))], TERMS, BUDGET)
    assert reading.lines == range(5, 65)


def test_what_was_read_or_asked_for_is_not_read_again() -> None:
    planned = plan([Candidate(path=f"{name}.py") for name in "abcdef"], TERMS, BUDGET)
    observed = Observations()
    observed.add_window("a.py", 1, ["x"] * 80)
    rest = choose_next(planned, {("b.py", 1)}, observed, BUDGET)
    assert [reading.path for reading in rest] == ["c.py", "d.py", "e.py"]


MENTIONED = ["zebra", "zebra stripe", "paint zebra"] * 3


@pytest.mark.parametrize(
    ("files", "enough"),
    [
        ([[]], False),
        ([["zebra"] * 3, ["zebra"] * 3], False),
        ([["def paint_zebra():", "stripe"]], True),
        ([["zebra", "stripe", "painted"], ["zebra", "stripe", "painted"]], False),
        ([MENTIONED], False),
        ([MENTIONED, ["nothing"], MENTIONED], True),
    ],
)
def test_enough_is_when_what_was_read_covers_the_terms(
    files: list[list[str]], enough: bool
) -> None:
    observed = Observations()
    observed.add_line("other.py", 1, "def paint_zebra_stripes():")  # a search's line, and not read
    for number, lines in enumerate(files):
        observed.add_window(f"{number}.py", 1, lines)
    assert is_enough(TERMS, observed) is enough
