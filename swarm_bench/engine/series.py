"""A series' folder: one session for each size of swarm, and a summary on top.

swarm-20261120-213300/
  summary.md
  agents-1/  agents-2/ ...     each is the folder of a session
"""

from pathlib import Path

from swarm_bench.engine.folder import SessionFolder, members


def member_folder(series: Path, size: int) -> Path:
    """Where the session of that size is, or will be."""
    return series / f"agents-{size}"


def series_sessions(series: Path) -> dict[int, SessionFolder]:
    """The sessions that a series has so far, by size, the smallest first; none for any other
    folder."""
    if SessionFolder(series).holds_session():
        return {}
    found = {int(path.name.removeprefix("agents-")): path for path in members(series)}
    return {size: SessionFolder(found[size]) for size in sorted(found)}


def one_of(folder: SessionFolder) -> SessionFolder:
    """The first session of a series; of any other folder the folder itself."""
    return next(iter(series_sessions(folder.path).values()), folder)
