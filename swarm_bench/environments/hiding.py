"""Hides files from programs that run with all rights of the user, such as agents: they see what is
there without them. It keeps nobody in who looks for a way out."""

import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from shutil import which

from swarm_bench.environments.folders import (
    PACKAGE,
    SHIPPED,
    find_installations,
    installed_from,
    system_paths,
)
from swarm_bench.environments.local import build_hiding_arguments

_SIGNALS = "TERM,INT"
_TRY_SECONDS = 20


class Hiding:
    """Files and folders that are hidden."""

    def __init__(self, paths: Iterable[Path]) -> None:
        folders = {path.resolve() for path in paths if path.exists()}
        inner = {path for path in folders if folders.intersection(path.parents)}
        self.paths = sorted(folders - inner)
        """Those that there are, but for what lies in another one."""

    @property
    def works(self) -> bool:
        """Whether they can be hidden here."""
        command = self.wrap(("true",))
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TRY_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    def wrap(self, argv: tuple[str, ...], folder: Path | None = None) -> tuple[str, ...]:
        """Return the command line that runs another one without them, but for the folder `own` in
        them. What asks the program to end reaches the program, which may have last words, and not
        what waits for it."""
        visible = ("--bind", str(folder), str(folder)) if folder else ()
        return (
            *("env", f"--ignore-signal={_SIGNALS}"),
            *(which("bwrap") or "bwrap", "--dev-bind", "/", "/", "--die-with-parent"),
            # Root sees them by way of other processes, or takes away what hides them.
            *("--unshare-pid", "--proc", "/proc", "--cap-drop", "CAP_SYS_ADMIN"),
            *(word for path in self.paths for word in build_hiding_arguments(path)),
            *visible,
            *("--", "env", f"--default-signal={_SIGNALS}", *argv),
        )


@cache
def find_shipped() -> tuple[Path, ...]:
    """List what has the answers of shipped data sets, of every swarm-bench on the way of programs
    and where this one was installed from: the data sets, the history of a checkout, and
    archives."""
    prefixes = (Path(prefix).resolve() for prefix in (sys.base_prefix, sys.prefix))
    roots = dict.fromkeys(
        [*(path.resolve() for path in (*system_paths(), *installed_from())), *prefixes]
    )
    folders = dict.fromkeys(path for root in roots for path in find_installations(root))
    folders |= dict.fromkeys([PACKAGE, PACKAGE.parent / ".git"])  # where it may run from
    return tuple(
        path / SHIPPED if path.name == PACKAGE.name and (path / SHIPPED).is_dir() else path
        for path in folders
    )
