"""Plans what is read of the locations that a search gave, and decides when that is enough.

One budget and one rule for every way of searching: the same ranked locations lead to the same
reads, whether grep, canopy or a foreign server ranked them.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swarm_bench.programs.rules import patterns
from swarm_bench.programs.rules.observations import Observations
from swarm_bench.text.terms import Term
from swarm_bench.text.tool_roles import RESULTS


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of one way of searching; the built-in tools start with a new one where a server
    failed."""

    requests: int = 6
    """Requests that call tools."""
    results: int = RESULTS
    """Results asked of one search."""
    files: int = 6
    lines: int = 360
    """Lines of all readings."""
    file_readings: int = 2
    """Readings of a file of which a search showed only single lines."""
    reading_lines: int = 60
    """Lines of one reading, where a location has no end of its own."""
    at_once: int = 3
    """Readings of one request; then it is asked whether that is enough."""


BUDGET = Budget()
ENOUGH = 0.6
"""Share of the terms, by weight, that what was read has to cover."""
MENTIONS = 3
"""Lines of a file that count as its mention of a term."""
MENTIONING = 2
"""Files that cover a term by mentioning it, where no definition bears it: one does so by chance."""
_CONTEXT_LINES = 3
"""Lines before a hit that are read with it."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A file worth opening, and the lines to look at."""

    path: str
    lines: Mapping[int, str] = field(default_factory=dict)
    """Single lines of it that a search has shown."""
    part: range | None = None
    """A part that the search named with its first and its last line."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Lines of a file to be read."""

    path: str
    lines: range

    @property
    def first(self) -> int:
        return self.lines.start

    @property
    def span(self) -> tuple[str, range]:
        """Path and lines."""
        return self.path, self.lines

    @property
    def start(self) -> tuple[str, int]:
        """Its identity in a call."""
        return self.path, self.lines.start


def plan(candidates: Sequence[Candidate], terms: Sequence[Term], budget: Budget) -> list[Reading]:
    """Choose everything that the budget allows to read of the candidates, the best first."""
    planned: list[Reading] = []
    for reading in _readings(candidates, terms, budget):
        files = {planned_reading.path for planned_reading in planned} | {reading.path}
        lines = sum(len(planned_reading.lines) for planned_reading in [*planned, reading])
        is_new = not any(_holds(planned_reading, reading) for planned_reading in planned)
        if is_new and len(files) <= budget.files and lines <= budget.lines:
            planned.append(reading)
    return planned


def choose_next(
    planned: Sequence[Reading],
    attempted: Container[tuple[str, int]],
    observed: Observations,
    budget: Budget,
) -> list[Reading]:
    """Choose the readings of the next request. `attempted` has where those begin that were asked
    for, with success or without."""
    pending = [
        reading
        for reading in planned
        if reading.start not in attempted
        and not any(
            window.start <= reading.first and reading.lines.stop <= window.stop
            for window in observed.windows(reading.path)
        )
    ]
    return pending[: budget.at_once]


def has_room(planned: Sequence[Reading], budget: Budget) -> bool:
    """Tell whether the budget allows one more reading, of another file."""
    lines = sum(len(reading.lines) for reading in planned)
    files = len({reading.path for reading in planned})
    return files < budget.files and lines + budget.reading_lines <= budget.lines


def is_enough(terms: Sequence[Term], observed: Observations) -> bool:
    """Tell whether the text that was read covers the task's terms. What searches showed does not
    count: it has the terms because they were asked for."""
    texts = [_text_read(observed, path) for path in observed.read]
    covered = sum(term.weight for term in terms if _covers(texts, term))
    return any(texts) and covered >= ENOUGH * sum(term.weight for term in terms)


def rate_line(text: str, terms: Sequence[Term]) -> int:
    """Rate how much a line says of the terms."""
    mentioned = sum(1 for term in terms if patterns.match_in_text(term).search(text))
    return max(1, mentioned + (2 if patterns.DEFINITION.match(text) else 0))


def _readings(
    candidates: Sequence[Candidate], terms: Sequence[Term], budget: Budget
) -> Iterator[Reading]:
    for candidate in candidates:
        if part := candidate.part:
            # What is longer than all that is read of a file is begun only.
            fits = len(part) <= budget.file_readings * budget.reading_lines
            lines = part if fits else part[: budget.reading_lines]
            yield Reading(path=candidate.path, lines=lines)
            continue
        for first in _firsts(candidate.lines, terms, budget) or [1]:
            lines = range(first, first + budget.reading_lines)
            yield Reading(path=candidate.path, lines=lines)


def _firsts(lines: Mapping[int, str], terms: Sequence[Term], budget: Budget) -> list[int]:
    """Choose the first lines of the readings that cover the most telling lines of a file."""
    values = {number: rate_line(text, terms) for number, text in lines.items()}
    starts: list[int] = []
    while values and len(starts) < budget.file_readings:
        length = budget.reading_lines - _CONTEXT_LINES
        best = max(values, key=lambda number: (_sum_covered(values, number, length), -number))
        starts.append(max(1, best - _CONTEXT_LINES))
        covered = range(starts[-1], starts[-1] + budget.reading_lines)
        values = {number: value for number, value in values.items() if number not in covered}
    return starts


def _sum_covered(values: Mapping[int, int], first: int, length: int) -> int:
    return sum(value for number, value in values.items() if first <= number < first + length)


def _holds(larger: Reading, reading: Reading) -> bool:
    return (
        larger.path == reading.path
        and larger.first <= reading.first
        and reading.lines.stop <= larger.lines.stop
    )


def _text_read(observed: Observations, path: str) -> list[str]:
    lines = observed.lines.get(path, {})
    return [
        lines[number] for window in observed.windows(path) for number in window if number in lines
    ]


def _covers(texts: Sequence[Sequence[str]], term: Term) -> bool:
    expression = patterns.match_in_text(term)
    mentions = [[line for line in text if expression.search(line)] for text in texts]
    if sum(len(lines) >= MENTIONS for lines in mentions) >= MENTIONING:
        return True
    definitions = (patterns.DEFINITION.match(line) for lines in mentions for line in lines)
    return any(expression.search(match["name"]) for match in definitions if match)
