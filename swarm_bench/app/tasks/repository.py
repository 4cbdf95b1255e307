"""The repository that tasks are made from, or compared with."""

from pathlib import Path

import anyio

from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.workspaces.checkout import commit_of
from swarm_bench.runtime.workspaces.git import try_git


def find_commit(repo: Path, revision: str | None) -> str:
    """Return the whole hash of a commit; without a revision that of the checkout. Raises
    `UsageError` for a folder without commits, and for a revision that is not there."""
    return anyio.run(_find_commit, repo, revision)


def is_shallow(repo: Path) -> bool:
    """Tell whether the history of a clone ends before that of the repository it was made from."""
    return anyio.run(_is_shallow, repo)


async def _is_shallow(repo: Path) -> bool:
    done = await try_git("rev-parse", "--is-shallow-repository", cwd=repo)
    return done.stdout.strip() == b"true"


async def _find_commit(repo: Path, revision: str | None) -> str:
    head = await commit_of(repo)
    if head is None:
        raise UsageError(
            f"{repo} is no git checkout, and answers are looked for in commits; 'git init' it and "
            "commit its files, or give another folder with --repo PATH"
        )
    if revision is None:
        return head
    done = await try_git(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", cwd=repo
    )
    if done.returncode != 0:
        raise UsageError(
            f"{repo} has no commit {revision}; give a hash, a branch or a tag of it, or fetch it "
            "first"
        )
    return done.stdout.decode().strip()
