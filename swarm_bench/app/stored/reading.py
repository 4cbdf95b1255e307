"""Which session a folder holds, for commands that look at one without changing it."""

from pathlib import Path

from swarm_bench.app.audit import with_streams
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.series_folder import series_sessions
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.records import SessionData
from swarm_bench.importers.canopy_script.folder import is_script_folder


def session_in(path: Path) -> SessionFolder:
    """Return the folder of a session of any benchmark. Raises `UsageError` for any other folder."""
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder; give the folder of a session, below results/")
    if sizes := series_sessions(path):
        first = next(iter(sizes.values())).path.name
        raise UsageError(
            f"{path} holds a session for each of {len(sizes)} sizes; give one of them, such as "
            f"{path / first}"
        )
    folder = SessionFolder(path)
    if not folder.holds_session() and is_script_folder(path):
        raise UsageError(
            f"{path} was written by canopy's script, whose figures have no tasks to pair; give the "
            "folder of a session"
        )
    if not folder.holds_session():
        raise UsageError(
            f"{path} holds no session (there is no experiment.json); give the folder of one, below "
            "results/"
        )
    return folder


def read_audited(folder: SessionFolder) -> SessionData:
    """Read a session of the swarm benchmark, held against the streams of its agents."""
    return with_streams(folder, folder.read())
