"""A session of a benchmark whose trials are pairs of an arm and a case."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.kinds import ComparedArms
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.app.result import Result
from swarm_bench.app.setup.case_experiment import primary_of
from swarm_bench.app.stored.past import PastSession, claims, past_of, shared_address
from swarm_bench.app.stored.session import RescoreRequest, StoredSession
from swarm_bench.app.trust.approval import is_vouched
from swarm_bench.app.trust.run_demands import of_benchmark
from swarm_bench.benchmarks.cases.folder import (
    REFERENCES,
    RESCORED,
    RESULTS,
    CaseFolder,
    case_folder,
)
from swarm_bench.config.annotations import flag
from swarm_bench.core.errors import Refused, UsageError
from swarm_bench.core.metric import Metrics, fault
from swarm_bench.core.registry import plugins
from swarm_bench.core.report.document import Written
from swarm_bench.core.roles.metric_reader import guarded_metric
from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.later.reread import Reread
from swarm_bench.core.session.later.verdicts import JUDGE
from swarm_bench.core.session.models import ModelRecord
from swarm_bench.engine.benchmark import CaseBenchmark, blaming, find_benchmark
from swarm_bench.engine.folding import doubled
from swarm_bench.engine.lines import Checked, changed_lines, second_lines, torn_lines
from swarm_bench.engine.plan import plan_cases, planned_only
from swarm_bench.engine.scoring import usable
from swarm_bench.reports.markdown import written
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.untrusted import opened, read

if TYPE_CHECKING:
    from swarm_bench.app.judging.answers import Answers
    from swarm_bench.app.stored.limits import Typed
    from swarm_bench.core.report.diff import Diff
    from swarm_bench.core.report.gate import Bound, Gate
    from swarm_bench.core.report.trials_table import TrialsTable

Session = TypeVar("Session", bound=CaseSession)


class PairSession(StoredSession):
    """A session of a benchmark whose trials are pairs of an arm and a case."""

    settings: ClassVar[Sequence[str]] = ("primary", "margin")
    """Those that decide its verdict."""

    def __init__(self, path: Path, benchmark: CaseBenchmark | None = None) -> None:
        """`benchmark` is the one that runs; `None` for a session that is only looked at."""
        super().__init__(path)
        self._benchmark = benchmark

    @cached_property
    def folder(self) -> CaseFolder:
        return case_folder(self.path)

    @property
    def benchmark(self) -> CaseBenchmark:
        """Its benchmark. Raises `UsageError` where that is nobody's here."""
        return self._benchmark or benchmark_of(self.folder)

    def read(self) -> CaseSession:
        """Read it as the analysis takes it. Raises `UsageError`."""
        session = read_session(self.folder, self.benchmark.metrics(), ComparedArms)
        return replace(session, folder=str(self.folder.path))

    def report(self) -> Written:
        session = self.read()
        summary = written(session.document)
        write_whole(self.folder.summary, summary.markdown)
        self.write_beside(session)
        return summary

    def reanalysed(self, otherwise: Mapping[str, Any]) -> Written:
        if others := [flag(name) for name in otherwise if name not in self.settings]:
            raise UsageError(
                f"{', '.join(others)}: the verdict of this session is on "
                f"{' and '.join(map(flag, self.settings))}; give these"
            )
        session = self.read()
        changes = self.changes(otherwise, session.metrics)
        experiment = session.experiment.model_copy(update=changes)
        return written(replace(session, experiment=experiment).document)

    def changes(self, otherwise: Mapping[str, Any], metrics: Metrics) -> Mapping[str, Any]:
        """Return what other settings of the verdict change in the experiment. Raises
        `UsageError`."""
        named = otherwise.get("primary")
        return otherwise if named is None else {**otherwise, "primary": primary_of(metrics, named)}

    def write_beside(self, session: CaseSession) -> None:
        """Write what a kind has beside its summary."""

    def trials_table(self) -> "TrialsTable":
        from swarm_bench.analysis.trials_table import case_table

        return case_table(self.read())

    def gate(self, typed: "Typed", bound: "Bound") -> "Gate":
        from swarm_bench.analysis.gate.arms import case_gate
        from swarm_bench.app.stored.limits import parse_limits

        session = self.read()
        limits = parse_limits(typed, session.metrics, session.arms)
        return case_gate(session, limits, bound)

    def diff(self, later: StoredSession) -> "Diff":
        from swarm_bench.analysis.diff.cases import case_diff, case_obstacles

        first, second = self.cases_to_compare(), later.cases_to_compare()
        paths = self.path, later.path
        if clauses := case_obstacles(first, second) or _other_answers(first, second):
            raise UsageError(
                f"The sessions {paths[0]} (A) and {paths[1]} (B) cannot be compared: "
                f"{'; '.join(clauses)}; give two that agree in benchmark, data and cases"
            )
        return case_diff(first, second, paths)

    def cases_to_compare(self) -> CaseSession:
        return self.read()

    def rescore(self, request: RescoreRequest) -> Written:
        raise UsageError(
            f"{self.path} is a session without agents; only answers of agents can be scored"
        )

    def answers(self) -> "Answers":
        raise UsageError(
            f"{self.path} has no answers to compare; give a session of compare, or one of models"
        )

    def past(self, name: str) -> PastSession:
        session = self.read()
        experiment = session.experiment
        past = past_of(name, self.folder, plan_cases(experiment), session.records)
        return replace(
            past,
            command=session.command,
            verdict=claims(session.answers),
            shared=shared_address(experiment.arms),
        )


