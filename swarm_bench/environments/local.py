"""The environment `local`: bubblewrap, on this machine. It also hides files from programs that run
with all rights of the user, such as agents: they see what is there without them. That keeps nobody
in who looks for a way out."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from shutil import which

from swarm_bench.core.errors import UsageError
from swarm_bench.core.roles.execution import Code, Execution
from swarm_bench.core.session.experiment import Program
from swarm_bench.environments.folders import (
    PACKAGE,
    SHIPPED,
    find_installations,
    installed_from,
    system_paths,
)
from swarm_bench.environments.running import add_limits, command_of, execute, interpreter, limiter

_PROGRAM = "bwrap"
_TEMP_FOLDER = "/tmp"
"""The folder of code, in memory; it is gone with the code."""
_OTHER_FOLDERS = ("/proc/self/fd", "/dev/shm")
"""Other such folders: programs that start others may put their streams there, and threads have
locks."""
_MEGABYTE = 1024 * 1024
_WAYS_OUT = (
    "install the package bubblewrap, or, if this machine or container can do without, let code run "
    "with your own rights: --environment unconfined"
)
_TRY_SECONDS = 20


class Local:
    """Runs code in namespaces of its own."""

    name = "local"
    confines = True
    confinement = (
        "bubblewrap: no network, no files but an own folder and, read-only, the programs of the "
        "system (/usr, /lib) and the Python installation, without the answers of any swarm-bench"
    )

    def program(self) -> Program:
        """Find bubblewrap, and have it run a program. Raises `UsageError`."""
        limiter()
        path = which(_PROGRAM)
        if path is None:
            raise UsageError(f"{_PROGRAM} is not installed, which confines code; {_WAYS_OUT}")
        version = re.search(r"\d[\d.]*", self._output(path, "--version").stdout)
        trial = self._output(*self._build_command(Code(argv=("python", "-c", ""), timeout=1)))
        if trial.returncode != 0:
            message = trial.stderr.strip().splitlines()[-1:] or [f"exit code {trial.returncode}"]
            raise UsageError(f"{_PROGRAM} cannot confine code here ({message[0]}); {_WAYS_OUT}")
        return Program(name="bubblewrap", version=version and version[0], path=path)

    async def run(self, code: Code) -> Execution:
        """Run a command to its end or to a limit."""
        return await execute(add_limits(self._build_command(code), code, Path("/")), code)

    def _build_command(self, code: Code) -> list[str]:
        hidden_paths = [path for path in self._hidden_paths if path.exists()]
        memory = code.memory_mb * _MEGABYTE
        sizes = [(memory // 2, _TEMP_FOLDER), *((memory // 8, folder) for folder in _OTHER_FOLDERS)]
        folders = [str(path) for path in hidden_paths if path.is_dir()]
        return [
            *self._start,
            *(
                argument
                for size, folder in sizes
                for argument in ("--size", str(size), "--tmpfs", folder)
            ),
            *("--chdir", _TEMP_FOLDER),
            # After the own folder, which would hide what lies below it.
            *_readable(self._python),
            *(word for path in hidden_paths for word in build_hiding_arguments(path)),
            *_readable(code.visible),
            # They are in memory, without a limit.
            *(word for path in ("/dev", "/", *folders) for word in ("--remount-ro", path)),
            "--",
            *command_of(code),
        ]

    @cached_property
    def _start(self) -> list[str]:
        """The command line as far as all code has it in common."""
        return [
            which(_PROGRAM) or _PROGRAM,
            *("--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"),
            *("--cap-drop", "ALL", "--clearenv"),
            *("--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", _TEMP_FOLDER),
            *("--setenv", "LANG", "C.UTF-8"),
            *_system(),
            # No /proc: for root, also one without any capability, settings of the kernel lie there.
            # Of it there is an empty folder, into which /dev/stdin leads.
            *("--dev", "/dev"),
        ]

    @cached_property
    def _python(self) -> list[Path]:
        """The folders of the interpreter that are not among those of the system."""
        prefix = Path(sys.base_prefix).resolve()
        paths = dict.fromkeys((prefix, interpreter().parent))
        return [
            path
            for path in paths
            if not any(path.is_relative_to(system_path) for system_path in system_paths())
        ]

    @cached_property
    def _hidden_paths(self) -> list[Path]:
        """Return the paths with answers of data sets that could be read: those of every
        swarm-bench, whichever user installed it."""
        mounted = dict.fromkeys(path.resolve() for path in (*system_paths(), *self._python))
        found_folders = {
            folder_path.resolve()
            for folder in mounted
            for folder_path in find_installations(folder)
        }
        return sorted(
            folder_path
            for folder_path in found_folders
            if any(folder_path.is_relative_to(folder) for folder in mounted)
        )

    def _output(self, *argv: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                argv, capture_output=True, text=True, timeout=_TRY_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"{_PROGRAM} cannot be run ({error}); {_WAYS_OUT}") from error


def build_hiding_arguments(path: Path) -> tuple[str, ...]:
    """Return the options that put an empty folder or file in the place of one."""
    return ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", os.devnull, str(path))


def _readable(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the options that show files and folders."""
    for path in paths:
        yield from ("--ro-bind", str(path), str(path))


def _system() -> Iterator[str]:
    """Yield the options that show the folders of the system, as they are: some are links."""
    for path in system_paths():
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        else:
            yield from ("--ro-bind", str(path), str(path))


_SIGNALS = "TERM,INT"


class Hiding:
    """Files and folders that are hidden."""

    def __init__(self, paths: Iterable[Path]) -> None:
        folders = {path.resolve() for path in paths if path.exists()}
        inner = {path for path in folders if folders.intersection(path.parents)}
        self.paths = sorted(folders - inner)
        """Paths that exist, except those within another one."""

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
