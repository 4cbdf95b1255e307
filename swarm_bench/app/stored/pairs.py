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
from swarm_bench.analysis.cases.summary import ComparedArms
from swarm_bench.analysis.documents.matrix import make_case_matrix
from swarm_bench.analysis.wording import list_few, quantify
from swarm_bench.app.benchmarks import find_runnable_benchmark
from swarm_bench.app.result import SessionResult
from swarm_bench.app.setup.case_experiment import choose_primary
from swarm_bench.app.stored.exported import (
    RecordedRows,
    TrialBuilder,
    build_trial,
    list_rows,
    read_claims,
)
from swarm_bench.app.stored.past import (
    PastSession,
    build_past,
    describe_claims,
    find_shared_address,
)
from swarm_bench.app.stored.repeating import write_run_command
from swarm_bench.app.stored.session import RescoreRequest, StoredSession
from swarm_bench.app.stored.transcripts import read_case_tasks
from swarm_bench.app.trust.approval import is_vouched
from swarm_bench.app.trust.run_demands import list_benchmark_demands
from swarm_bench.benchmarks.cases.folder import (
    REFERENCES,
    RESCORED,
    RESULTS,
    CaseFolder,
    open_case_folder,
)
from swarm_bench.config.annotations import flag
from swarm_bench.core.entry_points import list_plugins
from swarm_bench.core.errors import Refused, UsageError
from swarm_bench.core.metric import Metrics, guarded_metric
from swarm_bench.core.report.document import Document, RenderedDocument
from swarm_bench.core.report.exported import ExportedSession, Kind
from swarm_bench.core.report.page import SessionPage
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord, R
from swarm_bench.core.session.judgements import JUDGE
from swarm_bench.core.session.rescored import ReparsedAnswer
from swarm_bench.engine.benchmark import CaseBenchmark
from swarm_bench.engine.lines import (
    Checked,
    describe_changed_lines,
    describe_second_lines,
    describe_torn_lines,
    find_duplicates,
)
from swarm_bench.engine.nodes import describe_nodes
from swarm_bench.engine.plan import Block, plan_cases, select_planned
from swarm_bench.reports.markdown import write_document, write_files
from swarm_bench.runtime.untrusted import open_untrusted, read

if TYPE_CHECKING:
    from swarm_bench.app.judging import Answers
    from swarm_bench.app.stored.limits import TypedLimits
    from swarm_bench.core.report.diff import Diff
    from swarm_bench.core.report.gate import Bound, Gate
    from swarm_bench.core.report.trials import TrialsTable

Session = TypeVar("Session", bound=CaseSession)


