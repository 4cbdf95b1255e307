"""Reads the session of a benchmark whose trials are pairs of an arm and a case, and renders it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import case_document
from swarm_bench.analysis.wording import listed
from swarm_bench.app.models.files import write_results
from swarm_bench.app.result import Result
from swarm_bench.app.setup.case_experiment import (
    primary_of,
)
from swarm_bench.app.trust.approval import is_vouched
from swarm_bench.app.trust.run_demands import of_benchmark
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.folder import (
    RESCORED,
    RESULTS,
    CaseFolder,
    case_folder,
)
from swarm_bench.config.options import flag
from swarm_bench.core.errors import UsageError
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
from swarm_bench.engine.plan import planned_only
from swarm_bench.engine.scoring import usable
from swarm_bench.reports.markdown import written
from swarm_bench.runtime.files import write_whole
from swarm_bench.runtime.untrusted import opened


def holds_cases(path: Path) -> bool:
    """Tell whether a session is of such a benchmark."""
    return case_folder(path).is_its_kind()


def report(path: Path) -> Written:
    """Render the summary of a session again, and write it. Raises `UsageError`."""
    folder = case_folder(path)
    return write_summary(benchmark_of(folder), folder)


def reanalysed(path: Path, otherwise: Mapping[str, Any]) -> Written:
    """Render a session with another metric or margin; nothing is written. Raises `UsageError`."""
    check_options(otherwise, ("primary", "margin"))
    session = read_whole(path)
    changes = {**otherwise}
    if "primary" in otherwise:
        changes["primary"] = primary_of(session.metrics, otherwise["primary"])
    experiment = session.experiment.model_copy(update=changes)
    return written(case_document(replace(session, experiment=experiment)))


def check_options(otherwise: Iterable[str], fit: Sequence[str]) -> None:
    """Refuse options that do not decide the verdict of a session. Raises `UsageError`."""
    if others := [flag(name) for name in otherwise if name not in fit]:
        raise UsageError(
            f"{', '.join(others)}: the verdict of this session is on "
            f"{' and '.join(map(flag, fit))}; give these"
        )


def read_whole(path: Path) -> CaseSession:
    """Read a session with the metrics of its benchmark. Raises `UsageError`."""
    folder = case_folder(path)
    return _session(folder, benchmark_of(folder))


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


def write_summary(benchmark: CaseBenchmark, folder: CaseFolder) -> Written:
    session = _session(folder, benchmark)
    summary = written(case_document(session))
    write_whole(folder.summary, summary.markdown)
    if isinstance(benchmark, RowBenchmark):
        write_results(session, benchmark, folder)
    return summary


def _session(folder: CaseFolder, benchmark: CaseBenchmark) -> CaseSession:
    rules = benchmark.kind.rules if isinstance(benchmark, RowBenchmark) else 1
    session = read_session(folder, benchmark.metrics())
    return replace(session, rules_now=rules, folder=str(folder.path))


def read_session(folder: CaseFolder, metrics: Metrics) -> CaseSession:
    """Read a session as the analysis takes it."""
    metrics = replace(metrics, all=tuple(map(guarded_metric, metrics)))
    experiment, lines = folder.read_experiment(), folder.records.read()
    again, verdicts = folder.read_again(), folder.read_verdicts()
    latest = {line.key: line for _, _, line in again if line is not None}
    originals = first_records(lines)
    records = [_newest(record, latest) for record in originals]
    planned = planned_only(experiment, records)
    path = folder.records.path
    return CaseSession(
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
