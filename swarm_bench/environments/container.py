"""The environment `container:IMAGE` or `container:/root/folder`: one container for each program.

A container that is kept for many would start twice as fast, but what an earlier program left in it
runs beside the later ones, as the same user, and reads their files.
"""

import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import anyio

from swarm_bench.core.errors import EnvironmentFailed, UsageError
from swarm_bench.core.roles.execution import PYTHON, Code, Execution
from swarm_bench.core.session.experiment import Program
from swarm_bench.environments.engines import WAYS_OUT, Engine, engine_for, reason
from swarm_bench.environments.folders import find_installations, system_paths
from swarm_bench.environments.running import Watch, descriptors, execute, new_tag
from swarm_bench.runtime.ownership import OWNER, TAG, is_dead, temporary, this_owner
from swarm_bench.runtime.process import GRACE
from swarm_bench.runtime.processes import procfs
from swarm_bench.runtime.processes.procfs import Stat
from swarm_bench.runtime.processes.trees import FAMILY, end_strays

_TEMP_FOLDER = "/tmp"
"""The folder of code, in memory; it is gone with the code."""
_MEGABYTE = 1024 * 1024
_PROCESSES = 4096
"""Most processes of a user on the whole machine; those of the container are counted by its group.
Without our limit, engines set one that is not permitted within another container."""
_THREADS = 256
_SPARE_SECONDS = 10
"""Seconds by which the engine's own deadlines are later than ours: they are for sessions that were
killed."""
_RAISED, _NO_PROGRAM = 1, 127
"""Exit codes of a Python that could not import something, and of an engine without a Python."""
_KILLED = 137
"""Exit code of a first process that was killed: no process can do that within its container, and
the limits of time are later than ours, so its memory was used up."""
_IMAGE = re.compile(r"[A-Za-z0-9]\S*")


class Container:
    """Runs code in a container of its own, of an image or of a root folder."""

    name = "container"
    confines = True

    def __init__(self, argument: str) -> None:
        is_folder = argument.startswith(("/", ".", "~"))
        if not is_folder and not _IMAGE.fullmatch(argument):
            raise UsageError(
                f"--environment container:{argument} names no image and no root folder; write "
                "container:IMAGE or container:/root/folder"
            )
        self._folder = _folder_of(argument) if is_folder else None
        self._root = str(self._folder or argument)
        self.confinement = (
            f"a container of {self._root}: no network, no capabilities, nothing to write to but an "
            "own folder in memory"
        )

    def program(self) -> Program:
        """Find what runs containers, remove those that killed sessions left, and have it run
        Python in one. Raises `UsageError`."""
        engine = self._engine
        version = engine.version()
        if self._folder is None:
            engine.check_image(self._root)
        else:
            _check_folder(self._folder)
        engine.remove_if(OWNER, is_dead)
        with temporary() as folder:
            code, tag = Code(argv=(PYTHON, "-I", "-S", "-c", "import ctypes"), timeout=1), new_tag()
            trial = engine.try_run(self._argv(code, tag, folder)[1:], tag)
            if trial.returncode != 0:
                raise UsageError(self._unusable(trial))
        return Program(name=engine.name, version=version, path=engine.path)

    async def run(self, code: Code) -> Execution:
        """Run a command to its end or to a limit."""
        tag = new_tag()
        # As long as its tree is there, no end of another one takes what watches over the container.
        with temporary() as folder, FAMILY.hold_tree(tag) as tree:
            command = self._engine.command(self._argv(code, tag, folder), code)
            execution: Execution | None = None
            try:
                first = partial(self._engine.first_process, folder)
                execution = await execute(command, code, Watch(code, _Inside(tag, first)))
                await self._check_started(execution, tag, folder)
                if execution.returncode == _KILLED:
                    execution = replace(execution, returncode=None, stopped="memory")
            finally:
                with anyio.CancelScope(shield=True):
                    await self._engine.put_away(tag, execution, folder)
                    await end_strays(tree, GRACE)
            return execution

    @cached_property
    def _engine(self) -> Engine:
        return engine_for(f"{self.name}:{self._root}", has_image=self._folder is None)

    def _argv(self, code: Code, tag: str, folder: Path) -> list[str]:
        """Return the command line; in `folder` the engine leaves word of the container."""
        memory = code.memory_mb * _MEGABYTE
        seconds = int(code.guard) + _SPARE_SECONDS
        program = "python3" if code.argv[0] == PYTHON else code.argv[0]
        return [
            *(self._engine.path, "run", *self._engine.options(folder, seconds)),
            *("--name", tag, "--label", f"{OWNER}={this_owner()}"),
            *("--env", f"{OWNER}={this_owner()}", "--env", f"{TAG}={tag}"),
            *("--env", f"HOME={_TEMP_FOLDER}", "--env", "LANG=C.UTF-8", "--workdir", _TEMP_FOLDER),
            *("--interactive", "--pull", "never", "--network", "none", "--read-only"),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--security-opt", "label=disable"),  # else nothing of this machine can be shown
            *_limits(code),
            *self._engine.mount_memory(_TEMP_FOLDER, f"rw,exec,mode=1777,size={memory // 2}"),
            *self._mounts(code),
            *("--entrypoint", program),
            *([self._root] if self._folder is None else ["--rootfs", f"{self._root}:O"]),
            *code.argv[1:],
        ]

    def _mounts(self, code: Code) -> Iterator[str]:
        for host, inside in self._shown_folders.items():
            if inside != Path("/"):
                yield from _build_mount_arguments(host, inside)
        for path in self._hidden_paths:
            for host, inside in self._shown_folders.items():
                if path.is_relative_to(host):
                    yield from self._build_hiding_arguments(path, inside / path.relative_to(host))
        for path in code.visible:
            yield from _build_mount_arguments(path, path)

    def _build_hiding_arguments(self, path: Path, inside: Path) -> tuple[str, ...]:
        """Return the options that put an empty folder or file in the place of one."""
        if path.is_dir():
            return self._engine.mount_memory(str(inside), "ro,size=4k,mode=755")
        return _build_mount_arguments(Path(os.devnull), inside) if path.exists() else ()

    @cached_property
    def _shown_folders(self) -> dict[Path, Path]:
        """The folders of this machine that are there, by where they are: the root folder, and those
        of the system whose own folder in it is empty."""
        if self._folder is None:
            return {}
        root = self._folder
        empty = [path for path in system_paths() if _is_empty(root / path.relative_to("/"))]
        return {root: Path("/"), **{path.resolve(): path for path in empty}}

    @cached_property
    def _hidden_paths(self) -> list[Path]:
        """What has answers of data sets and could be read."""
        found_folders = {
            folder_path.resolve()
            for folder in self._shown_folders
            for folder_path in find_installations(folder)
        }
        return sorted(
            folder_path
            for folder_path in found_folders
            if any(folder_path.is_relative_to(mount) for mount in self._shown_folders)
        )

    async def _check_started(self, execution: Execution, tag: str, folder: Path) -> None:
        """Raise `EnvironmentFailed` where the code never ran."""
        if execution.returncode == 0:
            return
        if not await self._engine.ran(tag, folder):
            raise EnvironmentFailed(
                f"The environment {self.name}:{self._root} broke: {self._engine.name} started no "
                f"container ({reason(execution)}); see: swarm-bench doctor"
            )

    def _unusable(self, trial: subprocess.CompletedProcess[str]) -> str:
        description = reason(trial)
        is_missing = trial.returncode == _NO_PROGRAM and "python3" in description
        if is_missing or trial.returncode == _RAISED:
            has = "has no python3" if is_missing else "has no whole python3"
            return (
                f"{self._root} {has}, which checks what code does ({description}); give an image "
                "or a root folder with one"
            )
        return f"{self._engine.name} cannot run a container here ({description}); {WAYS_OUT}"


