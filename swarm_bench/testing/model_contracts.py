"""What every benchmark of rows, data set, language model and environment must keep. For tests of
plugins as of our own.

Each check raises `AssertionError` with a sentence that names what was broken.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from math import isfinite
from time import thread_time
from typing import Any

from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.metric import Better, Metric, fault
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.dataset import Dataset
from swarm_bench.core.roles.execution import PYTHON, Code, Environment
from swarm_bench.core.roles.language_model import (
    Around,
    Ask,
    Completion,
    Gap,
    ModelSource,
    Sampling,
    Turn,
    Way,
)
from swarm_bench.core.session.models import Arm, ModelRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.testing.contracts import HOSTILE_ANSWERS, expect
from swarm_bench.testing.hostile_programs import check_hostile

_SECONDS = 3.0
"""Seconds that code without an end may take."""
_PROMPTS: Mapping[Way, Any] = {
    "chat": (Turn(role="user", text="How much is 1 + 1?"),),
    "text": "1 + 1 =",
    "gap": Gap(prefix="1 + ", suffix=" = 2"),
}
_UNITS = ("a", "\n", "(", "```\n", "<think>", '{"', "\0")
_LARGE = tuple((unit * 2**20)[: 2**size] for unit in _UNITS for size in range(10, 21, 2))
"""Answers of up to a megabyte: what takes long is named before it takes hours."""
_MAX_LETTERS, _MAX_OTHERS = 40, 3
"""Characters of an answer that is named, and right answers to other cases that are tried."""
_READING_SECONDS, _READING_LOOPS = 2.0, 180
"""Processor time for a megabyte; in loops over its letters where the machine itself is slow."""


async def check_model_benchmark(
    kind: Any, rows: Sequence[Any], tools: Any, prompts: Mapping[int, str] | None = None
) -> None:
    """Check that a benchmark (a class that is a `ModelBenchmark`) asks alike each time, reads
    whatever a model writes, and scores it where that runs no code; that the answer of its data set
    is better than an empty one, and than one that is the same for all cases; and that metrics read
    what is scored. `rows` are some of its schema, and `tools` what scoring may use (`Tools`); three
    cases are scored. `prompts` has the hash of what is asked of these rows by the version of the
    benchmark (`hash_of_prompts`), so that nobody changes the one without the other."""
    expect(bool(kind.name), "a benchmark has a name")
    benchmark = kind()
    cases = tuple(benchmark.cases(rows))
    expect(bool(cases), "it has cases")
    ids = [case.id for case in cases]
    expect(len(set(ids)) == len(ids) and all(ids), "ids of cases are distinct, and not empty")
    _check_metrics(kind)
    _check_arms(benchmark)
    expect(isinstance(benchmark.default_dataset(), str), "the data set that it uses has a word")
    runs_code = benchmark.runs_code(rows)
    expect(isinstance(runs_code, bool), "it says whether scoring runs code")
    records = list[ModelRecord]()
    for style in _ordered_ways(benchmark):
        check_reading(benchmark, cases[0], style, _LARGE)
        for case in cases[:3]:
            check_reading(benchmark, case, style, HOSTILE_ANSWERS)
            checked = Answers(own=benchmark, case=case, way=style, tools=tools)
            records += await checked.check(runs_code=runs_code, others=cases)
    check_keys(benchmark, records)
    if prompts is not None:
        digest, stored_hash = hash_of_prompts(kind, rows), prompts.get(kind.version)
        expect(
            stored_hash == digest,
            f"what version {kind.version} asks has the hash {digest!r}, not {stored_hash!r}: where "
            "prompts changed, raise the version, and add its hash to `prompts`, or put it there in "
            "the place of the old one while nobody has run this version",
        )


def _ordered_ways(benchmark: Any) -> tuple[Way, ...]:
    styles: tuple[Way, ...] = benchmark.asks_by()
    ordered = isinstance(styles, tuple) and 0 < len(set(styles)) == len(styles)
    expect(ordered, "the ways in which it asks are in order, each once")
    return styles


def hash_of_prompts(kind: Any, rows: Sequence[Any]) -> str:
    """Hash what a benchmark asks of rows, in all of its ways."""
    benchmark, digest = kind(), sha256()
    for case in benchmark.cases(rows):
        for style in benchmark.asks_by():
            digest.update(
                json.dumps([case.id, style, benchmark.ask(case, style).texts]).encode() + b"\n"
            )
    return digest.hexdigest()[:16]


def check_dataset(dataset: Dataset) -> None:
    """Check that a data set says what it is, and has the same rows in every reading."""
    expect(dataset.about.isprintable() and bool(dataset.about), "what it is about is a sentence")
    for text in (dataset.licence, dataset.source):
        expect(text is None or bool(text), "its licence and its source are named, or missing")
    published = dataset.published
    expect(published is None or isinstance(published, date), "when it was published is a date")
    first, second = dataset.load(), dataset.load()
    rows = [row.content for row in first.rows]
    expect(bool(rows), "it has rows")
    expect(len({first.sha256, second.sha256}) == 1 and len(first.sha256) == 64, "its hash is one")
    expect(rows == [row.content for row in second.rows], "the same rows come in every reading")
    expect(json.loads(json.dumps(rows)) == rows, "rows are JSON")


async def check_language_model(source: ModelSource, ask: Ask | None = None) -> None:
    """Check that a model says what it is, and answers in each of its ways; `ask` is what it is
    asked in place of a sum."""
    expect(source.about.isprintable() and bool(source.about), "what it is about is a sentence")
    expect(bool(source.ways), "it can be asked in some way")
    expect(isinstance(source.free, bool), "it says whether asking costs nothing")
    for flag in (source.sampled, source.repeats):
        expect(isinstance(flag, bool), "it says what decides its answers")
    expect(source.address is None or "://" in source.address, "its address is one")
    context = Around(cases=("1",), every=("1",), groups=("g",), lessons=("1 + 1 = 2",))
    expect(bool(source.program(context).name), "whoever answers has a name")
    async with source.opened(context) as model:
        for style in sorted(source.ways):
            request = ask or Ask(
                prompt=_PROMPTS[style], sampling=Sampling(max_tokens=8), reference="2", case="1"
            )
            answer = await model.complete(request)
            expect(isinstance(answer.text, str), "an answer is a text")
            expect(answer.finish in (None, "stop", "length", "refused"), "why it ended is said")
            expect(
                answer.requests is None or answer.requests >= 1, "it says how many requests it took"
            )
            counts = [answer.usage.input, answer.usage.output]
            expect(
                all(token_count is None or token_count >= 0 for token_count in counts),
                "tokens are counted, or missing",
            )


async def check_environment(environment: Environment) -> None:
    """Check that an environment says what it is, runs Python, keeps the limits, and that of ten
    hostile programs none gets more than it may or leaves anything. Takes up to a minute."""
    expect(bool(environment.name), "an environment has a name")
    expect(environment.confinement.isprintable(), "what confines code is a clause on one line")
    expect(isinstance(environment.confines, bool), "it says whether anything confines code")
    expect(bool(environment.program().name), "what runs code has a name")
    echo = "import sys; print(sys.stdin.read()); sys.exit(3)"
    done = await environment.run(_code(echo, stdin="words"))
    expect(
        (done.returncode, done.stdout) == (3, "words\n"), "it hands on input, output and the end"
    )
    stopped = (await environment.run(_code("while True: pass"))).stopped
    expect(stopped == "time", "code that never ends is stopped by the limit of time")
    await check_hostile(environment)


def _code(text: str, stdin: str = "") -> Code:
    return Code(
        argv=(PYTHON, "-I", "-c", text), stdin=stdin, timeout=_SECONDS, output_bytes=100_000
    )


def _check_metrics(kind: Any) -> None:
    metrics = tuple(kind.metrics())
    keys = [metric.key for metric in metrics]
    expect(len(set(keys)) == len(keys) and all(keys), "keys of metrics are distinct")
    for metric in metrics:
        clause = fault(metric)
        expect(clause is None, f"the metric {metric.key} can be shown: it {clause}")
    expect(any(metric.compared and metric.better for metric in metrics), "a metric is compared")


def _check_arms(benchmark: Any) -> None:
    arms = benchmark.arms([Arm(name=name, model=name) for name in ("a", "b")])
    names = [arm.name for arm in arms]
    expect(len(set(names)) == len(names) > 0, "names of arms are distinct")
    against = {arm.against for arm in arms} - {None}
    expect(against <= set(names), "an arm is held against one of them")


def check_reading(own: Any, case: Any, way: Way, answers: Sequence[str]) -> None:
    """Check that a case is asked alike each time, and that whatever a model writes is read."""
    ask = own.ask(case, way)
    expect(ask == own.ask(case, way), "the same case is asked alike")
    expect(ask.way == way, f"a case that is asked by {way} has such a prompt")
    for text in answers:
        start = thread_time()
        read = _read(own, case, way, text)
        seconds = thread_time() - start
        expect(isinstance(read, str), "read() gives a text, whatever the model wrote")
        expect(
            seconds < _READING_SECONDS or seconds < _READING_LOOPS * _time_loop(),
            f"read() takes {seconds:.0f} s for {len(text):,} characters as {_shorten(text)}; a "
            "megabyte may take no more than moments",
        )


def _time_loop() -> float:
    """Return the processor time of a loop over the letters of a megabyte, here and now."""
    start = thread_time()
    for _ in "a" * 2**20:
        pass
    return thread_time() - start


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
