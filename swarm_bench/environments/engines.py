"""What runs containers: podman, or else docker. They take the same options, but for a few."""

import os
import subprocess
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from signal import SIGKILL, SIGTERM, Signals

import anyio

from swarm_bench.core.errors import EnvironmentFailed, ProcessLost, UsageError
from swarm_bench.core.roles.execution import Code, Execution
from swarm_bench.environments.running import limiter, new_tag
from swarm_bench.runtime.environment import small_environment
from swarm_bench.runtime.process import Command, capture
from swarm_bench.runtime.processes import procfs
from swarm_bench.runtime.untrusted import read

_OF_THE_ENGINE = range(125, 128)
"""Exit codes of an engine that failed. Programs have these too."""
_TRY_SECONDS = 60
"""The first container of an image can take long."""
_PARTING_SECONDS = 5.0
"""Seconds that the process which watches a container may take to remove it."""
_PAUSE = 0.01
_REMOVAL_SECONDS = 20.0
"""Seconds that the engine may take to remove a container; one that hangs must not hold the
session."""
_TRIES, _PAUSE_BETWEEN = 5, 0.2
"""Tries to remove a container, and seconds between two."""
_NEVER = "0001-01-01"
"""Time of start that engines give for a container that never started."""
_INHERITED = ("XDG_", "DBUS_", "CONTAINER", "DOCKER_")
_LONGEST_NUMBER = 20
WAYS_OUT = "fix that, or give --environment local"


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A program that runs containers."""

    path: str
    name = "engine"
    server = "Client"
    """Part of the engine whose version counts."""

    @abstractmethod
    def options(self, folder: Path, seconds: int) -> tuple[str, ...]:
        """Return the options of `run` that the other engine does not have, such as for word of the
        container in `folder`, and its end after `seconds`."""

    def first_process(self, folder: Path) -> int | None:
        """Return the number of the first process of a container; `None` before it is there, or
        where the engine leaves no word of it."""
        return _number(folder / "code")

    @abstractmethod
    def has_started(self, container: str, folder: Path) -> bool:
        """Tell whether a container ran that has ended. Raises `UsageError`."""

    async def ran(self, container: str, folder: Path) -> bool:
        """Tell the same without waiting for it. Raises `EnvironmentFailed`."""
        try:
            return await anyio.to_thread.run_sync(self.has_started, container, folder)
        except UsageError as error:
            raise EnvironmentFailed(str(error)) from error

    @abstractmethod
    async def put_away(self, container: str, execution: Execution | None, folder: Path) -> None:
        """Remove a container that has ended, or whose code has taken too much. Raises
        `EnvironmentFailed`."""

    def mount_memory(self, path: str, options: str) -> tuple[str, str]:
        """Return the options that make an empty folder in memory."""
        return "--tmpfs", f"{path}:{options}"

    def command(self, argv: Sequence[str], code: Code) -> Command:
        """Make the command that runs a container."""
        # Killed at once, as it would hand on any other signal and wait for the code.
        return self._command(*argv, stop_signal=SIGKILL)

    def version(self) -> str:
        """Return its version. Raises `UsageError` where it cannot be used."""
        done = self.output("version", "--format", f"{{{{.{self.server}.Version}}}}")
        if done.returncode != 0:
            raise UsageError(f"{self.name} cannot be used here ({reason(done)}); {WAYS_OUT}")
        return done.stdout.strip()

    def check_image(self, image: str) -> None:
        """Raise `UsageError` for an image that is not here."""
        done = self.output("image", "inspect", "--format", "{{.Id}}", image)
        if done.returncode != 0:
            raise UsageError(
                f"The image {image} is not here, and none is fetched unasked; get it with: "
                f"{self.name} pull {image}"
            )

    def remove_if(self, label: str, doomed: Callable[[str], bool]) -> None:
        """Remove the containers whose label has such a value."""
        ids = self.output("ps", "--all", "--quiet", "--filter", f"label={label}").stdout.split()
        for container in ids:
            form = f'{{{{index .Config.Labels "{label}"}}}}'
            value = self.output("inspect", "--format", form, container).stdout.strip()
            if value and doomed(value):
                self.output(*self._removal, container)

    def try_run(self, arguments: Sequence[str], container: str) -> subprocess.CompletedProcess[str]:
        """Run a container, and remove it. Raises `UsageError`."""
        try:
            return self.output(*arguments)
        finally:
            self.output(*self._removal, container)

    def output(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it. Raises `UsageError` where it cannot be."""
        try:
            return subprocess.run(
                (self.path, *arguments),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TRY_SECONDS,
                check=False,
                env=_variables(),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"{self.name} cannot be run ({error}); {WAYS_OUT}") from error

    @property
    def _removal(self) -> tuple[str, ...]:
        return ("rm", "--force")

    async def _remove(self, container: str, folder: Path) -> None:
        cause = ""
        for _ in range(_TRIES):  # one that is just being started may withstand
            try:
                with anyio.fail_after(_REMOVAL_SECONDS):
                    done = await capture(self._command(self.path, *self._removal, container))
            except ProcessLost as error:
                raise EnvironmentFailed(str(error)) from error
            except TimeoutError:
                cause = f"it took longer than {_REMOVAL_SECONDS:g} s"
                break
            if done.returncode == 0:
                return
            cause = done.stderr.decode(errors="replace").strip()
            await anyio.sleep(_PAUSE_BETWEEN)
        if await self.ran(container, folder):
            raise EnvironmentFailed(
                f"{self.name} cannot remove a container ({cause}), and its code may run on; remove "
                f"it with: {self.name} rm --force {container}"
            )

    def _command(self, *argv: str, stop_signal: Signals = SIGTERM) -> Command:
        return Command(
            argv=argv, cwd=Path("/"), env=_variables(), tag=new_tag(), stop_signal=stop_signal
        )


