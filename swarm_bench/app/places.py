"""Where a session's folders lie: its results, and its work while it runs."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from swarm_bench.core.errors import UsageError
from swarm_bench.core.settings import Settings
from swarm_bench.engine.folder import SessionFolder, newest_session
from swarm_bench.engine.kit import KEPT
from swarm_bench.runtime.files import store_errors
from swarm_bench.runtime.ownership import PREFIX, discard, mark, sweep

RESULTS = Path("results")


def session_to_continue(resume: str | None, benchmark: str) -> SessionFolder | None:
    """The session that `--continue` names; the newest one below `results/` if it names none."""
    if resume is None:
        return None
    return SessionFolder(Path(resume) if resume else newest_session(RESULTS, benchmark))


def new_session_folder(settings: Settings, benchmark: str) -> SessionFolder:
    """A free folder, not yet made: `--output`, or one below `results/` named after the time.

    Raises `UsageError` when the folder is in use.
    """
    if settings.output is not None:
        folder = SessionFolder(settings.output.expanduser())
        folder.check_free()
        return folder
    stem = f"{benchmark}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    names = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 1000))
    return SessionFolder(next(RESULTS / name for name in names if not (RESULTS / name).exists()))


def make_session_folder(folder: SessionFolder) -> None:
    """Raises `UsageError` when it cannot be made."""
    ours = folder.path.parent == RESULTS.resolve() and not RESULTS.exists()
    folder.make()
    if ours:  # the working folder may be the repository; its status should not change
        (RESULTS / ".gitignore").write_text("*\n", encoding="utf-8")


@contextmanager
def work_folder(root: Path | None, name: str) -> Iterator[Path]:
    """A folder of our own for the block. Afterwards only workspaces that were kept are in it.

    What an orchestrator that died left behind is swept before.
    """
    base = (root or Path(tempfile.gettempdir())).expanduser().absolute()
    with store_errors(base):
        base.mkdir(parents=True, exist_ok=True)
        sweep(base)
        work = base / f"{PREFIX}{name}"
        work.mkdir(mode=0o700, exist_ok=True)
        if work.is_symlink() or work.stat().st_uid != os.getuid():
            raise UsageError(f"{work} belongs to somebody else; choose another workspace_root")
        mark(work)
    try:
        yield work
    finally:
        discard(work, keep=KEPT)
