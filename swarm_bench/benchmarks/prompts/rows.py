"""What a row of a benchmark of prompts has."""

from collections.abc import Iterator

import regex
from pydantic import BaseModel, ConfigDict, Field, field_validator

from swarm_bench.benchmarks.diffs.rows import Edit

_SECONDS = 1.0
"""That a pattern may take."""


class Checks(BaseModel):
    """What an answer must have, and must not have."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    contains: list[str] = []
    """Texts that stand in it."""
    matches: list[str] = []
    """Regular expressions that something in it matches."""
    lacks: list[str] = Field(default=[], alias="not")
    """Texts that do not stand in it."""

    @field_validator("matches")
    @classmethod
    def _are_patterns(cls, patterns: list[str]) -> list[str]:
        for pattern in patterns:
            try:
                regex.compile(pattern)
            except (regex.error, RecursionError) as error:
                raise ValueError(f"has {pattern!r}, which is no pattern: {error}") from error
        return patterns

    def share(self, answer: str) -> float | None:
        """Return the share of the checks that hold; `None` where there are none. Nothing holds of
        an answer that is empty, or has nothing of what it must have: anything lacks something."""
        has = [*self._has(answer)]
        lacks = [text not in answer for text in self.lacks]
        number = len(has) + len(lacks)
        is_nothing = not answer.strip() or (bool(has) and not any(has))
        return (0.0 if is_nothing else sum([*has, *lacks]) / number) if number else None

    def _has(self, answer: str) -> Iterator[bool]:
        yield from (text in answer for text in self.contains)
        for pattern in self.matches:
            yield _is_matched(pattern, answer)


def _is_matched(pattern: str, answer: str) -> bool:
    """Tell whether something in an answer matches; what takes too long does not: an answer without
    this figure would be out of the mean."""
    try:
        return regex.search(pattern, answer, timeout=_SECONDS) is not None
    except TimeoutError:
        return False


class Task(Edit):
    """What a model is asked, with tests or checks of its answer, or without."""

    prompt: str = Field(min_length=1)
    source_code: str = Field(default="", alias="sourceCode")
    unit_tests: str = Field(default="", alias="unitTests")
    checks: Checks = Checks()


class TaskWithTests(Task):
    """A task with tests."""

    unit_tests: str = Field(alias="unitTests", min_length=1)
