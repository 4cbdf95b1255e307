"""What runs code here, and root folders for containers."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from swarm_bench.environments.running import interpreter
from swarm_bench.runtime.ownership import OWNER

HAS_BWRAP = shutil.which("bwrap") is not None
if not HAS_BWRAP and os.environ.get("NEED_BWRAP"):
    raise RuntimeError("bubblewrap is not installed, and these tests are to run")
confined = pytest.mark.skipif(not HAS_BWRAP, reason="bubblewrap is not installed: NOT TESTED")
HAS_PODMAN = shutil.which("podman") is not None
if not HAS_PODMAN and os.environ.get("NEED_PODMAN"):
    raise RuntimeError("podman is not installed, and these tests are to run")
contained = pytest.mark.skipif(not HAS_PODMAN, reason="podman is not installed: NOT TESTED")
LOCAL = pytest.param("local", marks=confined)
CONTAINER = pytest.param("container", marks=contained)
_LINKED = ("bin", "sbin", "lib", "lib64")


def root_folder(path: Path) -> Path:
    """Make a root folder of empty folders: it has the programs of this machine's system."""
    for name in ("usr", *(it for it in _LINKED if Path("/", it).exists())):
        (path / name).mkdir(parents=True, exist_ok=True)
    return path


def own_root_folder(path: Path) -> Path:
    """Make a root folder whose `/usr` is its own: there is a shell, and nothing else."""
    _copy(path, "/bin/sh", "/bin/cat")
    for name in _LINKED:
        if (path / "usr" / name).exists():
            (path / name).symlink_to(f"usr/{name}")
    return path


def root_folder_with_python(path: Path) -> Path:
    """Make a root folder whose `/usr` is its own, with a shell and this Python."""
    python, library = interpreter(), Path(sysconfig.get_path("stdlib"))
    out = shutil.ignore_patterns("__pycache__", "test", "tests", "site-packages", "config-*")
    shutil.copytree(library, path / library.relative_to("/"), ignore=out, dirs_exist_ok=True)
    _copy(path, str(python), *map(str, library.glob("lib-dynload/*.so")))
    own_root_folder(path)
    (path / "usr/bin").mkdir(exist_ok=True)
    (path / "usr/bin/python3").symlink_to(python)
    return path


def _copy(root: Path, *programs: str) -> None:
    """Copy programs with their libraries; what lies in `/bin` or `/lib` goes below `/usr`."""
    for file in (*programs, *_libraries(*programs)):
        top = Path(file).parts[1]
        copy = root / ("usr" if top in _LINKED else "") / Path(file).relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)


def _libraries(*programs: str) -> set[str]:
    listed = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    return {word for word in listed.split() if word.startswith("/") and not word.endswith(":")}


def containers(owner: str) -> list[str]:
    """List the containers of an orchestrator by name."""
    label = f"label={OWNER}={owner}"
    argv = ["podman", "ps", "--all", "--format", "{{.Names}}", "--filter", label]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
