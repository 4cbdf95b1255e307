"""Opens the folder of a session: the one place that asks which kind of session it holds."""

from importlib import import_module
from pathlib import Path

from swarm_bench.app.stored.session import StoredSession
from swarm_bench.benchmarks.swarm.series_folder import find_sessions
from swarm_bench.core.errors import UsageError
from swarm_bench.engine.folder import LOCK, experiment_keys, holds_experiment
from swarm_bench.importers.canopy_script.folder import is_script_folder

_KINDS = {
    "agent": "agents:AgentSession",
    "models": "models:ModelSession",
    "modes": "retrieve:RetrieveSession",
    "arms": "pairs:PairSession",
}
"""By a key that only the experiments of a kind have, or those before it: the class. Only that one
is loaded: some take as long as a whole summary."""
_SERIES, _SCRIPT = "series:SeriesSession", "script:ScriptSession"


def open_session(path: Path) -> StoredSession:
    """Open the session in a folder, also a series of them, and what canopy's script wrote. Raises
    `UsageError` where it holds none."""
    module, _, name = _find_kind(path).partition(":")
    kind: type[StoredSession] = getattr(import_module(f"swarm_bench.app.stored.{module}"), name)
    return kind(path)


def _find_kind(path: Path) -> str:
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder; give the folder of a session, below results/")
    if find_sessions(path):
        return _SERIES
    if holds_experiment(path):
        keys = experiment_keys(path)
        return next((kind for key, kind in _KINDS.items() if key in keys), _KINDS["agent"])
    if (path / LOCK).exists():
        raise UsageError(f"{path} was a session, and its experiment.json is lost; restore the file")
    if is_script_folder(path):
        return _SCRIPT
    raise UsageError(
        f"{path} holds no session (there is no experiment.json), nor what canopy's script writes; "
        "give the folder of one, below results/"
    )
