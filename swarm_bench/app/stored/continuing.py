"""Which session `run --continue` means."""

from pathlib import Path

from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.engine.benchmark import find_benchmark
from swarm_bench.engine.cases.store import case_folder
from swarm_bench.engine.folder import EXPERIMENT


def find_session(word: str, benchmark: str) -> Path:
    """Return the folder that a word names: itself, the id of a session below `results/`, or, where
    it is empty, the newest session of the benchmark there. Raises `UsageError`."""
    if word and (Path(word).exists() or "/" in word):
        return Path(word)
    name = find_benchmark(benchmark).name
    files = [file for file in RESULTS.glob(f"*/{EXPERIMENT}") if file.is_file()]
    for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
        if _is(file.parent, word, name):
            return file.parent
    which = f"with the id {word}" if word else f"of {name}"
    raise UsageError(f"There is no session {which} below {RESULTS}; give the folder of one")


def _is(path: Path, word: str, name: str) -> bool:
    folder = case_folder(path)
    if folder.benchmark() != name:
        return False
    try:
        return not word or folder.read_experiment().session == word
    except SwarmBenchError:  # one that is damaged is not the one
        return False
