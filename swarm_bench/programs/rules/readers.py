"""Reads with the tool of an arbitrary server."""

from collections.abc import Sequence
from dataclasses import dataclass

from swarm_bench.core.ports import ToolSpec
from swarm_bench.models import tool_roles
from swarm_bench.models.lexical import tool_results
from swarm_bench.programs.rules.observations import Call, Step
from swarm_bench.programs.rules.reading_plan import Reading

_WITH_LENGTH = (("offset", "limit"),)
_WITH_LAST = (("start_line", "end_line"),)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A tool that gives the text of a file, or some lines of it."""

    tool: ToolSpec
    workspace: str

    @property
    def takes_lines(self) -> bool:
        """Whether it can be asked for some lines only."""
        return self._bounds is not None

    def call(self, reading: Reading) -> Call:
        """Make the call that reads some lines; the whole file where the tool knows nothing else."""
        hint = self._file + tool_roles.description_of(self.tool, self._file)
        path = reading.path if "relative" in hint else f"{self.workspace}/{reading.path}"
        arguments: dict[str, object] = {self._file: path}
        if self._bounds:
            begin, end = self._bounds
            start = reading.first - self._zero
            last = start + len(reading.lines) - 1
            arguments |= {begin: start}
            arguments |= {end: len(reading.lines) if self._bounds in _WITH_LENGTH else last}
        return self.tool.name, tool_roles.with_required(self.tool, arguments, self.workspace)

    def start(self, step: Step) -> tuple[str, int] | None:
        """Return path and first line of what a call asked for; `None` for a call of another
        tool."""
        path = tool_results.below(step.argument(self._file), self.workspace)
        if step.call.name != self.tool.name or path is None:
            return None
        first = step.call.arguments.get(self._bounds[0]) if self._bounds else None
        return path, first + self._zero if isinstance(first, int) else 1

    def window(self, step: Step) -> tuple[str, int, list[str]] | None:
        """Return path, first line and lines of what a call gave; `None` when it gave none."""
        start = self.start(step)
        if start is None or step.result.is_error:
            return None
        text = tool_results.content(step.result.text, start[1])
        return (start[0], *text) if text else None

    def has_failed(self, past_steps: Sequence[Step]) -> bool:
        """Tell whether a call of it was of no use, so that it is not asked again."""
        return any(self.start(step) and not self.window(step) for step in past_steps)

    @property
    def _file(self) -> str:
        return tool_roles.argument(self.tool, tool_roles.FILE) or "path"

    @property
    def _bounds(self) -> tuple[str, str] | None:
        names = set(tool_roles.properties(self.tool))
        pairs = [*_WITH_LENGTH, *_WITH_LAST]
        return next((pair for pair in pairs if names >= set(pair)), None)

    @property
    def _zero(self) -> int:
        """1 when the tool counts lines from 0."""
        hint = tool_roles.description_of(self.tool, self._bounds[0]) if self._bounds else ""
        return int("0-based" in hint or "zero-based" in hint)
