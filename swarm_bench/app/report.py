"""Renders a session's records again. What only sessions of cases need, or another verdict, is
imported there: it takes as long as a whole summary."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from swarm_bench.analysis.documents import comparison, growth, noise, trial
from swarm_bench.analysis.documents.chart import chart
from swarm_bench.analysis.noise.calibration import calibration
from swarm_bench.analysis.summary import summarise
from swarm_bench.analysis.sweep.series import series
from swarm_bench.app.audit import with_streams
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.registered import registered_metrics
from swarm_bench.benchmarks.swarm.series_folder import series_sessions
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.document import Picture, Written
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.beforehand import REANALYSED
from swarm_bench.core.session.experiment import Setting
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.importers.canopy_script.folder import is_script_folder, read_script_folder
from swarm_bench.reports.markdown import written, written_to_files
from swarm_bench.reports.page import render_page
from swarm_bench.reports.svg import render_svg
from swarm_bench.runtime.cycles import uncollected
from swarm_bench.runtime.files import is_writable as is_writable
from swarm_bench.runtime.files import write_whole

_AS_NAMED: Mapping[str, Any] = MappingProxyType({})


@uncollected()
def report(path: Path, otherwise: Mapping[str, Any] = _AS_NAMED) -> Written:
    """Render the summary of a session, also of a folder that canopy's own script wrote.

    A session of ours gets a new `summary.md`; a foreign folder is only read, and so is one that
    cannot be written, and a session that is looked at with settings of the verdict `otherwise` than
    they are stored. Raises `UsageError` when the folder is neither.
    """
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder; give the folder of a session, below results/")
    folder = SessionFolder(path)
    if otherwise:
        from swarm_bench.config.settings import checked  # heavy

        return _reanalysed(folder, checked(otherwise))
    if series_sessions(path):
        read_only = not is_writable(path)
        return _series(path, {}) if read_only else write_series_summary(path, audited=True)
    if folder.holds_session() and not is_writable(path):
        return _reanalysed(folder, {})
    if folder.holds_session():
        if not folder.is_its_kind() and (cases := _of_cases(folder.path)):
            return cases.report(folder.path)
        return write_summary(folder, audited=True)[1]
    if folder.held_session():
        raise UsageError(f"{path} was a session, and its experiment.json is lost; restore the file")
    if is_script_folder(path):
        data = read_script_folder(path)
        return written(comparison.document(summarise(data, registered_metrics())))
    raise UsageError(
        f"{path} holds neither a session nor what canopy's script writes "
        "(experiment.json, or config.json beside metrics.jsonl); give another folder"
    )


@uncollected()
def write_summary(folder: SessionFolder, *, audited: bool = False) -> tuple[Report, Written]:
    """Make the report of a session as it stands, and write its `summary.md`, and `details.md`
    beside it. `audited`: held against the streams of its agents."""
    report, summary = _summarised(_read(folder, audited=audited), folder, apart=True)
    write_whole(folder.summary, summary.markdown)
    if summary.details:
        write_whole(folder.details, summary.details)
    return report, summary


def _summarised(
    data: SessionData, folder: SessionFolder | None = None, *, apart: bool = False
) -> tuple[Report, Written]:
    """Make the report, and the picture in the folder, if one is to be written. `apart`: its details
    have a file of their own."""
    metrics = registered_metrics()
    report = summarise(data, metrics)
    calibrated = data.experiment is not None and data.experiment.design.document == "noise"
    document = (
        noise.document(report, calibration(data, metrics))
        if calibrated
        else comparison.document(report, _picture(folder, report) if folder else None)
    )
    return report, written_to_files(document) if apart else written(document)


def _reanalysed(folder: SessionFolder, otherwise: Mapping[str, Any]) -> Written:
    """Render a session with other settings of the verdict. Raises `UsageError`."""
    if folder.holds_session() and (cases := _of_cases(folder.path)):
        return cases.reanalysed(folder.path, otherwise)
    if not folder.holds_session() or not folder.is_its_kind():
        options = ", ".join(f"--{name.replace('_', '-')}" for name in otherwise)
        raise UsageError(
            f"{folder.path} holds no single session, and {options} is for one; of a series give "
            "the folder of one size"
        )
    data = _read(folder, audited=True)
    assert data.experiment
    from swarm_bench.app.setup.choosing import check_verdict  # heavy

    check_verdict(otherwise, registered_metrics())
    own = {name: Setting(value=value, source=REANALYSED) for name, value in otherwise.items()}
    settings = {**data.experiment.settings, **own}
    experiment = data.experiment.model_copy(update={"settings": settings})
    apart = not otherwise and folder.details.is_file()
    return _summarised(replace(data, experiment=experiment), apart=apart)[1]


class _CaseReports(Protocol):
    def report(self, path: Path) -> Written: ...

    def reanalysed(self, path: Path, otherwise: Mapping[str, Any]) -> Written: ...


def _of_cases(path: Path) -> _CaseReports | None:
    """Return what renders sessions of cases like this one; `None` where it holds no cases."""
    from swarm_bench.app.retrieve import session as retrieve  # heavy
    from swarm_bench.app.retrieve.resolving import is_session
    from swarm_bench.app.stored import pairs

    if not pairs.holds_cases(path):
        return None
    return retrieve if is_session(path) else pairs


def _picture(folder: SessionFolder, report: Report) -> Picture | None:
    """Draw the effects beside the summary; without any, an older picture is removed. A rehearsal
    has none."""
    file = folder.path / "effects.svg"
    shown = chart(report.headline) if report.rehearsed is None else None
    if shown is None:
        file.unlink(missing_ok=True)
        return None
    write_whole(file, render_svg(shown))
    return Picture(address=file.name, about=shown.title)


@uncollected()
def write_series_summary(
    path: Path, read: dict[int, SessionData] | None = None, *, audited: bool = False
) -> Written:
    """Write the `summary.md` of a series as it stands. Sizes in `read` are not read again; the
    others are added."""
    summary = _series(path, {} if read is None else read, audited=audited)
    write_whole(SessionFolder(path).summary, summary.markdown)
    return summary


def _series(path: Path, sessions: dict[int, SessionData], *, audited: bool = True) -> Written:
    for size, folder in series_sessions(path).items():
        if size not in sessions:
            sessions[size] = _read(folder, audited=audited)
    return written(growth.document(series(dict(sorted(sessions.items())), registered_metrics())))


def trial_page(metrics: Metrics, record: TrialRecord, answer: str | None) -> str:
    """Write the page of a trial, `agent-N.md`."""
    return render_page(trial.page(metrics, record, answer))


def _read(folder: SessionFolder, *, audited: bool) -> SessionData:
    data = folder.read()
    return with_streams(folder, data) if audited else data
