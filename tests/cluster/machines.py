"""Machines on this one: each has its own network, pids, host name, `/tmp` and `/dev/shm`.

A machine is the first process of its namespaces. They have no names, and the bridge is in the
namespace of the first machine: two runs cannot collide, nothing of this system's network changes,
and all of a machine, with every process in it, goes when that process ends. It ends when its input
does, so that machines do not survive the tests even when these are killed.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NETWORK = "10.77.0"
"""Nobody outside the namespaces can reach it, and from inside nothing else can be reached."""
HOME = "/tmp/home"
_BRIDGE = "bridge0"
_LIMIT = 20
_ENTERING = Path(__file__).with_name("entering.py")
_SET_UP = """
set -e
hostname "$1"; folder="$2"; python="$3"; first="$4"; shift 4
mkdir -p "$folder/home"
for path in "$@"; do
    mkdir -p "$folder/${path#/tmp/}"
    mount --bind "$path" "$folder/${path#/tmp/}"
done
mount --rbind "$folder" /tmp
mount --bind /tmp/hosts /etc/hosts
mount --bind /dev/null /etc/resolv.conf
mount -t tmpfs -o size=512m tmpfs /dev/shm
ip link set lo up
cd /
echo ready
exec "$python" -c "$first"
"""
_FIRST = """
import os, select
while not select.select([0], [], [], 0.1)[0]:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""
"""Reaps what nobody else waits for, until its input ends."""
_NAMESPACES = ("--net", "--mount", "--uts", "--ipc", "--pid")


class _Command(subprocess.Popen[str]):
    """A command that ends with its block, also where that fails."""

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, *error)


@dataclass(frozen=True, kw_only=True)
class Process:
    pid: int
    """In the machine: what the process itself takes for its pid."""
    command: tuple[str, ...]


