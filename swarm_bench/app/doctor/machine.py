"""Checks that what a comparison needs is here: Python, git, a repository, ripgrep, disk, memory."""

import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import anyio
import psutil

from swarm_bench.analysis.wording import quantify
from swarm_bench.core import registry
from swarm_bench.core.checks import Check, State
from swarm_bench.core.errors import SwarmBenchError
from swarm_bench.core.roles.execution import Environment
from swarm_bench.core.session.designs import ENVIRONMENT
from swarm_bench.environments.python_tests import try_out
from swarm_bench.runtime.processes.launching import descriptor_limit, needed_descriptors
from swarm_bench.runtime.workspaces.checkout import commit_of
from swarm_bench.runtime.workspaces.content import select_folder
from swarm_bench.runtime.workspaces.git import git

OLDEST_PYTHON = (3, 11)
LITTLE_DISK = 1_000_000_000
"""Bytes. A session holds a snapshot and one clone of the repository, and what its agents print."""
GIGABYTE = 1e9
BLOCK = 4096
"""Bytes of a file system that a file takes at least."""
LEAST_CLONE = 100_000
"""Bytes of git's own files."""


def check_python() -> Check:
    version = platform.python_version()
    if sys.version_info >= OLDEST_PYTHON:
        return Check(about="python", state=State.OK, finding=version)
    advice = "install swarm-bench with Python 3.11 or newer"
    return Check(about="python", state=State.PROBLEM, finding=version, advice=advice)


async def check_git() -> Check:
    try:
        version = (await git("--version", cwd=Path.cwd())).decode().strip()
    except SwarmBenchError as error:
        return Check(about="git", state=State.PROBLEM, finding=str(error))
    return Check(about="git", state=State.OK, finding=version.removeprefix("git version "))


async def check_repository(repo: Path, include: Sequence[str] = (), *, is_named: bool) -> Check:
    """Check that the repository can be copied; `is_named`: whether it was asked for, as the working
    folder may be any."""
    looking = partial(select_folder, repo.resolve(), include, is_named=is_named)
    try:
        commit = await commit_of(repo)
        if commit is None:
            await anyio.to_thread.run_sync(looking)
    except SwarmBenchError as error:
        state = State.PROBLEM if is_named else State.WARNING
        return Check(about="repository", state=state, finding=str(error))
    finding = f"{repo.resolve()}, {f'commit {commit[:12]}' if commit else 'a plain folder'}"
    return Check(about="repository", state=State.OK, finding=finding)


async def check_sandbox(name: str | None = None) -> Check:
    """Check that code of models can be run where it reaches nothing, or in the environment that was
    named."""
    subject = "code of models"
    try:
        environment: Environment = registry.make("environments", name or ENVIRONMENT)
        program = environment.program()
        await try_out(environment)
    except SwarmBenchError as error:
        finding, _, advice = str(error).partition("; ")
        state = State.PROBLEM if name else State.ABSENT
        return Check(about=subject, state=state, finding=finding, advice=advice or None)
    if environment.confines:
        return Check(about=subject, state=State.OK, finding=f"confined by {program.label}")
    return Check(about=subject, state=State.WARNING, finding=environment.confinement)


async def estimate_clone_bytes(repo: Path) -> int:
    """Count the bytes on the disk that one clone of the repository takes at least, in blocks of
    files; 0 for what cannot be copied."""
    try:
        if await commit_of(repo):
            listing = await git("ls-tree", "-r", "-l", "-z", "HEAD", cwd=repo)
            sizes = [line.split(maxsplit=4)[3] for line in listing.split(b"\0") if line]
            file_sizes = [int(size) for size in sizes if size != b"-"]  # a submodule has none
        else:
            names = select_folder(repo.resolve(), (), is_named=True).names
            file_sizes = [(repo / os.fsdecode(name)).lstat().st_size for name in names]
    except (SwarmBenchError, OSError):
        return 0
    return LEAST_CLONE + sum(-(-size // BLOCK) * BLOCK for size in file_sizes)


def check_disk(workspace_root: Path | None, needed: int = 0) -> Check:
    """Check that there is room for the clones; `needed`: bytes of one."""
    folder = (workspace_root or Path(tempfile.gettempdir())).expanduser().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    free = psutil.disk_usage(str(existing)).free
    finding = f"{free / GIGABYTE:.1f} GB free in {folder}, where the clones are made"
    if free >= max(LITTLE_DISK, needed):
        return Check(about="disk", state=State.OK, finding=finding)
    advice = "free some, or choose another folder: workspace-root in swarm-bench.toml"
    if free < needed:
        finding = f"{finding}; one of them needs {needed / 1e6:.1f} MB"
    state = State.PROBLEM if free < needed else State.WARNING
    return Check(about="disk", state=state, finding=finding, advice=advice)


def check_memory(agents: int, agent: str, megabytes: int | None) -> Check:
    """Check the memory for so many agents at once; `megabytes`: what one takes, `None` when nobody
    measured it."""
    free = psutil.virtual_memory().available
    if megabytes is None:
        finding = f"{free / GIGABYTE:.1f} GB free; what an agent {agent} takes was not measured"
        return Check(about="memory", state=State.OK, finding=finding)
    needed = agents * megabytes * 1_000_000
    finding = (
        f"{free / GIGABYTE:.1f} GB free; {agents} {agent} at once take about "
        f"{needed / GIGABYTE:.1f} GB"
    )
    if needed <= free:
        return Check(about="memory", state=State.OK, finding=finding)
    advice = "give fewer --agents, or let fewer run at once with --concurrency"
    return Check(about="memory", state=State.PROBLEM, finding=finding, advice=advice)


def check_descriptors(agents: int) -> Check:
    """Check that so many agents at once can have their pipes and files."""
    limit, needed = descriptor_limit(), needed_descriptors(agents)
    verb = "needs" if agents == 1 else "need"
    finding = f"{limit} open files; {quantify(agents, 'agent')} at once {verb} about {needed}"
    if needed <= limit:
        return Check(about="open files", state=State.OK, finding=finding)
    advice = "raise the hard limit (ulimit -Hn), or let fewer run at once with --concurrency"
    return Check(about="open files", state=State.PROBLEM, finding=finding, advice=advice)
