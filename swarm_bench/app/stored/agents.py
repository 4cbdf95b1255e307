"""A session of agents, `compare`, `ab` and `calibrate`, and a series of them whose swarms grow."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarm_bench.analysis.comparison.headline import make_headline
from swarm_bench.analysis.comparison.verdicts import list_hypotheses
from swarm_bench.analysis.documents import comparison, growth, noise, trials
from swarm_bench.analysis.documents.matrix import make_matrix, make_timeline
from swarm_bench.analysis.noise import compute_calibration
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.series import compute_series
from swarm_bench.analysis.summary import summarise
from swarm_bench.app.audit import audit_streams
from swarm_bench.app.stored.agent_trials import TranscriptReader, read_exported
from swarm_bench.app.stored.past import PastSession, build_past, describe_claims
from swarm_bench.app.stored.repeating import write_agent_command, write_series_command
from swarm_bench.app.stored.session import RescoreRequest, StoredSession
from swarm_bench.benchmarks.swarm.folder import SessionFolder, find_sessions
from swarm_bench.benchmarks.swarm.metrics.catalogue import load_metrics
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.document import Document, RenderedDocument
from swarm_bench.core.report.exported import ExportedSession
from swarm_bench.core.report.page import PAGE, SessionPage
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.experiment import Setting
from swarm_bench.core.session.preregistration import REANALYSED
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.reports.markdown import remove_pictures, write_document, write_files
from swarm_bench.reports.trial_page import render_page
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import hold_lock


class SeriesSession(StoredSession):
    """A session for each size of swarm; what is of a single one is asked of these."""

    def report(self) -> RenderedDocument:
        return write_series_summary(self.path, audited=True, notice=self.notice)

    def reanalyse(self, overrides: Mapping[str, Any]) -> RenderedDocument:
        if overrides:
            self._refuse()
        document = _summarise_series(self.path, {}, audited=True)
        return write_document(document.add_notice(self.notice))

    def list_members(self) -> "Sequence[AgentSession]":
        return [AgentSession(folder.path) for folder in find_sessions(self.path).values()]

    def build_page(self, document: Document) -> SessionPage:
        folders = find_sessions(self.path)
        experiments = {size: folder.read_experiment() for size, folder in folders.items()}
        sizes = growth.list_planned_sizes(experiments)
        pages = {size: folder.path / PAGE in self.pages for size, folder in folders.items()}
        return SessionPage(
            document=growth.link_pages(document, pages),
            command=write_series_command([*experiments.values()], sizes),
            versions=next(iter(experiments.values())).versions,
        )

    def _describe_refusal(self) -> str:
        sizes = find_sessions(self.path)
        first = self.path / next(iter(sizes.values())).path.name
        return f"holds a session for each of {len(sizes)} sizes; give one of them, such as {first}"


@pause_collection()
def write_series_summary(
    path: Path,
    read: dict[int, SessionData] | None = None,
    *,
    audited: bool = False,
    notice: str = "",
) -> RenderedDocument:
    """Write the `summary.md` of a series as it stands. Sizes in `read` are not read again; the
    others are added."""
    document = _summarise_series(path, {} if read is None else read, audited=audited)
    summary = write_files(document.add_notice(notice))
    SessionFolder(path).write_summary(summary)
    return summary


def _summarise_series(path: Path, sessions: dict[int, SessionData], *, audited: bool) -> Document:
    for size, folder in find_sessions(path).items():
        if size not in sessions:
            sessions[size] = read_audited(folder) if audited else folder.read()
    return growth.make_document(compute_series(dict(sorted(sessions.items())), load_metrics()))


if TYPE_CHECKING:
    from swarm_bench.app.judging import Answers
    from swarm_bench.app.stored.limits import TypedLimits
    from swarm_bench.core.report.diff import Diff
    from swarm_bench.core.report.gate import Bound, Gate
    from swarm_bench.core.report.trials import TrialsTable
    from swarm_bench.core.session.experiment import Experiment, Task
    from swarm_bench.engine.plan import Block


class AgentSession(StoredSession):
    """A session whose agents were given tools, in modes."""

    _reported: SessionData | None = None
    """What the last summary was made of: a page says the same."""

    @cached_property
    def folder(self) -> SessionFolder:
        return SessionFolder(self.path)

    def read_experiment(self) -> "Experiment":
        return self.folder.read_experiment()

    def read_plan(self) -> "Sequence[Block[Task]]":
        from swarm_bench.benchmarks.swarm.run_plan import plan

        return plan(self.read_experiment())

    def report(self) -> RenderedDocument:
        self._reported = read_audited(self.folder)
        return write_summary(self.folder, self._reported, self.notice)[1]

    def reanalyse(self, overrides: Mapping[str, Any]) -> RenderedDocument:
        data = read_audited(self.folder)
        if overrides:
            from swarm_bench.app.setup.choosing import check_verdict  # heavy

            check_verdict(overrides, load_metrics())
        new_settings = {
            name: Setting(value=value, source=REANALYSED) for name, value in overrides.items()
        }
        settings = {**data.experiment.settings, **new_settings}
        experiment = data.experiment.model_copy(update={"settings": settings})
        document = _summarise(replace(data, experiment=experiment))[1].add_notice(self.notice)
        if overrides or not self.folder.details.is_file():
            return write_document(document)
        return replace(write_files(remove_pictures(document)), document=document)

    def build_trials_table(self) -> "TrialsTable":
        from swarm_bench.analysis.export_table import make_swarm_table

        return make_swarm_table(self._read_selection())

    def read_exported(self) -> ExportedSession:
        return read_exported(self.folder, self._read_selection())

    def gate(self, typed_limits: "TypedLimits", bound: "Bound") -> "Gate":
        from swarm_bench.analysis.gate.modes import QUALITY, make_gate
        from swarm_bench.app.stored.limits import parse_limits

        arms = self.folder.read_experiment().arms
        limits = parse_limits(typed_limits, load_metrics(), arms, synonyms={QUALITY})
        self._check_compares("so no limit says anything of a tool; give a session of compare or ab")
        return make_gate(self._read_selection(), limits, bound)

    def diff(self, later: StoredSession) -> "Diff":
        from swarm_bench.analysis.diff.modes import make_diff
        from swarm_bench.analysis.diff.settings import list_obstacles

        first, second = self.read_compared_agents(), later.read_compared_agents()
        paths = self.path, later.path
        if clauses := list_obstacles(first, second):
            raise UsageError(
                f"The sessions {paths[0]} (A) and {paths[1]} (B) cannot be compared: "
                f"{'; '.join(clauses)}; give two that agree in model, version of the agent, tasks "
                "and commit"
            )
        return make_diff(first, second, paths)

    def read_compared_agents(self) -> Selection:
        self._check_compares("and diff takes two sessions of compare or ab")
        return self._read_selection()

    def rescore(self, request: RescoreRequest) -> RenderedDocument:
        from swarm_bench.app.rescore import rescore_agents

        with hold_lock(self.folder.lock):
            rescore_agents(self.folder, request)
            return self.report()

    def read_answers(self) -> "Answers":
        from swarm_bench.app.judging import read_agent_answers

        return read_agent_answers(self)

    def build_page(self, document: Document) -> SessionPage:
        selection = Selection(self._reported or self.folder.read(), load_metrics())
        return SessionPage(
            document=document,
            command=write_agent_command(selection.data.experiment),
            versions=selection.data.experiment.versions,
            matrix=make_matrix(selection),
            timeline=make_timeline(selection),
            tasks=TranscriptReader(self.folder, selection).read_tasks(),
        )

    def describe_past(self, name: str) -> PastSession:
        selection, experiment = self._read_selection(), self.folder.read_experiment()
        past = build_past(name, self.folder, plan(experiment), selection.data.trials)
        return replace(
            past,
            command=experiment.design.name,
            verdict=_describe_claims(selection) if selection.data.trials else "",
            state="finished" if experiment.stands_after is not None else past.state,
        )

    def _read_selection(self) -> Selection:
        return Selection(read_audited(self.folder), load_metrics())

    def _check_compares(self, clause: str) -> None:
        if self.folder.read_experiment().design.mode_twice:
            raise UsageError(f"{self.path} compares a mode with itself, {clause}")


def _describe_claims(selection: Selection) -> str:
    """Write what the first lines of the summary claim."""
    experiment = selection.data.experiment
    if experiment.design.mode_twice:
        first, *_ = compute_calibration(selection.data, selection.metrics).answers
        return first.claim.strip(": ")
    tested_modes = list_hypotheses(selection)
    standings = make_headline(selection).standings
    return describe_claims(
        standing.answer
        for standing in standings
        if standing.answer and standing.mode in tested_modes
    )


@pause_collection()
def write_summary(
    folder: SessionFolder, data: SessionData, notice: str = ""
) -> tuple[Report, RenderedDocument]:
    """Make the report of a session, and write `summary.md`, and `details.md` beside it. A notice
    stands before all else."""
    report, document = _summarise(data)
    summary = write_files(document.add_notice(notice))
    folder.write_summary(summary)
    return report, summary


def _summarise(data: SessionData) -> tuple[Report, Document]:
    metrics = load_metrics()
    report = summarise(data, metrics)
    if data.experiment.design.document == "noise":
        return report, noise.make_document(report, compute_calibration(data, metrics))
    return report, comparison.make_document(report)


def read_audited(folder: SessionFolder) -> SessionData:
    """Read a session, held against the streams of its agents."""
    return audit_streams(folder, folder.read())


def render_trial_page(metrics: Metrics, record: TrialRecord, answer: str | None) -> str:
    """Write the page of a trial, `agent-N.md`."""
    return render_page(trials.make_page(metrics, record, answer))
