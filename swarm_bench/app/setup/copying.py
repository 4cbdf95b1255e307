"""Copies the repository that was asked for, and warns of what may not be meant."""

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from swarm_bench.analysis.wording import list_few
from swarm_bench.app.setup.folders import Warn
from swarm_bench.config.compare_options import REPOSITORY
from swarm_bench.config.layers import Resolved
from swarm_bench.config.shipped import SUITES
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Repository, Task
from swarm_bench.core.session.retrieving import AnyExperiment
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.datasets.exposure.scanning import LARGEST, KeySearch, Tell, look_through
from swarm_bench.runtime.environment import home_folder
from swarm_bench.runtime.workspaces.blobs import find_trees
from swarm_bench.runtime.workspaces.checkout import commit_of, refuse_missing_objects
from swarm_bench.runtime.workspaces.content import FOLDER_BYTES, FOLDER_FILES
from swarm_bench.runtime.workspaces.git import git
from swarm_bench.runtime.workspaces.omissions import MAX_STORED, decode_path, describe_omission
from swarm_bench.runtime.workspaces.private_copy import paths_of
from swarm_bench.runtime.workspaces.workspace import Snapshot, remove_files, take_snapshot


async def take_session_snapshot(
    resolved: Resolved, repo: Path, target: Path, warn: Warn
) -> Snapshot:
    """Take the snapshot of `repo` that the options ask for. Raises as `take_snapshot` does."""
    if (home := home_folder()) and repo.resolve() == home.resolve():
        warn(f"{repo.resolve()} is your home folder; agents see all of it that is not omitted")
    snapshot = await take_snapshot(
        repo,
        target,
        dirty=resolved.settings.dirty,
        include=await _choose_patterns(resolved, repo, warn),
        is_named=resolved.sources["repo"] != "default",
        tasks=_find_task_file(resolved),
    )
    copy = snapshot.repository
    if _is_large(copy):
        warn(
            f"{copy.path} is not a git checkout and has {copy.files:,} files of "
            f"{copy.bytes / 1e9:.1f} GB, which every clone has too; 'git init' and commit what "
            "agents should see to omit the rest"
        )
    return snapshot


def _find_task_file(resolved: Resolved) -> Path | None:
    """Return the file that the tasks are in; `None` where they are made, or it is gone: a session
    that is continued holds its own."""
    tasks = resolved.settings.tasks
    try:
        return None if tasks == REPOSITORY else SUITES.find(tasks)
    except UsageError:
        return None


async def remove_answers(
    snapshot: Snapshot, previous: AnyExperiment | None, tasks: Iterable[Task], tell: Tell
) -> Snapshot:
    """Take the files out of the snapshot that hold answer keys of the tasks, those of the session
    that is continued too; they are in no copy of another commit either. Raises `UsageError` when
    nothing else is left."""
    all_tasks, repository = [*(previous.tasks if previous else ()), *tasks], snapshot.repository
    finder = Finder(all_tasks)
    keys = KeySearch()
    if finder:
        commits = {task.commit for task in all_tasks if task.commit} - {repository.clean_commit}
        looking = partial(_search_trees, snapshot, finder, commits, tell)
        keys = await anyio.to_thread.run_sync(looking, abandon_on_cancel=True)
    hashes = frozenset(blob.hash for blob in keys.exposed)
    paths = {os.fsencode(blob.path) for blob in keys.exposed}
    if hashes:
        paths.update(await paths_of(snapshot.path, repository.tree, hashes))
        snapshot = await remove_files(snapshot, hashes)
    unread = [os.fsencode(blob.path) for blob in keys.unread]
    size = f"file of more than {LARGEST // 1_000_000} MB"
    unread_sentences = describe_omission(
        unread, size, was="not looked through for answer keys"
    ).sentences
    update = {
        "answers": tuple(sorted(map(decode_path, paths)))[:MAX_STORED],
        "left_out": (*repository.left_out, *unread_sentences),
    }
    repository = snapshot.repository.model_copy(update=update)
    return replace(snapshot, repository=repository)


def _search_trees(
    snapshot: Snapshot, finder: Finder, commits: Collection[str], tell: Tell
) -> KeySearch:
    repository = snapshot.repository
    places: list[tuple[Path, Collection[str]]] = [(snapshot.path, [repository.tree])]
    if commits and repository.commit is not None:
        original = Path(repository.path)
        refuse_missing_objects(original, commits)
        places.append((original, set(find_trees(original, commits).values())))
    return look_through(finder, places, tell)


async def check_commits(repository: Repository, tasks: Iterable[Task]) -> None:
    """Raise `UsageError` for tasks that are asked on a commit that the repository does not have."""
    pinned = [task for task in tasks if task.commit is not None]
    if not pinned:
        return
    if repository.commit is None:
        raise UsageError(
            f"{repository.path} is no checkout of git, and the task {pinned[0].id!r} is asked on a "
            "commit; give the repository of the tasks with --repo PATH"
        )
    hashes = sorted({task.commit for task in pinned if task.commit})
    await anyio.to_thread.run_sync(refuse_missing_objects, Path(repository.path), hashes)
    feed = "".join(f"{task.commit}:./\n" for task in pinned).encode()
    printed = await git("cat-file", "--batch-check", cwd=Path(repository.path), feed=feed)
    lines = zip(pinned, printed.splitlines(), strict=True)
    missing = [task for task, line in lines if b" tree " not in line]
    if missing:
        commits = dict.fromkeys(str(task.commit)[:12] for task in missing)
        ids = dict.fromkeys(task.id for task in missing)  # each is asked in every mode
        raise UsageError(
            f"{repository.path} does not have {list_few(commits)}, on which there are tasks "
            f"({list_few(ids)}); fetch the whole history (git fetch --unshallow), or omit these "
            "tasks"
        )


async def _choose_patterns(resolved: Resolved, repo: Path, warn: Warn) -> Sequence[str]:
    """Return the patterns, unless they are settings for other folders or calls and do nothing."""
    settings = resolved.settings
    if not settings.include or settings.dirty or resolved.is_typed("include"):
        return settings.include
    if await commit_of(repo) is None:
        return settings.include
    warn(f"'include' does nothing here: of {repo.resolve()} only its commit is copied")
    return ()


def _is_large(copy: Repository) -> bool:
    return copy.kind == "folder" and (copy.files > FOLDER_FILES or copy.bytes > FOLDER_BYTES)
