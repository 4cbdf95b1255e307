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
    installations,
    installed_from,
    system_paths,
)
from swarm_bench.environments.local import covered

_SIGNALS = "TERM,INT"
_TRY_SECONDS = 20


class Hiding:
    """Files and folders that are hidden."""

    def __init__(self, paths: Iterable[Path]) -> None:
        every = {path.resolve() for path in paths if path.exists()}
        inner = {path for path in every if every.intersection(path.parents)}
        self.paths = sorted(every - inner)
        """Those that there are, but for what lies in another one."""

    @property
    def works(self) -> bool:
        """Whether they can be hidden here."""
        command = self.around(("true",))
        try:
            done = subprocess.run(command, capture_output=True, timeout=_TRY_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    def around(self, argv: tuple[str, ...], own: Path | None = None) -> tuple[str, ...]:
        """Return the command line that runs another one without them, but for the folder `own` in
        them. What asks the program to end reaches the program, which may have last words, and not
        what waits for it."""
        shown = ("--bind", str(own), str(own)) if own else ()
        return (
            *("env", f"--ignore-signal={_SIGNALS}"),
            *(which("bwrap") or "bwrap", "--dev-bind", "/", "/", "--die-with-parent"),
            # Root sees them by way of other processes, or takes away what hides them.
            *("--unshare-pid", "--proc", "/proc", "--cap-drop", "CAP_SYS_ADMIN"),
            *(word for path in self.paths for word in covered(path)),
            *shown,
            *("--", "env", f"--default-signal={_SIGNALS}", *argv),
        )


@cache
def shipped() -> tuple[Path, ...]:
    """List what has the answers of shipped data sets, of every swarm-bench on the way of programs
    and where this one was installed from: the data sets, the history of a checkout, and
    archives."""
    prefixes = (Path(it).resolve() for it in (sys.base_prefix, sys.prefix))
    roots = dict.fromkeys(
        [*(it.resolve() for it in (*system_paths(), *installed_from())), *prefixes]
    )
    every = dict.fromkeys(path for root in roots for path in installations(root))
    every |= dict.fromkeys([PACKAGE, PACKAGE.parent / ".git"])  # where it may run from
    return tuple(
        path / SHIPPED if path.name == PACKAGE.name and (path / SHIPPED).is_dir() else path
        for path in every
    )
