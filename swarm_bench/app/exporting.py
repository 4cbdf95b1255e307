"""Writes the trials of a session for other programs."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from swarm_bench.analysis.export_table import LoadedSession, make_frames
from swarm_bench.app.stored.session import open_session
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.trials import TrialsTable
from swarm_bench.reports.exports import render_csv, render_json, render_junit, render_parquet
from swarm_bench.runtime.cycles import pause_collection
from swarm_bench.runtime.files import find_writable_path, write_whole

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
    if not output.name:
        raise UsageError(f"{output} names no file; give one with --output")
    target = find_writable_path(output)
    if os.path.lexists(target):
        raise UsageError(f"{output} exists; remove it, or give another --output")
    table = open_session(path).build_trials_table()
    write_whole(target, _render_parquet(table) if kind == "parquet" else _render(table, kind))


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
