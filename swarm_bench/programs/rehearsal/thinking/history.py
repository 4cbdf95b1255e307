"""What was asked and answered so far, in the terms of `rules`.

Searches and tools that read files, `cat -n` among them, are understood in any of the forms in
which programs print their results.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from swarm_bench.core.ports import Message, ToolCall, ToolResult
from swarm_bench.programs.rehearsal.thinking import mcp_search, retrieval_tools, toolbox
from swarm_bench.programs.rehearsal.thinking.prompts import drop_reminders
from swarm_bench.programs.rehearsal.thinking.toolbox import expand_braces

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
    """Calls that `rules` wanted, in scout's terms, by the id under which the program was asked."""
    turns: Counter[str] = field(default_factory=Counter)
    """Turns in which the program was asked for calls, by task."""
    is_lost: bool = False
    """Whether results came back under ids that were never given out."""


@dataclass(frozen=True, kw_only=True)
class ProgramStep:
    """A call of ours, and what the program made of it."""

    scout_call: ToolCall
    """Call in scout's terms."""
    tool: str
    """Name by which the program calls the tool that was used."""
    result: ToolResult
    """Result in scout's terms; an error when the tool could not do it."""

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
    """Count the turns of a conversation in which the assistant called tools, whatever the origin of
    the ids."""
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
        return extract_lines(text, scout_call.arguments) or None
    path = scout_call.arguments.get("path")
    if scout_call.name == mcp_search.NAME:
        text = mcp_search.hits_in(text, workspace)
        hits = format_hits(text, scout_call.arguments, Scope(workspace=workspace))
        return None if hits == NOTHING else hits
    scope = Scope(workspace=workspace, path=path if isinstance(path, str) else "")
    if scout_call.name == "Glob":
        read = format_paths(text, scout_call.arguments, scope)
    elif scout_call.arguments.get("output_mode") == "count":
        arguments = program_call.arguments
        is_count = arguments.get("output_mode") == "count" or toolbox.counts(arguments)
        read = format_counts(text, scout_call.arguments, scope, is_count=is_count)
    else:
        read = format_hits(text, scout_call.arguments, scope)
    found_none = read in (NOTHING, NO_FILES)
    return None if found_none and not says_nothing(text) else read


_NUMBERED = re.compile(r"^(?:Output: )?\s*(\d{1,9})(?:\t|→|\| |: |:$|\|$)(.*)$")
_SHOWN_RANGE = re.compile(r"\bshowing lines (\d{1,9})-(\d{1,9}) of", re.IGNORECASE)
_BODY = re.compile(r"^--- FILE CONTENT \(truncated\) ---\n|^---\n\n", re.MULTILINE)


def extract_lines(text: str, arguments: Mapping[str, Any]) -> str:
    """Extract the lines asked for, `number<tab>text` each; empty when the text has none of them."""
    first, limit = arguments.get("offset", 1), arguments.get("limit", 200)
    text = drop_reminders(text)
    numbered = _find_numbered(text.split("\n"), first) or _number_lines(text)
    # Behind the last line break of a file some programs see one more line.
    if numbered and not numbered[-1][1] and numbered[-1][0] < first + limit - 1:
        numbered.pop()
    lines = [f"{number}\t{line}" for number, line in numbered if first <= number < first + limit]
    return "\n".join(lines)


def _find_numbered(lines: Sequence[str], first: int) -> list[tuple[int, str]]:
    """Find the run of numbered lines that begins with the first line asked for, or with line 1."""
    matches = [_NUMBERED.match(line) for line in lines]
    for start in (first, 1):
        for index, match in enumerate(matches):
            if match and int(match[1]) == start:
                return _run(matches[index:], start)
    return []


def _run(matches: Sequence[re.Match[str] | None], first: int) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    for number, match in enumerate(matches, start=first):
        if match is None or int(match[1]) != number:
            break
        lines.append((number, match[2].rstrip("\r")))
    return lines


def _number_lines(text: str) -> list[tuple[int, str]]:
    """Read text without line numbers: a whole file, or the part that a notice above it names."""
    first = 1
    if shown_range := _SHOWN_RANGE.search(text[:1000]):
        body = _BODY.search(text, shown_range.end())
        if body is None:
            return []
        first, text = int(shown_range[1]), text[body.end() :]
    lines = text.split("\n") if text.strip() else []
    return list(enumerate((line.rstrip("\r") for line in lines), start=first))


NOTHING = "No matches found"
NO_FILES = "No files found"

