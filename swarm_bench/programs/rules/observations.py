"""What the conversation so far has shown: hits by file, lines, definitions.

The rules keep nothing between requests. They read the results of their own calls again each
time, as any chat model does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swarm_bench.core.ports import Message, ToolCall, ToolResult

_COUNT = re.compile(r"^(.+):(\d+)$")
_HIT = re.compile(r"^(.+?):(\d+):(.*)$")
Call = tuple[str, Mapping[str, object]]
"""Name and arguments of a call to be made."""

_NUMBERED = re.compile(r"^(\d+)\t(.*)$")


@dataclass(frozen=True, kw_only=True)
class Step:
    """A call and what came back."""

    call: ToolCall
    result: ToolResult

    def argument(self, name: str) -> str:
        """Return a text argument; empty when the call has none of that name."""
        value = self.call.arguments.get(name)
        return value if isinstance(value, str) else ""


@dataclass
class Observations:
    """Lines of files that tool results have shown, by path and number."""

    lines: dict[str, dict[int, str]] = field(default_factory=dict)
    read: dict[str, list[range]] = field(default_factory=dict)
    """Windows that were read or expanded, as opposed to single lines of a search."""

    def add_line(self, path: str, number: int, text: str) -> None:
        self.lines.setdefault(path, {}).setdefault(number, text)

    def add_window(self, path: str, first: int, lines: Sequence[str]) -> None:
        for offset, text in enumerate(lines):
            self.add_line(path, first + offset, text)
        self.read.setdefault(path, []).append(range(first, first + len(lines)))

    def windows(self, path: str) -> list[range]:
        """List the windows of a file in order, with overlapping ones joined."""
        joined: list[range] = []
        for window in sorted(self.read.get(path, []), key=lambda window: window.start):
            if joined and window.start <= joined[-1].stop:
                joined[-1] = range(joined[-1].start, max(joined[-1].stop, window.stop))
            else:
                joined.append(window)
        return joined


def read_steps(messages: Sequence[Message]) -> Iterator[Step]:
    """Yield every call with its result, in order."""
    calls = {call.id: call for message in messages for call in message.calls}
    for message in messages:
        for result in message.results:
            if result.id in calls:
                yield Step(call=calls[result.id], result=result)


def read_counts(step: Step) -> dict[str, int]:
    """Read the hits by file of a Grep in count mode."""
    matches = (_COUNT.match(line) for line in _lines(step))
    return {match[1]: int(match[2]) for match in matches if match}


def list_paths(step: Step) -> list[str]:
    """List the paths that a Glob gave."""
    if step.call.name != "Glob" or step.result.text == "No files found":
        return []
    return [line for line in _lines(step) if not line.startswith("[")]


def hits(step: Step) -> list[tuple[str, int, str]]:
    """Read path, line number and text from a Grep in content mode."""
    matches = (_HIT.match(line) for line in _lines(step))
    return [(match[1], int(match[2]), match[3]) for match in matches if match]


def window(step: Step) -> tuple[str, int, list[str]] | None:
    """Read path, first line and lines from a Read; `None` when it gave none."""
    matches = [match for line in _lines(step) if (match := _NUMBERED.match(line))]
    if not matches:
        return None
    return step.argument("file_path"), int(matches[0][1]), [match[2] for match in matches]


def collect_lines(past_steps: Sequence[Step]) -> dict[str, dict[int, str]]:
    """Collect single lines that searches have shown, by path and number."""
    result = Observations()
    for step in past_steps:
        if step.call.name == "Grep" and step.argument("output_mode") == "content":
            for path, number, text in hits(step):
                result.add_line(path, number, text)
    return result.lines


def observe(past_steps: Sequence[Step]) -> Observations:
    """Collect everything that the built-in tools have shown."""
    result = Observations(lines=collect_lines(past_steps))
    for step in past_steps:
        if step.call.name == "Read" and (read := window(step)):
            result.add_window(*read)
    return result


def _lines(step: Step) -> list[str]:
    # Not splitlines: a form feed inside a line of code is no line break to the tools.
    return [] if step.result.is_error else step.result.text.split("\n")
