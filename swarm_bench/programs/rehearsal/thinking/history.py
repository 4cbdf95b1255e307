"""What was asked and answered so far, in the terms of `rules`."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.programs.rehearsal.thinking import (
    file_lines,
    grep_lines,
    mcp_search,
    retrieval_tools,
    shell,
)
from swarm_bench.programs.rehearsal.thinking.grep_lines import Scope

MAX_TURNS = 16
"""Turns of one conversation: more than the rules ever take, with every tool failing once."""
MAX_TASK_TURNS = 3 * MAX_TURNS
"""Turns of one trial for one task: a program that keeps only the last messages of a conversation
shows few of them each time, and one that was cut off starts again."""

_OWN_ID = re.compile(r"call_\d{4,9}_\d{2,9}")


@dataclass(kw_only=True)
class Memory:
    """The memory of one trial between requests."""

    calls: dict[str, ToolCall] = field(default_factory=dict)
    """What `rules` wished for, in scout's terms, by the id under which the program was asked."""
    turns: Counter[str] = field(default_factory=Counter)
    """Turns in which the program was asked for calls, by task."""
    is_lost: bool = False
    """Whether results came back under ids that nobody gave out."""


@dataclass(frozen=True, kw_only=True)
class ProgramStep:
    """A call of ours, and what the program made of it."""

    scout_call: ToolCall
    """In scout's terms."""
    tool: str
    """As the program calls the tool that was used."""
    result: ToolResult
    """In scout's terms; an error when the tool could not do it."""

    @property
    def turn(self) -> str:
        return turn_of(self.scout_call.id)

    def same_as(self, other: "ProgramStep") -> bool:
        return (self.scout_call.name, self.scout_call.arguments) == (
            other.scout_call.name,
            other.scout_call.arguments,
        )


def new_id(turn: int, index: int) -> str:
    """Make an id of a shape that every API takes and gives back unchanged."""
    return f"call_{turn:04}_{index:02}"


def turn_of(id: str) -> str:
    """Return the part of an id that the calls of one turn share, even if a program splits them over
    several messages."""
    return id.rpartition("_")[0]


def count_turns(messages: Sequence[Message]) -> int:
    """Count the turns of a conversation in which the assistant called tools, whoever made up the
    ids."""
    return len(
        {
            turn_of(call.id) if _OWN_ID.fullmatch(call.id) else f"message {at}"
            for at, message in enumerate(messages)
            for call in message.calls
        }
    )


def list_calls(
    messages: Sequence[Message], remembered: Mapping[str, ToolCall], workspace: str | None
) -> list[ProgramStep]:
    """List our calls that have a result, in order; calls that are not ours are omitted."""
    calls = {call.id: call for message in messages for call in message.calls}
    steps: list[ProgramStep] = []
    for result in (result for message in messages for result in message.results):
        scout_call, program_call = remembered.get(result.id), calls.get(result.id)
        if scout_call and program_call:
            read = _read(scout_call, program_call, result, workspace)
            steps.append(ProgramStep(scout_call=scout_call, tool=program_call.name, result=read))
    return sorted(steps, key=lambda step: step.scout_call.id)


def group_by_turn(steps: Sequence[ProgramStep]) -> list[list[ProgramStep]]:
    """Group the calls by turn. A turn that only repeats failed calls replaces them."""
    turns_taken: list[list[ProgramStep]] = []
    for _, group in groupby(steps, key=lambda step: step.turn):
        turn = list(group)
        failed = [step for step in turns_taken[-1] if step.result.is_error] if turns_taken else []
        if failed and all(any(step.same_as(old) for old in failed) for step in turn):
            turns_taken[-1] = [_find_repetition(old, turn) for old in turns_taken[-1]]
        else:
            turns_taken.append(turn)
    return turns_taken


def find_failing(steps: Sequence[ProgramStep]) -> frozenset[str]:
    """Name the tools that failed at everything they were asked in some turn."""
    names: set[str] = set()
    for _, group in groupby(sorted(steps, key=lambda s: (s.turn, s.tool)), key=_turn_and_tool):
        of_tool = list(group)
        if all(step.result.is_error for step in of_tool):
            names.add(of_tool[0].tool)
    return frozenset(names)


def write_conversation(task: str, steps: Sequence[Sequence[ProgramStep]]) -> list[Message]:
    """Write the messages that scout would have had. A search with an MCP server appears as a search
    of scout's own; one without readable results does not appear."""
    messages = [Message(role="user", text=task)]
    for turn in filter(None, ([*map(_as_own_search, filter(_is_shown, turn))] for turn in steps)):
        messages.append(Message(role="assistant", calls=tuple(step.scout_call for step in turn)))
        messages.append(Message(role="user", results=tuple(step.result for step in turn)))
    return messages


def _is_shown(step: ProgramStep) -> bool:
    return step.scout_call.name != mcp_search.NAME or not step.result.is_error


def _as_own_search(step: ProgramStep) -> ProgramStep:
    if step.scout_call.name != mcp_search.NAME:
        return step
    return replace(step, scout_call=replace(step.scout_call, name="Grep"))


def _find_repetition(old: ProgramStep, turn: Sequence[ProgramStep]) -> ProgramStep:
    return next((step for step in turn if old.result.is_error and step.same_as(old)), old)


def _turn_and_tool(step: ProgramStep) -> tuple[str, str]:
    return step.turn, step.tool


def _read(
    scout_call: ToolCall, program_call: ToolCall, result: ToolResult, workspace: str | None
) -> ToolResult:
    """Translate the result into that of scout's tool; one that cannot be read so is an error."""
    if result.is_error:
        return ToolResult(id=scout_call.id, text=result.text, is_error=True)
    if scout_call.name not in ("Grep", "Glob", "Read", mcp_search.NAME):
        return ToolResult(id=scout_call.id, text=retrieval_tools.text_of(result.text))
    read = _text(scout_call, program_call, result.text, workspace)
    failed = read is None
    return ToolResult(id=scout_call.id, text=result.text if read is None else read, is_error=failed)


def _text(
    scout_call: ToolCall, program_call: ToolCall, text: str, workspace: str | None
) -> str | None:
    """Translate the text of a result; `None` when the tool could not do it."""
    if scout_call.name == "Read":
        return file_lines.extract_lines(text, scout_call.arguments) or None
    path = scout_call.arguments.get("path")
    if scout_call.name == mcp_search.NAME:
        text = mcp_search.hits_in(text, workspace)
        hits = grep_lines.format_hits(text, scout_call.arguments, Scope(workspace=workspace))
        return None if hits == grep_lines.NOTHING else hits
    scope = Scope(workspace=workspace, path=path if isinstance(path, str) else "")
    if scout_call.name == "Glob":
        read = grep_lines.format_paths(text, scout_call.arguments, scope)
    elif scout_call.arguments.get("output_mode") == "count":
        arguments = program_call.arguments
        is_count = arguments.get("output_mode") == "count" or shell.counts(arguments)
        read = grep_lines.format_counts(text, scout_call.arguments, scope, is_count=is_count)
    else:
        read = grep_lines.format_hits(text, scout_call.arguments, scope)
    found_none = read in (grep_lines.NOTHING, grep_lines.NO_FILES)
    return None if found_none and not grep_lines.says_nothing(text) else read