_OUTPUT = re.compile(r"^Output: (?=\.?/)")
_FILE = re.compile(r"^File: (.+)$")
_HEADING = re.compile(r"^(/.+|[^\s:](?:[^:]*[^\s:])?):$")
_NUMBERED_HIT = re.compile(r"^(?:\s*(?:L|[Ll]ine )(\d{1,9}): ?|(\d{1,9}):)(.*)$")
_HIT = re.compile(r"^(.+?):(\d{1,9}):(.*)$")
_COUNT = re.compile(r"^(.+):(\d{1,9})$")
_NOTE = re.compile(r"^(?:Found \d|No (?:files|matches)|---|[\[(<]|\s*$)|: \S|:$", re.IGNORECASE)
_NONE = re.compile(
    r"\bno (?:matches|files|results)\b|\bfound 0\b|\(empty\)|no output", re.IGNORECASE
)

_LONG = re.compile(r":\d{10,}:")

Hit = tuple[str, int, str]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The folder or file that was searched; it makes the paths of the output relative to the
    workspace."""

    workspace: str | None
    path: str = ""
    """The file that was searched; empty when everything was."""

    def relative(self, path: str) -> str:
        """Make a path relative to the workspace."""
        if self.workspace and path.startswith(self.workspace.rstrip("/") + "/"):
            path = path[len(self.workspace.rstrip("/")) + 1 :]
        path = path.removeprefix("./")
        # AgentRequest to search a folder, some programs print what they find relative to it.
        folder, _, name = self.path.rpartition("/")
        return f"{folder}/{name}" if folder and path == name else path


def format_counts(
    text: str, arguments: Mapping[str, Any], scope: Scope, *, is_count: bool = True
) -> str:
    """List `path:lines` by file, most lines first. `is_count` says whether the tool was asked to
    count; otherwise it showed the lines, and what looks like a count is the end of one."""
    counts = Counter(
        {
            scope.relative(match[1]): int(match[2])
            for line in _lines(text)
            if is_count and (match := _COUNT.match(line)) and not _HIT.match(line)
        }
    )
    if not counts:
        counts = Counter(path for path, _, _ in _matching(text, arguments, scope))
    ranked = sorted(counts, key=lambda path: (-counts[path], path))
    return _join([f"{path}:{counts[path]}" for path in ranked], arguments)


def format_hits(text: str, arguments: Mapping[str, Any], scope: Scope) -> str:
    """List `path:line:text`, sorted by path, of the lines that really match: some programs ignore
    case or show lines around a match."""
    lines = sorted(
        {(path, number): line for path, number, line in _matching(text, arguments, scope)}.items()
    )
    return _join([f"{path}:{number}:{line}" for (path, number), line in lines], arguments)


def format_paths(text: str, arguments: Mapping[str, Any], scope: Scope) -> str:
    """List paths, sorted, each on a line of its own."""
    patterns = expand_braces(str(arguments.get("pattern", "")).removeprefix("**/"))
    paths = {scope.relative(line.strip()) for line in _lines(text) if not _NOTE.search(line)}
    matching = {path for path in paths if any(_fits(path, pattern) for pattern in patterns)}
    return "\n".join(sorted(matching)) or NO_FILES


def says_nothing(text: str) -> bool:
    """Tell a search that reports no match from one that could not be done."""
    return not text.strip() or _NONE.search(text) is not None


def _matching(text: str, arguments: Mapping[str, Any], scope: Scope) -> Iterator[Hit]:
    expression = re.compile(str(arguments.get("pattern", "")))
    for path, number, line in _hits(text, scope):
        if _LONG.search(path):  # rules read the line again, and would take this for its number
            continue
        if expression.search(line) and scope.path in ("", path):
            yield path, number, line


def _hits(text: str, scope: Scope) -> Iterator[Hit]:
    current = scope.path
    for line in _lines(text):
        if heading := _FILE.match(line):
            current = scope.relative(heading[1])
        elif current and (numbered := _NUMBERED_HIT.match(line)):
            yield current, int(numbered[1] or numbered[2]), numbered[3]
        elif hit := _HIT.match(line):
            yield scope.relative(hit[1]), int(hit[2]), hit[3]
        elif heading := _HEADING.match(line):
            current = scope.relative(heading[1])


def _fits(path: str, pattern: str) -> bool:
    """Tell whether a path can be an answer to a glob. Patterns with folders are up to the tool."""
    return "/" in pattern or fnmatchcase(path.rpartition("/")[2], pattern)


def _lines(text: str) -> list[str]:
    return [_OUTPUT.sub("", line).rstrip("\r") for line in text.split("\n")]


def _join(lines: Sequence[str], arguments: Mapping[str, Any]) -> str:
    limit = arguments.get("head_limit")
    return "\n".join(lines[:limit] if isinstance(limit, int) else lines) or NOTHING