class PairSession(StoredSession):
    """A session of a benchmark whose trials are pairs of an arm and a case."""

    _reported: CaseSession | None = None
    """What the last summary was made of: a page says the same."""
    settings: ClassVar[Sequence[str]] = ("primary", "margin")
    """Settings that decide its verdict."""
    kind: ClassVar[Kind] = "other"
    """Who answers."""

    def __init__(self, path: Path, benchmark: CaseBenchmark | None = None) -> None:
        """`benchmark` is the one that runs; `None` for a session that is only looked at."""
        super().__init__(path)
        self._benchmark = benchmark

    @cached_property
    def folder(self) -> CaseFolder[Any, Any]:
        return open_case_folder(self.path)

    def read_experiment(self) -> CaseExperiment:
        experiment: CaseExperiment = self.folder.read_experiment()
        return experiment

    def read_plan(self) -> Sequence[Block[Case]]:
        return plan_cases(self.read_experiment())

    @property
    def benchmark(self) -> CaseBenchmark:
        """Return its benchmark. Raises `UsageError` for one that is not installed."""
        return self._benchmark or find_runnable_benchmark(
            find_loaded_name(self.folder.path, self.folder.read_experiment())
        )

    def read(self) -> CaseSession:
        """Read it as the analysis takes it. Raises `UsageError`."""
        session = read_session(self.folder, self.benchmark.metrics(), ComparedArms)
        return replace(session, folder=str(self.folder.path))

    def report(self) -> RenderedDocument:
        self._reported = self.read()
        summary = write_files(self._reported.document.add_notice(self.notice))
        self.folder.write_summary(summary)
        return summary

    def reanalyse(self, overrides: Mapping[str, Any]) -> RenderedDocument:
        if foreign := [flag(name) for name in overrides if name not in self.settings]:
            raise UsageError(
                f"{', '.join(foreign)}: the verdict of this session is on "
                f"{' and '.join(map(flag, self.settings))}; give these"
            )
        session = self.read()
        changes = self.build_changes(overrides, session.metrics)
        experiment = session.experiment.model_copy(update=changes)
        document = replace(session, experiment=experiment).document
        return write_document(document.add_notice(self.notice))

    def build_changes(self, overrides: Mapping[str, Any], metrics: Metrics) -> Mapping[str, Any]:
        """Return what other settings of the verdict change in the experiment. Raises
        `UsageError`."""
        primary = overrides.get("primary")
        return (
            overrides
            if primary is None
            else {**overrides, "primary": choose_primary(metrics, primary)}
        )

    def build_trials_table(self) -> "TrialsTable":
        from swarm_bench.analysis.export_table import make_case_table

        return make_case_table(self.read())

    def read_exported(self) -> ExportedSession:
        from swarm_bench.analysis.export_table import make_case_table

        session = self.read()
        experiment, table = session.experiment, make_case_table(session)
        rows = RecordedRows(
            rows=list_rows(table), records=session.records, build=self.make_builder(experiment)
        )
        cases = len(experiment.cases)
        return ExportedSession(
            id=experiment.session,
            benchmark=experiment.benchmark,
            kind=self.kind,
            created_at=experiment.created_at,
            version=experiment.versions.get("swarm-bench"),
            runs=experiment.runs,
            planned={arm: cases * experiment.count_runs(arm) for arm in experiment.arms},
            models=self.list_models(experiment),
            verdicts=read_claims(session.answers),
            caveats=table.caveats,
            data=self.name_data(experiment),
            score_title=table.scored.title if table.scored else None,
            rows=rows.rows,
            read_trials=rows.read_trials,
        )

    def make_builder(self, experiment: Any) -> TrialBuilder:
        """Return what makes an exported trial of a record."""
        return build_trial

    def write_command(self, experiment: Any) -> str:
        """Write the command that repeats it; empty where its experiment does not tell it."""
        return write_run_command(experiment)

    def list_models(self, experiment: Any) -> Mapping[str, str]:
        """Return the models that its arms ask for."""
        return {}

    def name_data(self, experiment: Any) -> str:
        """Name what its cases come from."""
        return str(experiment.benchmark)

    def gate(self, typed_limits: "TypedLimits", bound: "Bound") -> "Gate":
        from swarm_bench.analysis.gate.limits import make_case_gate
        from swarm_bench.app.stored.limits import parse_limits

        session = self.read()
        limits = parse_limits(typed_limits, session.metrics, session.arms)
        return make_case_gate(session, limits, bound)

    def diff(self, later: StoredSession) -> "Diff":
        from swarm_bench.analysis.diff.cases import list_case_obstacles, make_case_diff

        first, second = self.read_compared_cases(), later.read_compared_cases()
        paths = self.path, later.path
        if clauses := list_case_obstacles(first, second) or _describe_changed_answers(
            first, second
        ):
            raise UsageError(
                f"The sessions {paths[0]} (A) and {paths[1]} (B) cannot be compared: "
                f"{'; '.join(clauses)}; give two that agree in benchmark, data and cases"
            )
        return make_case_diff(first, second, paths)

    def read_compared_cases(self) -> CaseSession:
        return self.read()

    def rescore(self, request: RescoreRequest) -> RenderedDocument:
        raise UsageError(
            f"{self.path} is a session without agents; only answers of agents can be scored"
        )

    def read_answers(self) -> "Answers":
        raise UsageError(
            f"{self.path} has no answers to compare; give a session of compare, or one of models"
        )

    def build_page(self, document: Document) -> SessionPage:
        session = self._reported or self.read()
        build = self.make_builder(session.experiment)
        return SessionPage(
            document=document,
            command=self.write_command(self.folder.read_experiment()),
            versions=session.experiment.versions,
            matrix=make_case_matrix(session),
            tasks=read_case_tasks(session, build),
        )

    def describe_past(self, name: str) -> PastSession:
        session = self.read()
        experiment = session.experiment
        past = build_past(name, self.folder, plan_cases(experiment), session.records)
        return replace(
            past,
            command=session.command,
            verdict=describe_claims(session.answers),
            shared=find_shared_address(experiment.arms),
        )


def _describe_changed_answers(first: CaseSession, second: CaseSession) -> list[str]:
    """Say in a clause that other answers are right in the second session, as files say: what is
    called alike was not asked alike. None where they are the same, or nothing says it."""
    old_answers, new_answers = (_read_references(session) for session in (first, second))
    moved = [
        case
        for case in old_answers
        if case in new_answers and old_answers[case] != new_answers[case]
    ]
    if not moved:
        return []
    return [f"{quantify(len(moved), 'case')} had another right answer in B ({list_few(moved)})"]


def _read_references(session: CaseSession) -> dict[str, Any]:
    try:
        answers = json.loads(read(Path(session.folder) / REFERENCES))
    except (OSError, Refused, ValueError, RecursionError):
        return {}
    ids = [case.id for case in session.experiment.cases]
    is_complete = isinstance(answers, list) and len(answers) == len(ids)
    return dict(zip(ids, answers, strict=True)) if is_complete else {}


