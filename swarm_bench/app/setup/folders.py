"""Locations of a session's folders: its results, and its work while it runs."""

import itertools
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from swarm_bench.config.layers import Settings
from swarm_bench.config.shipped import SUITES
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Emit, Preparing, WarningRaised
from swarm_bench.core.session.experiment import Repository
from swarm_bench.runtime.files import store_errors
from swarm_bench.runtime.homes import SHORT
from swarm_bench.runtime.ownership import PREFIX, discard, mark, sweep

RESULTS = Path("results")
Warn = Callable[[str], None]
_IN_LETTERS = str.maketrans("0123456789", "ghijklmnop")
"""Letters for the digits of a hexadecimal name. Some servers read words in absolute paths:
with digits in the name of the clone's folder, probe passed over most files of Django in some
sessions."""


def list_answer_places(settings: Settings, repository: Repository, session: Path) -> dict[str, str]:
    """Say what lies at the paths where agents could read answers, as they are given and without
    links."""
    original = Path(repository.path)
    paths = dict.fromkeys(
        (original / name for name in repository.answers or ()),
        "a file of the original repository with answer keys",
    )
    paths[original] = "the original repository"
    paths |= dict.fromkeys((RESULTS, session), "the results of sessions")
    with suppress(UsageError):  # what is continued may have no task file any more
        paths[SUITES.find(settings.tasks)] = "the task file"
    return {
        str(spelled): description
        for path, description in paths.items()
        for spelled in (path.expanduser().absolute(), path.expanduser().resolve())
    }


def make_results_folder(stem: str) -> Path:
    """Make a new folder below `results/`, with the time in its name; the stem may be any text.
    Raises `UsageError`."""
    make_results()
    readable = re.sub(r"[^\w.]+", "-", stem.lower()).strip("-.")[:64] or "session"
    name = f"{readable}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    for number in itertools.count(1):
        path = RESULTS / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):  # another one began in the same second
            path.mkdir(mode=0o700)
            return path
    raise AssertionError("there is always another number")


def make_results() -> None:
    """Make the folder of all sessions where there is none. Raises `UsageError`."""
    if RESULTS.is_dir():
        return
    try:
        RESULTS.mkdir(mode=0o700, exist_ok=True)
        # The working folder may be the repository; its status should not change.
        (RESULTS / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{RESULTS} cannot be made here: {error.strerror}; choose an --output"
        ) from error


def create_warn(emit: Emit | None) -> Warn:
    """Return a function that makes an event of a sentence; without `emit` there is no listener."""

    def warn(sentence: str) -> None:
        if emit is not None:
            emit(WarningRaised(message=sentence))

    return warn


def create_tell(emit: Emit | None) -> Warn:
    """Return a function that makes an event of how far the preparation is; without `emit` there is
    no listener."""

    def tell(step: str) -> None:
        if emit is not None:
            emit(Preparing(step=step))

    return tell


@contextmanager
def open_work_folder(root: Path | None, name: str, warn: Warn) -> Iterator[Path]:
    """Make a folder of our own for the block. Afterwards only workspaces that were kept are in it.

    What an orchestrator that died did not remove is swept before. `warn` gets a sentence on what
    could not be removed. Raises `UsageError` when another one works there.
    """
    base = (root or Path(tempfile.gettempdir())).expanduser().resolve()
    if not base.is_dir():
        raise UsageError(f"{base} is not a folder; create it, or choose another workspace-root")
    with store_errors(base):
        problems = sweep(base, SHORT).problems
        work = base / f"{PREFIX}{name.translate(_IN_LETTERS)}"
        work.mkdir(mode=0o700, exist_ok=True)
        if work.is_symlink() or work.stat().st_uid != os.getuid():
            raise UsageError(f"{work} belongs to somebody else; choose another workspace-root")
        mark(work)
    for problem in problems:
        warn(problem)
    try:
        yield work
    finally:
        for problem in _discard(work):
            warn(problem)


def sweep_temporary(warn: Warn) -> None:
    """Remove what killed sessions left among the temporary files, and end their processes."""
    for problem in sweep(Path(tempfile.gettempdir())).problems:
        warn(problem)


def _discard(work: Path) -> tuple[str, ...]:
    """Remove the folder, also when an interruption comes meanwhile; a second one ends that."""
    try:
        return discard(work)
    except KeyboardInterrupt:
        discard(work)
        raise