class Podman(Engine):
    """Podman 4 or newer, which needs no service."""

    name = "podman"

    def options(self, folder: Path, seconds: int) -> tuple[str, ...]:
        # The code has the streams themselves, and what is of all files holds for them.
        streams = ("--log-driver", "passthrough", "--http-proxy=false", "--read-only-tmpfs=false")
        files = ("--pidfile", str(folder / "code"), "--conmon-pidfile", str(folder / "watcher"))
        return ("--rm", *streams, *files, "--timeout", str(seconds), "--user", "0:0")

    def mount_memory(self, path: str, options: str) -> tuple[str, str]:
        return super().mount_memory(path, f"{options},notmpcopyup")

    def has_started(self, container: str, folder: Path) -> bool:
        return self.first_process(folder) is not None

    async def put_away(self, container: str, execution: Execution | None, folder: Path) -> None:
        code = execution.returncode if execution else None
        is_removed = code is not None and code >= 0 and code not in _OF_THE_ENGINE
        if not is_removed or not self.has_started(container, folder):
            await self._remove(container, folder)
        watcher = _number(folder / "watcher")
        with anyio.move_on_after(_PARTING_SECONDS):  # it is in the middle of putting things away
            while watcher and _runs(watcher):  # noqa: ASYNC110  # nobody tells when it has ended
                await anyio.sleep(_PAUSE)

    @property
    def _removal(self) -> tuple[str, ...]:
        return ("rm", "--force", "--ignore", "--time", "0")


class Docker(Engine):
    """Docker, whose service starts the containers."""

    name = "docker"
    server = "Server"

    def options(self, folder: Path, seconds: int) -> tuple[str, ...]:
        # It ends no container by itself: those of a killed session wait for the next start.
        return ("--user", f"{os.getuid()}:{os.getgid()}")

    def command(self, argv: Sequence[str], code: Code) -> Command:
        # It writes what the code prints.
        return super().command((limiter(), f"--fsize={code.output_bytes}", "--", *argv), code)

    def has_started(self, container: str, folder: Path) -> bool:
        inspected = self.output("inspect", "--format", "{{.State.StartedAt}}", container)
        when = inspected.stdout.strip()  # a line without anything where there is none
        return bool(when) and not when.startswith(_NEVER)

    async def put_away(self, container: str, execution: Execution | None, folder: Path) -> None:
        await self._remove(container, folder)


def engine_for(word: str, *, has_image: bool) -> Engine:
    """Find what runs the containers of the environment `word`. Raises `UsageError`."""
    if path := which(Podman.name):
        return Podman(path=path)
    path = which(Docker.name)
    if path is None:
        raise UsageError(
            "Neither podman nor docker is installed, which run containers; install podman and runc "
            "(or crun), or give --environment local"
        )
    if not has_image:
        raise UsageError(f"--environment {word}: docker runs images only; install podman")
    return Docker(path=path)


def reason(done: subprocess.CompletedProcess[str] | Execution) -> str:
    """Return what an engine says of its failure."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or line.startswith("docker: ")]
    if lines:
        return (errors or lines)[-1].strip()
    if isinstance(done, Execution) and done.stopped:
        return f"it reached its limit of {done.stopped}"
    return f"exit code {done.returncode}"


def _variables() -> dict[str, str]:
    inherited = tuple(name for name in os.environ if name.startswith(_INHERITED))
    return small_environment(os.environ, inherited)


def _runs(pid: int) -> bool:
    stat = procfs.stat(pid)
    return stat is not None and not stat.dead


def _number(path: Path) -> int | None:
    try:
        return int(read(path, _LONGEST_NUMBER))
    except (OSError, ValueError):
        return None
