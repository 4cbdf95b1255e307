"""Which session a word means: a folder, the name of one below `results/`, the id of its session, or
the newest."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.core.errors import UsageError, choice
from swarm_bench.core.session.recording import FOLDER as RECORDING
from swarm_bench.engine.benchmark import find_benchmark
from swarm_bench.engine.cases.store import case_folder
from swarm_bench.engine.folder import EXPERIMENT

LATEST = "latest"


def session_folder(word: str, newest: Callable[[], Path] | None = None) -> Path:
    """Return the folder that a word names; `newest` finds that of `latest` and of no word where not
    every session will do. What is written as a path need not be there. Raises `UsageError`."""
    if word in ("", LATEST):
        return (newest or _newest)()
    path = Path(word).expanduser()
    folders = sessions_below(RESULTS)
    is_elsewhere = "/" in word and (path.parent != RESULTS or not folders)
    if path.exists() or is_elsewhere:
        return path
    named = (folder for folder in map(_shown, folders) if folder.name == word)
    of_id = (folder for folder in folders if case_folder(folder).session() == word)
    if (folder := next(chain(named, of_id), None)) is not None:
        return folder
    if not folders:
        raise UsageError(f"There is no session below {RESULTS}, and no folder {word}; name one")
    names = dict.fromkeys([LATEST, *(folder.name for folder in map(_shown, folders))])
    raise UsageError(f"There is no session {word} below {RESULTS}; {choice(path.name, names)}")


def newest_of(benchmark: str) -> Path:
    """Return the newest session of a benchmark. Raises `UsageError`."""
    name = find_benchmark(benchmark).name
    for folder in sessions_below(RESULTS):
        if case_folder(folder).benchmark() == name:
            return folder
    raise UsageError(f"There is no session of {name} below {RESULTS}; give the folder of one")


def recorded_folder(word: str) -> Path:
    """Return the folder of the recording, or of the session, that a word names; the newest that was
    recorded for `latest`. Raises `UsageError`."""
    return session_folder(word, _newest_recorded)


def sessions_below(results: Path) -> list[Path]:
    """List the folders of all sessions, those of series among them, the last one that ran first."""
    files = [file for depth in ("*", "*/*") for file in results.glob(f"{depth}/{EXPERIMENT}")]
    there = [(file.stat().st_mtime_ns, file.parent) for file in files if file.is_file()]
    return [folder for _, folder in sorted(there, reverse=True)]


def _newest() -> Path:
    for folder in sessions_below(RESULTS):
        return _shown(folder)
    raise UsageError(f"There is no session below {RESULTS}; give the folder of one")


def _newest_recorded() -> Path:
    for folder in sessions_below(RESULTS):
        if (folder / RECORDING).is_dir():
            return folder
    raise UsageError(f"No session below {RESULTS} was recorded (--record); give its folder")


def _shown(folder: Path) -> Path:
    """Return the series of one of its sessions, and any other session itself."""
    return folder if folder.parent == RESULTS else folder.parent
