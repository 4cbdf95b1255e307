"""Names all that is wrong with the rows of a data set, as a benchmark would have them. Rows are
read once and not kept, unless the benchmark keeps them."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy

from swarm_bench.analysis.wording import quantify
from swarm_bench.app.benchmarks import find_model_benchmark
from swarm_bench.app.setup.case_properties import CaseProperties, resolve_properties
from swarm_bench.app.trust.approval import is_vouched
from swarm_bench.app.trust.run_demands import list_property_file_demands
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.core.errors import ConfigError, UsageError
from swarm_bench.core.figures import allow_any_length
from swarm_bench.core.roles.dataset import RawRow, VerifiesItself
from swarm_bench.datasets import rows as of_rows
from swarm_bench.datasets.progress import Progress, Tell
from swarm_bench.datasets.rows import check_row, find_dataset
from swarm_bench.engine.benchmark import wrap_benchmark_errors

MAX_FAULTS = 50
"""Faults that are named; the others are counted."""
_LONGEST = 300
"""Characters of a line on one of them."""
_RECENT = 100_000
_MARKS = 2**27
"""Bits, of which each id sets one: whose bit is not set is a new one."""
_ROWS_PER_UPDATE = 1000
"""Rows between two looks at the clock."""


@dataclass(frozen=True, kw_only=True)
class VerifyResult:
    """Result of checking a data set."""

    text: str
    is_right: bool


def verify_dataset(word: str, name: str, properties: Sequence[str], tell: Tell) -> VerifyResult:
    """Look through a data set. Raises `UsageError` for a word that stands for none, and for a
    benchmark without rows."""
    benchmark = configure_benchmark(name, properties, "--benchmark")[1].model
    verifier = _Verifier(word, benchmark, Progress(tell))
    with wrap_benchmark_errors(name, "cannot make cases"), of_rows.blaming(word, "cannot be read"):
        verifier.run()
    return VerifyResult(
        text="".join(f"{line}\n" for line in verifier.list_lines()), is_right=not verifier.count
    )


class _Verifier:
    """The way through a data set, and what was met on it."""

    def __init__(self, word: str, benchmark: ModelBenchmark, progress: Progress) -> None:
        self._dataset, self._benchmark, self._progress = find_dataset(word), benchmark, progress
        self._word, self._schema = word, benchmark.row_schema()
        self._named_faults, self.count = list[str](), 0
        self._rows, self._valid, self._cases = 0, 0, 0
        self._ids = _Ids()
        self._unused = _UnusedRows()
        self._kept_rows: list[object] | None = [] if _checks_all_rows(benchmark) else None
        self._warnings: Sequence[str] = ()

    def run(self) -> None:
        """Look at everything."""
        if isinstance(self._dataset, VerifiesItself):
            for sentence in self._dataset.verify():
                self._add(sentence)
        try:
            rows = self._read(iter(self._dataset.load().rows))
        except ConfigError as error:
            if str(error) not in self._named_faults:  # it may have said so itself
                self._add(str(error))
            return
        with allow_any_length():
            self._make_cases(rows)
            for _ in rows:  # whoever makes cases may not want all of them
                pass
            self._warnings = self._benchmark.faults(self._kept_rows) if self._kept_rows else ()
        if not self._rows and not self.count:
            self._add(f"{self._word} has no rows")

    def _make_cases(self, rows: Iterator[object]) -> None:
        try:
            for case in self._benchmark.cases(rows):
                self._cases += 1
                location = self._unused.use(case) or self._word
                if not case.id:
                    self._add(f"{location}: its case has an empty id; name it")
                elif not self._ids.add(case.id):
                    self._add(f"{location}: the id {case.id!r} is that of an earlier case")
        except UsageError as error:
            if self._valid:
                self._add(str(error))

    def _read(self, raw_rows: Iterator[RawRow]) -> Iterator[object]:
        """Yield the rows that are as the schema has them."""
        try:
            for raw in raw_rows:
                self._rows += 1
                if self._rows % _ROWS_PER_UPDATE == 0:
                    self._progress.reached(f"{self._word}: {self._rows:,} rows")
                row, clauses = check_row(raw, self._schema)
                for clause in clauses:
                    self._add(f"{raw.where}: {clause}")
                if not clauses:
                    self._valid += 1
                    self._unused.read(row, raw.where)
                    if self._kept_rows is not None:
                        self._kept_rows.append(row)
                    yield row
        except ConfigError as error:  # nothing can be read behind it
            self._add(str(error))
        self._unused.is_read = True

    def _add(self, fault: str) -> None:
        self.count += 1
        if self.count <= MAX_FAULTS:
            self._named_faults.append(fault if len(fault) <= _LONGEST else f"{fault[:_LONGEST]} …")

    def list_lines(self) -> Iterator[str]:
        """Yield what to print."""
        yield from self._named_faults
        if self.count > MAX_FAULTS:
            yield f"and {self.count - MAX_FAULTS:,} more"
        totals = quantify(self._rows, "row"), quantify(self._cases, "case")
        yield f"{', '.join(totals)}, {quantify(self.count, 'fault')}"
        if number := self._unused.number:
            make = "makes no case" if number == 1 else "make no case"
            yield f"{quantify(number, 'row')} {make}, the first is {self._unused.first}"
        yield from self._warnings


def _checks_all_rows(benchmark: ModelBenchmark) -> bool:
    return type(benchmark).faults is not ModelBenchmark.faults


class _UnusedRows:
    """Rows that no case came of. Rows are kept until a later one has a case, or until all are read
    where the benchmark looks at all of them first."""

    def __init__(self) -> None:
        self._waiting = dict[int, tuple[object, str]]()
        self._passed, self._first = 0, ""
        self._matched, self.is_read = False, False

    def read(self, row: object, location: str) -> None:
        """Note that it was read."""
        self._waiting[id(row)] = row, location

    def use(self, case: RowCase) -> str | None:
        """Note the row of a case. Returns where it stands, if that is known."""
        key = id(case.row)
        _, location = self._waiting.get(key, (None, None))
        if location is not None and not self.is_read:
            while (earlier := next(iter(self._waiting))) != key:
                _, passed = self._waiting.pop(earlier)
                self._first = self._first or passed
                self._passed += 1
        self._waiting.pop(key, None)
        self._matched = self._matched or location is not None
        return location

    @property
    def number(self) -> int | None:
        """How many they are; `None` where cases have no rows of the data set."""
        return self._passed + len(self._waiting) if self._matched else None

    @property
    def first(self) -> str:
        """Location of the first of them."""
        return self._first or next(location for _, location in self._waiting.values())


class _Ids:
    """Ids of cases in about eight bytes each: there may be millions."""

    def __init__(self) -> None:
        self._recent = set[int]()
        self._older = numpy.empty(0, dtype=numpy.int64)
        self._marks = bytearray(_MARKS // 8)

    def add(self, text: str) -> bool:
        """Add an id. Returns whether it is a new one."""
        key = hash(text)
        at, mark = key % _MARKS >> 3, 1 << (key & 7)
        if self._marks[at] & mark and self._has(key):
            return False
        self._marks[at] |= mark
        self._recent.add(key)
        if len(self._recent) == _RECENT:
            recent = numpy.array(array("q", sorted(self._recent)))
            self._older = numpy.concatenate((self._older, recent))
            self._older.sort(kind="stable")  # which merges two that are sorted
            self._recent = set()
        return True

    def _has(self, key: int) -> bool:
        at = int(self._older.searchsorted(key))
        return key in self._recent or (at < len(self._older) and bool(self._older[at] == key))


def configure_benchmark(
    name: str, properties: Sequence[str], option: str
) -> tuple[RowBenchmark, CaseProperties[ModelBenchmark]]:
    """Find a benchmark, and set its properties; `option` is what asked for it. Raises `UsageError`
    for one that has no rows, and where a file names what would be loaded."""
    benchmark = find_model_benchmark(
        name, f"{option}: {name} asks no models, so there are no rows and no requests; omit it"
    )
    if not is_vouched(demands := [*list_property_file_demands(benchmark.name, properties)]):
        raise UsageError(
            f"{option}: nothing was loaded that a file names: {demands[0].full_sentence}; look at "
            f"it, then give it yourself: --property {demands[0].word}=VALUE"
        )
    return benchmark, resolve_properties(benchmark.name, benchmark.kind, properties, None)