class _Inside:
    """Lists what runs in a container, whichever process started it."""

    def __init__(self, tag: str, first: Callable[[], int | None]) -> None:
        """`first` returns the number of its first process, if that is known."""
        self._tag, self._first, self._began = tag, first, procfs.now()
        self._processes = procfs.Processes()
        self._inside = set[tuple[int, int]]()
        """Identities of the container's processes so far: a process may empty its environment."""

    def __call__(self) -> list[Stat]:
        inside, first = dict[int, Stat](), self._first()
        for stat in self._processes.read_new(self._began).values():
            is_of_it = stat.identity in self._inside or stat.parent in inside
            if is_of_it or stat.pid == first or procfs.variable(stat.pid, TAG) == self._tag:
                inside[stat.pid] = stat
        self._inside = {stat.identity for stat in inside.values()}
        return [stat for stat in inside.values() if not stat.dead]


def _limits(code: Code) -> Iterator[str]:
    """Yield the options that limit code."""
    memory = code.memory_mb * _MEGABYTE
    _, processes = resource.getrlimit(resource.RLIMIT_NPROC)
    limits = {
        "nofile": descriptors(),
        "nproc": _PROCESSES if processes == resource.RLIM_INFINITY else min(_PROCESSES, processes),
        "data": memory,
        "cpu": 2 * int(code.timeout) + _SPARE_SECONDS,
        "fsize": code.output_bytes,
        "core": 0,
    }
    for name, limit in limits.items():
        yield from ("--ulimit", f"{name}={limit}:{limit}")
    # What is in its own folders counts too.
    yield from ("--memory", str(2 * memory), "--memory-swap", str(2 * memory))
    yield from ("--shm-size", str(memory // 8))
    yield from ("--pids-limit", str(code.processes + _THREADS))


def _build_mount_arguments(host: Path, inside: Path) -> tuple[str, str]:
    fields = ("type=bind", f"src={host}", f"dst={inside}", "readonly")
    quoted = ('"' + field.replace('"', '""') + '"' for field in fields)
    return "--mount", ",".join(quoted)


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and not any(path.iterdir())


def _folder_of(argument: str) -> Path:
    try:
        return Path(argument).expanduser().resolve()
    except (RuntimeError, ValueError) as error:
        raise UsageError(
            f"--environment container:{argument} names no folder ({error}); give its whole path"
        ) from error


def _check_folder(path: Path) -> None:
    if path == Path("/"):
        raise UsageError(
            "container:/ would show code the whole machine; give a folder with a system of its own"
        )
    if not path.is_dir():
        raise UsageError(f"{path} is no folder, which was to be the root of containers; make it")
