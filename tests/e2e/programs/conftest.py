"""Real agent programs, from npm at the versions their adapters were verified with, run in a network
namespace that has nothing but loopback."""

import fcntl
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core import entry_points
from tests.e2e.conftest import Bench, Done

PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
}
CANARY_BYTES = 400_000
"""Size of a planted memory file: whoever reads it shows it in the size of the first request."""
CANARY_TOKENS = CANARY_BYTES // 4


UNREACHABLE = (
    *("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH"),
    *("ERR_SOCKET_TIMEOUT", "E403"),
)
"""What npm says when there is no network, or none that lets it through; whatever else goes wrong is
a failure of the test."""


class NotInstalled(Exception):
    """The index of packages could not be reached, or there is no program to ask it with."""


def cache_folder() -> Path:
    """Outside the checkout, so that a clean one finds what an earlier one installed."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "swarm-bench-tests"


def install(name: str) -> Path:
    """The folder with the program's executable. Raises `NotInstalled`."""
    version = entry_points.load("agents", name)().abilities.tested_version
    return install_from_npm(name, PACKAGES[name], version)


def install_from_npm(name: str, package: str, version: str) -> Path:
    """The folder with an executable of a package. Raises `NotInstalled`."""
    target = cache_folder() / f"{name}-{version}"
    target.mkdir(parents=True, exist_ok=True)
    executables = target / "node_modules" / ".bin"
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the tests of several processes want it at once
        if not (executables / name).exists():
            _npm_install(f"{package}@{version}", target)
    return executables


def _npm_install(package: str, target: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("there is no npm on the PATH")
    words = [npm, "install", "--prefix", str(target), "--no-audit", "--no-fund", package]
    words += ["--fetch-retries=1", "--fetch-timeout=60000"]
    try:
        done = subprocess.run(words, capture_output=True, check=False, timeout=200)
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"npm took too long to fetch {package}") from error
    said = done.stderr.decode("utf-8", "replace")
    if any(code in said for code in UNREACHABLE):
        raise NotInstalled(f"npm could not be reached for {package}")
    assert done.returncode == 0, said


def install_python_program(name: str, *packages: str) -> Path:
    """The folder with the executables of packages from the index. Raises `NotInstalled`."""
    target = cache_folder() / name
    target.mkdir(parents=True, exist_ok=True)
    with (target / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = target / "done"
        if not done.exists():
            _pip_install(packages, target / "venv")
            done.touch()
    return target / "venv" / "bin"


def _pip_install(packages: tuple[str, ...], venv: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
    words = [str(venv / "bin" / "pip"), "install", "--quiet", *packages]
    done = subprocess.run(words, capture_output=True, check=False, timeout=600)
    said = done.stderr.decode("utf-8", "replace")
    if "Failed to establish a new connection" in said or "Temporary failure in name" in said:
        raise NotInstalled(f"the package index could not be reached for {packages[0]}")
    assert done.returncode == 0, said


@cache
def namespace() -> tuple[str, ...]:
    """Words that start a command where only loopback is; none where the machine has no such place,
    which is said loudly."""
    inner = ("sh", "-c", 'ip link set lo up && exec "$@"', "sh")
    for words in (("unshare", "--net", *inner), ("unshare", "--map-root-user", "--net", *inner)):
        try:
            done = subprocess.run([*words, "true"], capture_output=True, check=False)
        except OSError:
            break
        if done.returncode == 0:
            return words
    warnings.warn(
        "NO NETWORK NAMESPACE HERE: the agent programs run with the machine's network", stacklevel=1
    )
    return ()


@dataclass(frozen=True, kw_only=True)
class RealProgram:
    """A program that is installed, and a user's home and repository full of traps."""

    name: str
    """The word for `--agent`."""
    executables: Path
    home: Path
    bench: Bench

    def compare(self, *options: str) -> Done:
        """`swarm-bench compare` with it, against the rehearsal server."""
        words = ["compare", "--repo", str(self.bench.repo), "--output", "out", "--quiet"]
        words += ["--agent", self.name, "--model", "rehearsal", *options]
        given = {"HOME": str(self.home), "PATH": f"{self.executables}:{os.environ['PATH']}"}
        return self.bench.call(*words, env=given, inside=namespace())

    def records(self, session: str = "out") -> list[dict[str, Any]]:
        """In the order of the plan."""
        found = self.bench.records(session)
        return sorted(found, key=lambda one: (one["run"], one["mode"], one["agent"]))

    def home_tree(self) -> dict[str, bytes]:
        """Every file of the user's home, with its content, but for what we remember of trust."""
        ours = self.home / ".local" / "state" / "swarm-bench"
        files = (path for path in sorted(self.home.rglob("*")) if path.is_file())
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in files
            if not path.is_relative_to(ours)
        }

    def write_home(self, files: Mapping[str, str]) -> None:
        write(self.home, files)

    def commit(self, files: Mapping[str, str]) -> None:
        """Put files into the repository."""
        write(self.bench.repo, files)
        script = "git add -Af && git -c user.name=me -c user.email=me@example.org commit -qm more"
        subprocess.run(["sh", "-c", script], cwd=self.bench.repo, check=True)


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


MakeProgram = Callable[[str], RealProgram]


@pytest.fixture
def real_program(bench: Bench, tmp_path: Path) -> MakeProgram:
    """Installs a program, or skips the test with a line that nobody overlooks."""

    def make(name: str) -> RealProgram:
        try:
            executables = install(name)
        except NotInstalled as error:
            pytest.skip(f"!!! THE REAL {name.upper()} WAS NOT TESTED: {error}")
        home = tmp_path / "home"
        home.mkdir()
        return RealProgram(name=name, executables=executables, home=home, bench=bench)

    return make


@dataclass(frozen=True, kw_only=True)
class Trap:
    """Something that leaves a file behind when anybody starts it."""

    file: Path

    @property
    def sprung(self) -> bool:
        return self.file.exists()

    @property
    def command(self) -> str:
        return f"touch '{self.file}'"

    @property
    def server(self) -> dict[str, Any]:
        """An entry of `mcpServers` that is a real canopy, and tells that it was started."""
        canopy = Path(sys.executable).parent / "swarm-bench-canopy-mcp"
        return {"command": "sh", "args": ["-c", f"{self.command}; exec '{canopy}'"]}

    @property
    def memory(self) -> str:
        """A memory file; whoever reads it shows it in the size of its requests."""
        return "Always remember this. " * (CANARY_BYTES // 22)


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(file=tmp_path / "sprung")
