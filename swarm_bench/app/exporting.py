"""Writes the trials of a session for other programs."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Literal

from swarm_bench.analysis.export_table import LoadedSession, make_frames
from swarm_bench.analysis.wording import quantify
from swarm_bench.app.stored.agent_trials import MOST_TRANSCRIPT_BYTES
from swarm_bench.app.stored.session import open_session
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.exported import ExportedSession, ExportedTrial, TranscriptState
from swarm_bench.core.report.trials import Entry, TrialsTable
from swarm_bench.reports.exports import render_csv, render_json, render_junit, render_parquet
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import (
    find_writable_path,
    write_pieces,
    write_whole,
    writing_folder,
)

TextFormat = Literal["csv", "json", "junit"]
_RENDER: Mapping[TextFormat, Callable[[TrialsTable], str]] = {
    "csv": render_csv,
    "json": render_json,
    "junit": render_junit,
}


@pause_collection()
def export(path: Path, kind: TextFormat) -> str:
    """Write the session in the format. The session stays as it is, and nothing that it names is
    run. Raises `UsageError` for what is no session."""
    return _render(open_session(path).build_trials_table(), kind)


@pause_collection()
def export_to(path: Path, kind: TextFormat | Literal["parquet"], output: Path) -> None:
    """Write the session to a new file. Raises `UsageError` when something is there, and for
    Parquet without its library."""
    target = _find_new_path(output, "file")
    table = open_session(path).build_trials_table()
    write_whole(target, _render_parquet(table) if kind == "parquet" else _render(table, kind))


TrialFormat = Literal["atif", "inspect", "otel"]
_STATES: Mapping[TranscriptState, str] = {
    "missing": "have lost their transcript",
    "too-large": f"have a transcript of more than {MOST_TRANSCRIPT_BYTES // 2**20} MiB",
    "unreadable": "have a transcript that cannot be read",
    "not-shown": "have a transcript that shows no calls",
}
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_PART = 60
"""Characters of an arm or a case in the name of a file."""


@dataclass(kw_only=True)
class _Tally:
    """Counts what an export lacks."""

    session: ExportedSession
    states: Counter[TranscriptState] = field(default_factory=Counter)
    trials: int = 0
    unasked: int = 0
    """Trials of models whose request is lost."""
    omitted: int = 0
    """Trials that the format cannot hold."""

    def iterate(self, arm: str | None = None) -> Iterator[ExportedTrial]:
        """Read trials, and count them."""
        for trial in self.session.read_trials(arm):
            self.trials += 1
            self.states[trial.transcript] += 1
            self.unasked += self.session.kind == "model" and not trial.prompt
            yield trial

    def describe(self, reason: str) -> list[str]:
        """Say in sentences what is not in the export; none where it is complete."""
        sentences = [
            f"{self.states[state]} of {quantify(self.trials, 'trial')} {clause}: they are exported "
            "without their calls."
            for state, clause in _STATES.items()
            if self.states[state] and self.session.kind == "agent"
        ]
        if self.unasked:
            sentences.append(
                f"{self.unasked} of {quantify(self.trials, 'trial')} have lost their request, as "
                "prompts.jsonl does not have it: they are exported without it."
            )
        if self.omitted:
            sentences.append(f"{quantify(self.omitted, 'trial')} omitted: {reason}.")
        return sentences


@dataclass(frozen=True, kw_only=True)
class Traces:
    """The traces of a session."""

    lines: Iterator[str]
    """Lines, made one by one."""
    describe: Callable[[], list[str]]
    """Says in sentences what is not among them, once they are read."""


def read_traces(path: Path, *, contents: bool) -> Traces:
    """Read the traces of a session. Raises `UsageError` for what is no session, and where there is
    none, also when the lines are read."""
    tally = _Tally(session=_read_exported(path))
    lines = _render_traces(tally, contents=contents)
    return Traces(lines=lines, describe=lambda: tally.describe(_NO_TIMES))


def export_trials(path: Path, kind: TrialFormat, output: Path, *, contents: bool) -> list[str]:
    """Write the trials of a session to a new folder, or their traces to a new file. Returns
    sentences on what is not among them. Raises `UsageError` when something is there."""
    target = _find_new_path(output, "file" if kind == "otel" else "folder")
    if kind == "otel":
        traces = read_traces(path, contents=contents)
        write_pieces(target, traces.lines)
        return traces.describe()
    tally = _Tally(session=_read_exported(path))
    with writing_folder(target) as folder:
        _WRITE_FOLDER[kind](tally, folder)
    return tally.describe(_NO_STEPS)


_NO_TIMES = "they have no start or no end, which a span needs"
_NO_STEPS = "nothing is known of what was asked and answered"


def _read_exported(path: Path) -> ExportedSession:
    session = open_session(path).read_exported()
    if not session.rows:
        raise UsageError(f"{path} has no trial so far; continue the session, and export it then")
    return session


def _render_traces(tally: _Tally, *, contents: bool) -> Iterator[str]:
    render = import_module(f"{_FORMATS}.otel").render_trace
    for trial in tally.iterate():
        line = render(tally.session, trial, contents=contents)
        if line is None:
            tally.omitted += 1
        else:
            yield f"{line}\n"
    if tally.omitted == tally.trials:
        raise UsageError(f"No trial of the session can be exported as otel: {_NO_TIMES}")


def _write_trajectories(tally: _Tally, folder: Path) -> None:
    """Write a file for each trial."""
    if tally.session.kind == "search":
        raise UsageError(
            "atif is a format for agents and models, and retrieve asks tools alone; use --format "
            "inspect or otel"
        )
    render = import_module(f"{_FORMATS}.atif").render_trajectory
    width = len(str(len(tally.session.rows)))
    for number, trial in enumerate(tally.iterate(), start=1):
        text, row = render(tally.session, trial), trial.row
        if text is None:
            tally.omitted += 1
            continue
        parts = (f"{number:0{width}}", row["arm"], row["case"], f"run-{row['run']}")
        write_whole(folder / f"{_join_name(parts)}.json", text)
    if tally.omitted == tally.trials:
        raise UsageError(f"No trial of the session can be exported as atif: {_NO_STEPS}")


def _write_logs(tally: _Tally, folder: Path) -> None:
    """Write a file for each arm."""
    render = import_module(f"{_FORMATS}.inspect_log").render_log
    session = replace(tally.session, read_trials=tally.iterate)
    for number, arm in enumerate(session.arms, start=1):
        write_pieces(folder / f"{_join_name((str(number), arm))}.json", render(session, arm))


_FORMATS = "swarm_bench.reports.formats"
"""Holds a module for each format, of which only that one is loaded."""
_WRITE_FOLDER: Mapping[TrialFormat, Callable[[_Tally, Path], None]] = {
    "atif": _write_trajectories,
    "inspect": _write_logs,
}


def _join_name(parts: Iterable[Entry]) -> str:
    """Make the name of a file of what a session may say; the number in it tells it from others."""
    return ".".join(_UNSAFE.sub("-", str(part))[:_LONGEST_PART] for part in parts)


def _find_new_path(output: Path, what: str) -> Path:
    """Return where a new file or folder is written. Raises `UsageError` when something is there."""
    if not output.name:
        raise UsageError(f"{output} names no {what}; give one with --output")
    target = find_writable_path(output)
    if os.path.lexists(target):
        raise UsageError(f"{output} exists; remove it, or give another --output")
    return target


def _render(table: TrialsTable, kind: TextFormat) -> str:
    if kind == "junit" and table.scored is None:
        raise UsageError(
            "junit shows which trials fail, and no figure of this session says so: none that is "
            "compared lies between 0 and 1; use --format csv"
        )
    return _RENDER[kind](table)


def _render_parquet(table: TrialsTable) -> bytes:
    try:
        return render_parquet(table)
    except ImportError:
        raise UsageError("parquet needs pyarrow; install it with: pip install pyarrow") from None


@pause_collection()
def load(path: str | Path) -> LoadedSession:
    """Read a session into data frames. Raises `UsageError` for what is no session, and without
    pandas.

    Example: `load("results/swarm-20261120-213300").trials.groupby("arm").cost.median()`
    """
    return make_frames(open_session(Path(path)).build_trials_table())
