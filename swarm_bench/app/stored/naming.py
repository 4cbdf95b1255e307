"""Which session a word means: a folder, the name of one below `results/`, the id of its session, or
the newest."""

from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from swarm_bench.analysis.wording import join
from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.benchmarks.swarm.series_folder import find_sessions
from swarm_bench.core.errors import UsageError, choice
from swarm_bench.core.session.base import Source
from swarm_bench.core.session.recording import FOLDER as RECORDING
from swarm_bench.engine.benchmark import find_benchmark
from swarm_bench.engine.folder import EXPERIMENT, experiment_keys

LATEST = "latest"


def find_session_folder(word: str, newest: Callable[[], Path] | None = None) -> Path:
    """Return the folder that a word names; `newest` finds that of `latest` and of no word where not
    every session will do. What is written as a path need not be there. Raises `UsageError`."""
    if word in ("", LATEST):
        return (newest or _find_newest_session)()
    path, folders = Path(word).expanduser(), list_session_folders(RESULTS)
    if path.exists():
        return path
    if (match := _find_named(word, folders)) is not None:
        return match
    if "/" in word and (path.parent != RESULTS or not folders):
        return path
    if not folders:
        raise UsageError(f"There is no session below {RESULTS}, and no folder {word}; name one")
    names = dict.fromkeys(
        [LATEST, *(_format_name(_find_series_folder(folder)) for folder in folders)]
    )
    raise UsageError(f"There is no session {word} below {RESULTS}; {choice(path.name, names)}")


def find_continued_folder(word: str, newest: Callable[[], Path], *, output: Source | None) -> Path:
    """Return the folder of the session that a call continues; `output` is the source of a folder
    for a new one. Raises `UsageError`."""
    if output == "command line":
        raise UsageError(
            "--output cannot be given with --continue: the session stays where it is; "
            "omit one of them"
        )
    return find_session_folder(word, newest)


def _find_named(word: str, folders: Sequence[Path]) -> Path | None:
    """Return the one folder that is listed, or else called, or else has a session of this name.
    Raises `UsageError` where these are several."""
    shown_folders = dict.fromkeys(chain(map(_find_series_folder, folders), folders))
    matches = (
        (folder for folder in shown_folders if _format_name(folder) == word),
        (folder for folder in shown_folders if folder.name == word),
        (folder for folder in folders if experiment_keys(folder).get("session") == word),
    )
    for candidates in map(sorted, matches):
        if len(candidates) > 1:
            raise UsageError(
                f"{word} is the name of {join([*map(str, candidates)])}; give a folder"
            )
        if candidates:
            return candidates[0]
    return None


def find_newest(benchmark: str) -> Path:
    """Return the newest session of a benchmark. Raises `UsageError`."""
    name = find_benchmark(benchmark).name
    for folder in list_session_folders(RESULTS):
        if experiment_keys(folder).get("benchmark") == name:
            return folder
    raise UsageError(f"There is no session of {name} below {RESULTS}; give the folder of one")


def find_recorded_folder(word: str) -> Path:
    """Return the folder of the recording, or of the session, that a word names; the newest that was
    recorded for `latest`. Raises `UsageError`."""
    return find_session_folder(word, _find_newest_recorded)


def list_session_folders(results: Path) -> list[Path]:
    """List the folders of all sessions, those of series among them, the last one that ran first."""
    single = [file for file in results.glob(f"*/{EXPERIMENT}") if file.is_file()]
    deeper = [file for file in results.glob(f"*/*/{EXPERIMENT}") if file.is_file()]
    parents = {file.parent for file in single}  # what agents leave in a session is none
    files = [*single, *(file for file in deeper if file.parent.parent not in parents)]
    dated = [(file.stat().st_mtime_ns, file.parent) for file in files]
    return [folder for _, folder in sorted(dated, reverse=True)]


def _find_newest_session() -> Path:
    for folder in list_session_folders(RESULTS):
        return _find_series_folder(folder)
    raise UsageError(f"There is no session below {RESULTS}; give the folder of one")


def _find_newest_recorded() -> Path:
    for folder in list_session_folders(RESULTS):
        if (folder / RECORDING).is_dir():
            return folder
    raise UsageError(f"No session below {RESULTS} was recorded (--record); give its folder")


def _find_series_folder(folder: Path) -> Path:
    """Return the series of one of its sessions, and any other session itself."""
    if folder.parent == RESULTS:
        return folder
    members = {member.path.name for member in find_sessions(folder.parent).values()}
    return folder.parent if folder.name in members else folder


def _format_name(folder: Path) -> str:
    """Return the name under which it is listed."""
    return str(folder.relative_to(RESULTS))