@dataclass(kw_only=True)
class Machine:
    name: str
    """Its host name, which every machine can resolve."""
    ip: str
    tmp: Path
    """What is `/tmp` inside; its home is `home` in it."""
    first_pid: int
    """In the namespace of the tests."""
    environment: dict[str, str] = field(default_factory=dict)
    """Of every command."""

    def run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str | None] | None = None,
        cwd: Path | str = HOME,
        timeout: float = 60,
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command there. `env` is added to `environment`; a variable that is `None` is
        removed. Raises `subprocess.TimeoutExpired` after it killed the command."""
        return subprocess.run(
            self._entered(argv, cwd),
            env=self._variables(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def open(
        self,
        argv: Sequence[str],
        env: Mapping[str, str | None] | None = None,
        cwd: Path | str = HOME,
    ) -> "subprocess.Popen[str]":
        """Start a command there. Signals to it reach the command, SIGKILL too."""
        return _Command(
            self._entered(argv, cwd),
            env=self._variables(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _entered(self, argv: Sequence[str], cwd: Path | str) -> list[str]:
        return [sys.executable, "-I", str(_ENTERING), str(self.first_pid), str(cwd), *argv]

    def _variables(self, env: Mapping[str, str | None] | None) -> dict[str, str]:
        merged = {**self.environment, **(env or {})}
        return {name: value for name, value in merged.items() if value is not None}

    def processes(self) -> list[Process]:
        """List what runs there, in namespaces of its own too, but for the first process."""
        listed = []
        for path in self._proc.glob("[0-9]*"):
            try:
                command = tuple((path / "cmdline").read_text(errors="replace").split("\0"))
            except OSError:
                continue
            if any(command) and path.name != "1":
                listed.append(Process(pid=int(path.name), command=command[:-1]))
        return sorted(listed, key=lambda it: it.pid)

    def kill(self, process: Process, number: int = signal.SIGKILL) -> None:
        """Send a signal to a process, if it is there yet."""
        try:
            descriptor = os.open(self._proc / str(process.pid), os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return
        try:
            signal.pidfd_send_signal(descriptor, number)
        except ProcessLookupError:
            pass
        finally:
            os.close(descriptor)

    @property
    def _proc(self) -> Path:
        return Path(f"/proc/{self.first_pid}/root/proc")

    def namespaces(self) -> set[str]:
        """Return its namespaces as `/proc` of this system names them."""
        folder = Path(f"/proc/{self.first_pid}/ns")
        return {str((folder / name).readlink()) for name in ("net", "pid", "mnt")}


@contextmanager
def machine(
    name: str, number: int, folder: Path, visible: Sequence[Path] = ()
) -> Iterator[Machine]:
    """Have a machine for the block; `visible` are folders of this system that it sees even if they
    are below `/tmp`, as it does those of Python and of this repository."""
    tmp = folder / name
    tmp.mkdir()
    (tmp / "hosts").write_text("127.0.0.1 localhost\n")
    repository = Path(__file__).parents[2]
    paths = {Path(sys.prefix), Path(sys.base_prefix), repository, *visible}
    hidden = sorted(str(path) for path in paths if path.is_relative_to("/tmp"))
    arguments = [name, str(tmp), sys.executable, _FIRST, *hidden]
    argv = ["unshare", *_NAMESPACES, "--fork", "--kill-child", "--mount-proc"]
    with subprocess.Popen(
        [*argv, "sh", "-c", _SET_UP, "sh", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            if (line := process.stdout.readline()) != "ready\n":
                raise RuntimeError(f"{name} does not come up: {line}{process.stdout.read()}")
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            try:
                yield Machine(name=name, ip=f"{NETWORK}.{number}", tmp=tmp, first_pid=int(children))
            finally:
                # Its end is that of all its processes, and `unshare` waits for it.
                os.kill(int(children), signal.SIGKILL)
                process.wait(_LIMIT)
        finally:
            process.kill()


def connect(first: Machine, others: Sequence[Machine]) -> None:
    """Connect machines by a bridge in the first, and tell all of them their names."""
    ip(first, "link", "add", _BRIDGE, "type", "bridge")
    ip(first, "address", "add", f"{first.ip}/24", "dev", _BRIDGE)
    ip(first, "link", "set", _BRIDGE, "up")
    for it in others:
        peer = ("peer", "name", "eth0", "netns", str(it.first_pid))
        ip(first, "link", "add", it.name, "type", "veth", *peer)
        ip(first, "link", "set", it.name, "master", _BRIDGE, "up")
        ip(it, "address", "add", f"{it.ip}/24", "dev", "eth0")
        ip(it, "link", "set", "eth0", "up")
    hosts = "".join(f"{it.ip} {it.name}\n" for it in (first, *others))
    for it in (first, *others):
        with (it.tmp / "hosts").open("a") as file:
            file.write(hosts)


def ip(machine: Machine, *words: str) -> None:
    """Call `ip` in the network of a machine."""
    argv = ["nsenter", f"--net=/proc/{machine.first_pid}/ns/net", "ip", *words]
    subprocess.run(argv, check=True, timeout=_LIMIT)


def processes_in(namespaces: set[str]) -> list[int]:
    """List the processes of this system that are in any of some namespaces."""
    listed = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            own = {str((path / "ns" / name).readlink()) for name in ("net", "pid", "mnt")}
        except OSError:
            continue
        if own & namespaces:
            listed.append(int(path.name))
    return listed


def what_is_missing() -> str | None:
    """Say what a machine cannot be had for, or nothing."""
    if missing := [it for it in ("ip", "nsenter", "unshare") if shutil.which(it) is None]:
        return f"{' and '.join(missing)} not installed"
    if os.geteuid() != 0:
        return "namespaces need root"
    try:
        with tempfile.TemporaryDirectory() as folder, machine("probe", 1, Path(folder)) as it:
            ip(it, "link", "add", _BRIDGE, "type", "bridge")
            done = it.run(["true"], {"PATH": os.environ["PATH"]}, timeout=_LIMIT)
    except (RuntimeError, subprocess.SubprocessError) as error:
        return f"no namespaces: {error}"
    return f"no way into namespaces: {done.stderr}" if done.returncode else None
