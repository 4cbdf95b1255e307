"""Which commit a folder is a checkout of, and why it cannot be one. What a partial clone lacks on
purpose it fetches when it is asked for, which we never let git do behind the user's back."""

import os
from collections.abc import Iterable
from pathlib import Path

import anyio

from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.objects import git_output
from swarm_bench.runtime.workspaces.omissions import MAX_NAMED
from swarm_bench.runtime.workspaces.stores import is_store

_ADVICE = "give a repository, or a folder inside one, with --repo PATH"
FETCHING = "'git fetch --refetch --no-filter' there brings the rest"
"""Advice for the user. Without the last word git asks for as little as before."""
_SETTINGS = r"^(extensions\.partialclone|remote\..*\.(promisor|partialclonefilter))$"


async def commit_of(repo: Path) -> str | None:
    """Find the commit that `repo` is a checkout of; `None` for a plain folder.

    A folder of a checkout that is not part of its commit (an installed package, say) is plain.
    Raises `UsageError` for what is not copied, as far as that shows at once.
    """
    repo = repo.resolve()
    if not repo.exists():
        raise UsageError(f"{repo} does not exist; give the repository with --repo PATH")
    if not repo.is_dir():
        raise UsageError(f"{repo} is a file; give the folder of a repository with --repo PATH")
    head = await try_git("rev-parse", "--verify", "HEAD^{commit}", cwd=repo)
    inside = await try_git("rev-parse", "--verify", "HEAD:./", cwd=repo)
    if head.returncode == 0 and inside.returncode == 0:
        return head.stdout.decode().strip()
    await _refuse_without_work_tree(repo)
    if head.returncode != 0 and (repo / ".git").exists():
        await _refuse_broken(repo)
        raise UsageError(f"{repo} is a git repository without a commit; commit its files first")
    if head.returncode == 0:
        tree = await try_git("cat-file", "-e", "HEAD^{tree}", cwd=repo)
        if tree.returncode != 0:
            await anyio.to_thread.run_sync(refuse_missing_objects, repo, ["HEAD"])
    _refuse_store(repo)
    return None


async def _refuse_without_work_tree(repo: Path) -> None:
    """Raise `UsageError` where git has a repository and no files: a copy of the folder would have
    all of its history."""
    if await _answer(repo, "--is-inside-work-tree") != b"false":
        return
    lines = (await try_git("worktree", "list", "--porcelain", cwd=repo)).stdout.splitlines()
    paths = [Path(os.fsdecode(line[9:])) for line in lines if line.startswith(b"worktree ")]
    existing = [path for path in paths if path.is_dir()]  # others were removed
    trees = [
        str(path) for path in existing if await _answer(path, "--is-inside-work-tree") == b"true"
    ]
    is_bare = await _answer(repo, "--is-bare-repository") == b"true"
    problem = "has a bare git repository" if is_bare else "is no work tree of its git repository"
    remaining = f" and {len(trees) - MAX_NAMED} more" if len(trees) > MAX_NAMED else ""
    names = f": {', '.join(trees[:MAX_NAMED])}{remaining}" if trees else ""
    advice = "one of its worktrees" if trees else "a checkout of it"
    raise UsageError(
        f"{repo} {problem}, and agents would get its history; give {advice} with --repo PATH{names}"
    )


async def _answer(repo: Path, question: str) -> bytes:
    return (await try_git("rev-parse", question, cwd=repo)).stdout.strip()


def _refuse_store(repo: Path) -> None:
    """Raise `UsageError` for a plain folder that is never copied."""
    if repo == Path("/"):
        raise UsageError(f"{repo} is the whole file system and not a git checkout; {_ADVICE}")
    if is_store(repo, [path.name for path in repo.iterdir()]):
        raise UsageError(
            f"{repo} is where version control keeps history; give a checkout of it with --repo PATH"
        )


async def _refuse_broken(repo: Path) -> None:
    """Raise `UsageError` for a repository, or a commit, that git cannot read."""
    head = await try_git("rev-parse", "--verify", "--quiet", "HEAD", cwd=repo)
    arguments = ("rev-list", "-1", "HEAD") if head.returncode == 0 else ("rev-parse", "--git-dir")
    done = await try_git(*arguments, cwd=repo)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        reason = "".join(lines).removeprefix("fatal: ")
        raise UsageError(f"git cannot read the repository {repo}: {reason}; repair it")


def count_missing_objects(
    repository: Path, commits: Iterable[str], *, history: bool = False
) -> int:
    """Count the files and folders of commits, or of their whole `history`, that are not there; 0
    for what is neither a partial clone nor borrows from another one."""
    if not _is_partial(repository):
        return 0
    options = ["--objects", "--missing=print", "--ignore-missing"]  # whole commits are named first
    options += [] if history else ["--no-walk"]
    listing = git_output(repository, "rev-list", *options, *dict.fromkeys(commits), "--")
    return sum(line.startswith(b"?") for line in (listing or b"").splitlines())


def refuse_missing_objects(repository: Path, commits: Iterable[str]) -> None:
    """Raise `UsageError` when a partial clone does not have all that these commits have."""
    if number := count_missing_objects(repository, commits):
        noun = "file or folder" if number == 1 else "files or folders"
        raise UsageError(
            f"{repository} is a partial clone, and lacks {number:,} {noun} of the commits that "
            f"are asked about; {FETCHING}"
        )


def _is_partial(repository: Path) -> bool:
    if git_output(repository, "config", "--get-regexp", _SETTINGS):
        return True
    path = git_output(repository, "rev-parse", "--git-path", "objects/info/alternates") or b""
    return (repository / path.decode("utf-8", "surrogateescape").removesuffix("\n")).is_file()
