"""What every benchmark of rows must keep in reading and scoring answers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import isfinite
from time import thread_time
from typing import Any

from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.metric import Better, Metric
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion, Way
from swarm_bench.core.session.models import ModelRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.testing.contracts import HOSTILE_ANSWERS, expect

_UNITS = ("a", "\n", "(", "```\n", "<think>", '{"', "\0")
_LARGE = tuple((unit * 2**20)[: 2**size] for unit in _UNITS for size in range(10, 21, 2))
"""Answers of up to a megabyte: what takes long is named before it takes hours."""
_MAX_LETTERS, _MAX_OTHERS = 40, 3
"""Characters of an answer that is named, and right answers to other cases that are tried."""
_READING_SECONDS = 2.0
"""Of processor time, for a megabyte."""


def check_reading(own: Any, case: Any, way: Way) -> None:
    """Check that a case is asked alike each time, and that whatever a model writes is read."""
    ask = own.ask(case, way)
    expect(ask == own.ask(case, way), "the same case is asked alike")
    expect(ask.way == way, f"a case that is asked by {way} has such a prompt")
    for text in (*_LARGE, *HOSTILE_ANSWERS):
        start = thread_time()
        read = _read(own, case, way, text)
        seconds = thread_time() - start
        expect(isinstance(read, str), "read() gives a text, whatever the model wrote")
        expect(
            seconds < _READING_SECONDS,
            f"read() takes {seconds:.0f} s for {len(text):,} characters as {_shorten(text)}; a "
            "megabyte may take no more than moments",
        )


def _read(benchmark: Any, case: Any, style: Way, text: str) -> Any:
    with _naming(f"read() of {case.id!r}", text):
        return benchmark.read(
            case, Completion(text=text, finish="stop", usage=Usage(), whole=True), style
        )


@contextmanager
def _naming(subject: str, text: str) -> Iterator[None]:
    """Name the answer at which the block raises. Raises `AssertionError`."""
    try:
        yield
    except (SwarmBenchError, AssertionError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AssertionError(
            f"{subject} raises {reason} for the answer {_shorten(text)}"
        ) from error


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]} …")


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Answers to a case, as they are scored."""

    own: Any
    case: Any
    way: Way
    tools: Any

    async def check(self, *, runs_code: bool, others: Sequence[Any]) -> list[ModelRecord]:
        """Check the scores of answers that are wrong, and of the right one; `others` are all cases.
        Returns what was scored."""
        if not runs_code:
            for text in HOSTILE_ANSWERS:
                await self._score(self._read(text))
        empty = await self._score(self._read(""))
        right = self._right(self.case)
        if right is None:
            return [empty]
        record = await self._score(right)
        best, worst = self._figure(record), self._figure(empty)
        expect(
            best is not None,
            f"the answer of the data set to {self.case.id} has a {self._primary.key}",
        )
        expect(
            self._is_better(best, worst),
            f"an empty answer to {self.case.id} is not as good as that of the data set",
        )
        await self._check_no_constant(best, self._wrong(right, others))
        return [empty, record]

    async def _check_no_constant(self, best: float | None, wrong: Sequence[str]) -> None:
        """Check that the right answer to some other case is not as good here."""
        for text in wrong:
            if self._is_better(best, self._figure(await self._score(text))):
                return
        expect(
            not wrong,
            f"the same answer to all cases is not as good as that of the data set: to "
            f"{self.case.id}, {' and '.join(map(_shorten, wrong))} are",
        )

    def _wrong(self, right: str, other_cases: Sequence[Any]) -> list[str]:
        """Return some of the right answers to other cases."""
        texts = dict[str, None]()
        for other_case in other_cases:
            text = self._right(other_case)
            if text not in (None, right):
                texts[str(text)] = None
            if len(texts) == _MAX_OTHERS:
                break
        return list(texts)

    def _right(self, case: Any) -> str | None:
        """Return what is read of the answer of the data set."""
        reference = self.own.ask(case, self.way).reference
        return None if reference is None else _read(self.own, case, self.way, reference)

    def _read(self, text: str) -> str:
        return str(_read(self.own, self.case, self.way, text))

    @property
    def _primary(self) -> Metric:
        of_case = (metric for metric in self.own.metrics() if metric.part in (None, self.case.part))
        primary: Metric = next(metric for metric in of_case if metric.compared and metric.better)
        return primary

    def _is_better(self, best: float | None, compared: float | None) -> bool:
        if best is None or compared is None:
            return True
        return best > compared if self._primary.better is Better.HIGHER else best < compared

    def _figure(self, record: ModelRecord) -> float | None:
        metric = self._primary
        if metric.counts and metric.of_counts:
            counts = metric.counts(record)
            return None if counts is None else metric.of_counts(counts)
        assert metric.read
        value = metric.read(record)
        return metric.of_case([value]) if metric.of_case and value is not None else value

    async def _score(self, answer: str) -> ModelRecord:
        """Score an answer, and read all figures of it."""
        with _naming(f"score() of {self.case.id!r}", answer):
            scores = dict(await self.own.score(self.case, answer, self.tools))
        for key, value in scores.items():
            _check_score(f"the score {key!r} of {self.case.id!r}", value)
        record = ModelRecord(
            arm="a", case=self.case.id, number=1, run=1, session="0" * 8, trial="0" * 12, attempt=1,
            status=Status.COMPLETED, cause=Cause.FINISHED, scores=scores, part=self.case.part,
        )  # fmt: skip
        for metric in self.own.metrics():
            counts = metric.counts(record) if metric.counts else None
            value = metric.of_counts(counts) if metric.of_counts and counts is not None else None
            expect(value is None or isfinite(value), f"{metric.key} of one record is a figure")
            value = metric.read(record) if metric.read else None
            expect(value is None or isfinite(value), f"{metric.key} is a figure, or missing")
        return record


def _check_score(key: str, value: Any) -> None:
    finite = not isinstance(value, float) or isfinite(value)
    expect(finite, f"{key} is {value}; scores that are numbers are finite")
    is_counts = isinstance(value, list) and all(isinstance(item, int) for item in value)
    kinds = (bool, int, float, str, type(None))
    expect(
        is_counts or isinstance(value, kinds),
        f"{key} is {_shorten(repr(value))}; scores are true, false, numbers, texts, None, or lists "
        "of whole numbers",
    )


class _AskedKeys(dict[str, Any]):
    """Scores of a record that notes which keys a metric reads."""

    def __init__(self) -> None:
        super().__init__()
        self.keys_read = list[str]()

    def __bool__(self) -> bool:
        return True

    def __missing__(self, key: str) -> None:
        self.keys_read.append(key)

    def __contains__(self, key: object) -> bool:
        self.keys_read.append(str(key))
        return False

    def get(self, key: str, default: Any = None) -> Any:
        """Note the key; it has no value."""
        self.keys_read.append(key)
        return default


def check_keys(own: Any, records: Sequence[ModelRecord]) -> None:
    """Check that what metrics read is what was scored."""
    scored = {key for record in records for key in record.scores or ()}
    parts = {None, *(record.part for record in records)}
    for metric in own.metrics():
        scores = _AskedKeys()
        read = metric.counts or metric.read
        if read is None or metric.part not in parts:
            continue
        with suppress(Exception):
            read(records[0].model_copy(update={"scores": scores}))
        keys = set(scores.keys_read)
        expect(
            not keys or bool(keys & {*scored, *own.judged}),
            f"the metric {metric.key} reads the score {', '.join(sorted(keys))}, and the scores "
            f"are {', '.join(sorted(scored)) or 'none'}",
        )