def find_loaded_name(path: Path, experiment: CaseExperiment) -> str:
    """Return the name by which the benchmark of a session can be loaded: of one that an installed
    package has, or of the class that this user ran it with. Raises `UsageError`."""
    name, class_name = experiment.benchmark, experiment.benchmark_class
    if class_name is None and name in {plugin.name for plugin in list_plugins("benchmarks")}:
        return name
    if class_name is not None and is_vouched(list_benchmark_demands(experiment)):
        return class_name
    word = (
        f"the class {class_name}, which you have not run here"
        if class_name
        else f"the benchmark {name!r}"
    )
    reason = "" if class_name else ", and no installed package registers it"
    raise UsageError(  # a file may name any module
        f"{path} is a session of {word}{reason}; look at it, and continue the session: "
        f"swarm-bench run {quote(class_name or 'MODULE:CLASS')} --continue {quote(str(path))}"
    )


def read_figures(result: SessionResult) -> str:
    """Return the figures of all models, as JSON. Raises `UsageError` where there are none."""
    path = result.folder / RESULTS
    if not path.is_file():
        raise UsageError("--report json: this benchmark asks no models; omit it")
    with open_untrusted(path) as file:
        return file.read().decode()


def read_session(folder: CaseFolder[Any, Any], metrics: Metrics, kind: type[Session]) -> Session:
    """Read a session as the analysis takes one of its kind."""
    metrics = replace(metrics, all=tuple(map(guarded_metric, metrics)))
    experiment, lines = folder.read_experiment(), folder.records.read()
    rescored, verdicts = folder.read_again(), folder.read_verdicts()
    latest = {line.key: line for _, _, line in rescored if line is not None}
    originals = select_first_records(lines)
    records = [
        latest[record.key].apply_to(record) if record.key in latest else record
        for record in originals
    ]
    planned = select_planned(experiment, records)
    path = folder.records.path
    return kind(
        experiment=experiment.cut_to_slice(),
        records=planned,
        metrics=metrics,
        warnings=(
            *experiment.slice_notes,
            *describe_nodes(experiment, lines, folder.records),
            *describe_changed_lines(path, lines),
            *describe_torn_lines(path, lines),
            *describe_second_lines(path, frozenset(find_duplicates(lines))),
            *_describe_unplanned(path, len(records) - len(planned)),
            *_describe_score_changes(originals, records, [*latest.values()]),
            *describe_changed_lines(folder.path / RESCORED, rescored),
            *describe_torn_lines(folder.path / RESCORED, rescored),
            *describe_changed_lines(folder.path / JUDGE, verdicts),
            *describe_torn_lines(folder.path / JUDGE, verdicts),
        ),
        rescored=tuple(latest.values()),
        verdicts=tuple(line for _, is_intact, line in verdicts if line is not None and is_intact),
        changed=bool(
            describe_changed_lines(path, lines)
            or describe_changed_lines(folder.path / RESCORED, rescored)
        ),
    )


def _describe_score_changes(
    originals: Sequence[CaseRecord],
    records: Sequence[CaseRecord],
    rescored: Sequence[ReparsedAnswer],
) -> Iterator[str]:
    """Name the answers whose scores changed, in the order of the cases: that of the lines is when
    they were written. A score that is new is no change."""
    changed, added = defaultdict[str, list[str]](list), Counter[str]()
    pairs = zip(originals, records, strict=True)
    for old, new in sorted(pairs, key=lambda pair: (pair[0].arm, pair[0].number, pair[0].run)):
        was, is_now = old.scores or {}, new.scores or {}
        if any(value not in (None, is_now.get(key)) for key, value in was.items()):
            changed[old.arm].append(old.case)
        elif was != is_now and was and all(value is None for value in was.values()):
            added[old.arm] += 1
    clauses = [
        f"{len(cases)} of {arm} ({list_few([*dict.fromkeys(cases)])})"
        for arm, cases in changed.items()
    ]
    clauses += [f"{number} of {arm} that had none" for arm, number in added.items()]
    if clauses:
        last = max(rescored, key=lambda line: line.rescored_at)
        yield (
            f"Some answers have other scores than before: {', '.join(clauses)}. "
            f"{RESCORED} has them, which swarm-bench rescore wrote last on "
            f"{last.rescored_at:%Y-%m-%d} with version {last.swarm_bench}."
        )


def select_first_records(lines: Sequence[Checked[R]]) -> list[R]:
    """Return the records, and of several of one trial the first."""
    seconds = frozenset(find_duplicates(lines))
    return [record for number, _, record in lines if record and number not in seconds]


def _describe_unplanned(path: Path, number: int) -> tuple[str, ...]:
    if not number:
        return ()
    return (f"{path.name}: records of no trial of the plan are omitted: {number}",)