def _other_answers(first: CaseSession, second: CaseSession) -> list[str]:
    """Say in a clause that other answers are right in the second session, as files say: what is
    called alike was not asked alike. None where they are the same, or nothing says it."""
    before, after = (_references(session) for session in (first, second))
    moved = [case for case in before if case in after and before[case] != after[case]]
    if not moved:
        return []
    return [f"{amount(len(moved), 'case')} had another right answer in B ({listed(moved)})"]


def _references(session: CaseSession) -> dict[str, Any]:
    try:
        answers = json.loads(read(Path(session.folder) / REFERENCES))
    except (OSError, Refused, ValueError, RecursionError):
        return {}
    ids = [case.id for case in session.experiment.cases]
    whole = isinstance(answers, list) and len(answers) == len(ids)
    return dict(zip(ids, answers, strict=True)) if whole else {}


def benchmark_of(folder: CaseFolder) -> CaseBenchmark:
    """Return the benchmark of a session: one that an installed package has, or the class that this
    user ran it with. Raises `UsageError`."""
    path, experiment = folder.path, folder.read_experiment()
    name, own = experiment.benchmark, experiment.benchmark_class
    if own is None and name in {plugin.name for plugin in plugins("benchmarks")}:
        return benchmark_to_run(name)
    if own is not None and is_vouched(of_benchmark(experiment)):
        return benchmark_to_run(own)
    word = f"the class {own}, which you have not run here" if own else f"the benchmark {name!r}"
    why = "" if own else ", and no installed package registers it"
    raise UsageError(  # a file may name any module
        f"{path} is a session of {word}{why}; look at it, and continue the session: "
        f"swarm-bench run {quote(own or 'MODULE:CLASS')} --continue {quote(str(path))}"
    )


def figures(result: Result) -> str:
    """Return the figures of all models, as JSON. Raises `UsageError` where there are none."""
    path = result.folder / RESULTS
    if not path.is_file():
        raise UsageError("--report json: this benchmark asks no models; omit it")
    with opened(path) as file:
        return file.read().decode()


