"""A series' folder: one session for each size of swarm, and a summary on top.

swarm-20261120-213300/
  summary.md
  agents-1/  agents-2/ ...     each is the folder of a session
"""

from contextlib import suppress
from pathlib import Path

from swarm_bench.benchmarks.swarm.folder import EXPERIMENT, SessionFolder
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import Design

_CLOCK_SECONDS = 2.0
"""How much too early the time of a file may be."""


def member_folder(series: Path, size: int) -> Path:
    """Return the folder of the session of that size."""
    return series / f"agents-{size}"


def find_sessions(series: Path) -> dict[int, SessionFolder]:
    """Return the sessions that a series has so far, by size, the smallest first; none for any other
    folder."""
    if SessionFolder(series).holds_session():
        return {}
    members = {int(path.name.removeprefix("agents-")): path for path in _find_members(series)}
    return {size: SessionFolder(members[size]) for size in sorted(members)}


def _find_members(series: Path) -> list[Path]:
    """Return the folders of the sessions that a series has so far; links do not count."""
    return [
        file.parent
        for file in series.glob(f"agents-*/{EXPERIMENT}")
        if file.parent.name.removeprefix("agents-").isdecimal() and not file.parent.is_symlink()
    ]


def find_newest_session(results: Path, design: Design) -> Path:
    """Return the latest session or series of the design below `results`, among those that can be
    read. Raises `UsageError` when there is none."""
    single_sessions = [(file.parent, file) for file in results.glob(f"*/{EXPERIMENT}")]
    of_series = [
        (path, member / EXPERIMENT) for path in results.glob("*") for member in _find_members(path)
    ]
    files = (
        (file.stat().st_mtime, path, file)
        for path, file in [*single_sessions, *of_series]
        if file.is_file()
    )
    newest, start = None, 0.0
    for changed, path, file in sorted(files, reverse=True):
        if changed + _CLOCK_SECONDS < start:
            break  # what was not changed since cannot have begun later
        with suppress(UsageError):
            experiment = SessionFolder(file.parent).read_experiment()
            if experiment.design == design and experiment.created_at.timestamp() > start:
                newest, start = path, experiment.created_at.timestamp()
    if newest is None:
        raise UsageError(
            f"There is no session below {results} to continue; name its folder: --continue DIR"
        )
    return newest
