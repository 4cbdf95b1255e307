"""Pairs the records of a session with the rows of its table, for formats that have a trial with
what was asked and answered."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from swarm_bench.core.errors import Refused
from swarm_bench.core.outcome import Usage
from swarm_bench.core.report.document import Answer
from swarm_bench.core.report.exported import ExportedTrial, Message
from swarm_bench.core.report.trials import Entry, TrialsTable
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.runtime.untrusted import open_untrusted

R = TypeVar("R")
GAP = "[gap]"
"""Stands where the model is to write between two texts."""
_ROLES: Mapping[str, Literal["system", "user", "agent"]] = {
    "system": "system",
    "user": "user",
    "assistant": "agent",
}
_TOKENS = ("input", "cache_read", "cache_create", "output")
Row = Mapping[str, Entry]


@dataclass(frozen=True, kw_only=True)
class RecordedRows(Generic[R]):
    """The rows of a table, and the record of each."""

    rows: Sequence[Row]
    records: Sequence[R]
    build: Callable[[Row, R], ExportedTrial]

    def read_trials(self, arm: str | None) -> Iterator[ExportedTrial]:
        """Read the trials of an arm, or all of them, one by one."""
        for row, record in zip(self.rows, self.records, strict=True):
            if arm in (None, row["arm"]):
                yield self.build(row, record)


def list_rows(table: TrialsTable) -> list[Row]:
    """Return the rows of a table as mappings, without its metrics but for the time."""
    columns = [
        (column.name, not column.is_metric or column.name == "wall_seconds")
        for column in table.columns
    ]
    return [
        {name: entry for (name, is_kept), entry in zip(columns, row, strict=True) if is_kept}
        for row in table.rows
    ]


def read_claims(answers: Iterable[Answer]) -> dict[str, str]:
    """Return what answers claim, as clauses, by what they are on."""
    return {answer.subject: answer.claim.strip(": ") for answer in answers}


def list_scores(scores: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the scores of a record, without those that are missing."""
    return {key: value for key, value in (scores or {}).items() if value is not None}


TrialBuilder = Callable[[Row, Any], ExportedTrial]


def build_trial(row: Row, record: CaseRecord) -> ExportedTrial:
    """Make a trial of a record of any benchmark of cases, without what was asked."""
    return ExportedTrial(
        row=row,
        answer=record.answer,
        usage=read_usage(record),
        cost=record.cost,
        is_billed=record.is_billed,
        scores=list_scores(record.scores),
        extra={"figures": list_scores(record.figures) or None, "node": record.node},
    )


def read_usage(record: Any) -> Usage:
    """Return the tokens of a record of any kind."""
    return Usage(
        input=record.input_tokens,
        cache_read=record.cache_read,
        cache_create=record.cache_create,
        output=record.output_tokens,
    )


def read_turns(turns: Iterable[Mapping[str, int | None]]) -> list[Usage]:
    """Return the tokens of each request of a record."""
    return [Usage(**{name: turn.get(name) for name in _TOKENS}) for turn in turns]


def read_prompts(path: Path) -> dict[str, tuple[Message, ...]]:
    """Read what models were asked, by the checksum of the request, as far as the lines can be
    read; none without the file."""
    prompts = dict[str, tuple[Message, ...]]()
    with suppress(OSError, Refused), open_untrusted(path) as file:
        for line in file:
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                content = json.loads(line)
                prompts[content["sha256"]] = tuple(_read_messages(content["prompt"]))
    return prompts


def _read_messages(prompt: Any) -> Iterator[Message]:
    """Yield the messages of a prompt: a text, one with a gap, or turns."""
    if isinstance(prompt, str):
        yield Message(role="user", text=prompt)
    elif isinstance(prompt, dict):
        yield Message(role="user", text=f"{prompt['prefix']}{GAP}{prompt['suffix']}")
    else:
        for turn in prompt:
            yield Message(role=_ROLES[turn["role"]], text=str(turn["text"]))