def benchmark_to_run(name: str) -> CaseBenchmark:
    benchmark = find_benchmark(name)
    if not isinstance(benchmark, CaseBenchmark):
        raise UsageError(
            f"{name} is run by commands of its own; see: swarm-bench benchmarks show {name}"
        )
    with blaming(name, "cannot be run"):
        if not isinstance(benchmark.groups_at_once, int) or benchmark.groups_at_once < 1:
            raise ValueError(f"groups_at_once is {benchmark.groups_at_once!r}, which runs nothing")
        if not isinstance(metrics := benchmark.metrics(), Metrics):
            raise TypeError("metrics() gives no Metrics")
        for metric in metrics:  # seen before anything is paid for
            clause = "reads swarms, and it has none" if metric.read_swarm else fault(metric)
            if clause:
                raise ValueError(f"the metric {metric.key} {clause}")
        usable(benchmark.scorers())
    return benchmark


def read_session(folder: CaseFolder, metrics: Metrics, kind: type[Session]) -> Session:
    """Read a session as the analysis takes one of its kind."""
    metrics = replace(metrics, all=tuple(map(guarded_metric, metrics)))
    experiment, lines = folder.read_experiment(), folder.records.read()
    again, verdicts = folder.read_again(), folder.read_verdicts()
    latest = {line.key: line for _, _, line in again if line is not None}
    originals = first_records(lines)
    records = [_newest(record, latest) for record in originals]
    planned = planned_only(experiment, records)
    path = folder.records.path
    return kind(
        experiment=experiment,
        records=planned,
        metrics=metrics,
        warnings=(
            *changed_lines(path, lines),
            *torn_lines(path, lines),
            *second_lines(path, frozenset(doubled(lines))),
            *_not_planned(path, len(records) - len(planned)),
            *_scored_otherwise(originals, records, [*latest.values()]),
            *changed_lines(folder.path / RESCORED, again),
            *torn_lines(folder.path / RESCORED, again),
            *changed_lines(folder.path / JUDGE, verdicts),
            *torn_lines(folder.path / JUDGE, verdicts),
        ),
        rescored=tuple(latest.values()),
        verdicts=tuple(line for _, whole, line in verdicts if line is not None and whole),
        changed=bool(changed_lines(path, lines) or changed_lines(folder.path / RESCORED, again)),
    )


def _newest(record: CaseRecord, latest: Mapping[Key, Reread]) -> CaseRecord:
    """Return a record with its newest scores."""
    if isinstance(record, ModelRecord) and record.key in latest:
        return latest[record.key].applied(record)
    return record


def _scored_otherwise(
    before: Sequence[CaseRecord], after: Sequence[CaseRecord], again: Sequence[Reread]
) -> Iterator[str]:
    """Name the answers whose scores changed, in the order of the cases: that of the lines is when
    they were written. A score that is new is no change."""
    others, filled = defaultdict[str, list[str]](list), Counter[str]()
    pairs = zip(before, after, strict=True)
    for old, new in sorted(pairs, key=lambda pair: (pair[0].arm, pair[0].number, pair[0].run)):
        was, is_now = old.scores or {}, new.scores or {}
        if any(value not in (None, is_now.get(key)) for key, value in was.items()):
            others[old.arm].append(old.case)
        elif was != is_now and was and all(value is None for value in was.values()):
            filled[old.arm] += 1
    clauses = [
        f"{len(cases)} of {arm} ({listed([*dict.fromkeys(cases)])})"
        for arm, cases in others.items()
    ]
    clauses += [f"{number} of {arm} that had none" for arm, number in filled.items()]
    if clauses:
        last = max(again, key=lambda line: line.rescored_at)
        yield (
            f"Some answers have other scores than before: {', '.join(clauses)}. "
            f"{RESCORED} has them, which swarm-bench rescore wrote last on "
            f"{last.rescored_at:%Y-%m-%d} with version {last.swarm_bench}."
        )


def first_records(lines: Sequence[Checked[CaseRecord]]) -> list[CaseRecord]:
    """Return the records, and of several of one trial the first."""
    seconds = frozenset(doubled(lines))
    return [record for number, _, record in lines if record and number not in seconds]


def _not_planned(path: Path, number: int) -> tuple[str, ...]:
    if not number:
        return ()
    return (f"{path.name}: records of no trial of the plan are omitted: {number}",)
