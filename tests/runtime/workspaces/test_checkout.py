"""Which folders are checkouts, and which are refused: their git repository has no files there."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.workspaces.checkout import commit_of
from swarm_bench.runtime.workspaces.workspace import clone, take_snapshot
from tests.builders.golden import Sentences
from tests.builders.repositories import commit, git, start

pytestmark = pytest.mark.anyio


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    origin = start(tmp_path / "origin")
    commit(origin, "one", {"src/a.py": "x = 1\n"})
    commit(origin, "two", {"src/a.py": "x = 2\n"})
    return origin


def with_gitfile(project: Path, origin: Path) -> None:
    git(origin, "clone", "-q", "--bare", str(origin), str(project / "store"))
    (project / ".git").write_text("gitdir: ./store\n")


def with_bare_setting(project: Path, origin: Path) -> None:
    git(origin, "clone", "-q", str(origin), str(project))
    git(project, "config", "core.bare", "true")


def itself_bare(project: Path, origin: Path) -> None:
    git(origin, "clone", "-q", "--bare", str(origin), str(project))


def with_head_of_no_branch(project: Path, origin: Path) -> None:
    with_gitfile(project, origin)
    git(project, "symbolic-ref", "HEAD", "refs/heads/other")


def with_files_elsewhere(project: Path, origin: Path) -> None:
    git(origin, "clone", "-q", str(origin), str(project))
    (elsewhere := project.parent / "elsewhere").mkdir()
    git(project, "config", "core.worktree", str(elsewhere))


WITHOUT_FILES = (
    with_gitfile,
    with_bare_setting,
    itself_bare,
    with_head_of_no_branch,
    with_files_elsewhere,
)


@pytest.mark.parametrize("make", WITHOUT_FILES)
@pytest.mark.parametrize("below", ["", "notes"])
async def test_a_repository_without_files_is_refused_and_its_worktrees_are_named(
    tmp_path: Path, origin: Path, make: Callable[[Path, Path], None], below: str
) -> None:
    make(project := tmp_path / "project", origin)
    git(project, "worktree", "add", "-q", "-b", "side", "trees/side", "refs/heads/main")
    git(project, "worktree", "add", "-q", "-b", "away", str(tmp_path / "away"), "refs/heads/main")
    git(project, "worktree", "add", "-q", "-b", "gone", "gone", "refs/heads/main")
    (project / "gone").rename(tmp_path / "removed")
    (project / "notes").mkdir()
    with pytest.raises(UsageError) as refused:
        await commit_of(project / below)
    listed = str(refused.value).partition("--repo PATH: ")[2].split(", ")
    assert {str(project / "trees" / "side"), str(tmp_path / "away")} <= set(listed)
    assert str(project / "gone") not in listed
    for worktree in listed:
        assert await commit_of(Path(worktree)) == git(origin, "rev-parse", "HEAD")


async def test_how_it_is_refused(tmp_path: Path, origin: Path, golden: Sentences) -> None:
    with_gitfile(project := tmp_path / "project", origin)
    with pytest.raises(UsageError) as without:
        await commit_of(project)
    for number in range(7):
        git(project, "worktree", "add", "-q", "-b", f"b{number}", f"tree-{number}", "main")
    with pytest.raises(UsageError) as several:
        await commit_of(project)
    golden(*(str(one.value).replace(str(tmp_path), "/x") for one in (without, several)))


@pytest.mark.parametrize("below", [".git", ".git/objects", ".git/refs/heads", ".git/worktrees/w"])
async def test_what_lies_in_a_repository_is_refused(origin: Path, below: str) -> None:
    git(origin, "worktree", "add", "-q", "-b", "w", "../w")
    with pytest.raises(UsageError, match=r"give one of its worktrees .*/origin"):
        await commit_of(origin / below)


@pytest.mark.parametrize("name", [".hg", ".svn", "renamed"])
async def test_a_folder_of_other_version_control_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name / "store").mkdir(parents=True)
    (tmp_path / name / "requires").touch()
    with pytest.raises(UsageError, match="version control"):
        await commit_of(tmp_path / name)


def linked(project: Path, origin: Path) -> None:
    git(origin, "clone", "-q", str(origin), str(project))
    (project / ".git").rename(project.parent / "kept")
    (project / ".git").symlink_to("../kept")


def beside(project: Path, origin: Path) -> None:
    git(
        origin,
        "clone",
        "-q",
        "--separate-git-dir",
        str(project) + ".git",
        str(origin),
        str(project),
    )


def inside(project: Path, origin: Path) -> None:
    beside(project, origin)
    project.with_suffix(".git").rename(project / "kept")
    (project / ".git").write_text("gitdir: ./kept\n")


def in_bare(project: Path, origin: Path) -> None:
    itself_bare(project.parent / "all.git", origin)
    git(project.parent / "all.git", "worktree", "add", "-q", "work", "main")
    (project.parent / "all.git" / "work").rename(project)
    git(project.parent / "all.git", "worktree", "repair", str(project))


def as_submodule(project: Path, origin: Path) -> None:
    over = start(project.parent / "over")
    add = ("submodule", "--quiet", "add", str(origin), "part")
    git(over, "-c", "protocol.file.allow=always", *add)
    project.symlink_to(over / "part")


@pytest.mark.parametrize("dirty", [False, True])
@pytest.mark.parametrize("make", [linked, beside, inside, in_bare, as_submodule])
async def test_a_checkout_whose_repository_lies_elsewhere_is_one(
    tmp_path: Path, origin: Path, make: Callable[[Path, Path], None], dirty: bool
) -> None:
    make(project := tmp_path / "project", origin)
    snapshot = await take_snapshot(project, tmp_path / "snapshot.git", dirty=dirty)
    assert snapshot.repository.commit == git(origin, "rev-parse", "HEAD")
    assert snapshot.files == {"src/a.py"}
    async with clone(snapshot, tmp_path / "work", keep=None) as work:
        assert (work / "src" / "a.py").read_text() == "x = 2\n"


async def test_a_repository_in_the_environment_is_not_meant(
    tmp_path: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plain := tmp_path / "plain").mkdir()
    monkeypatch.setenv("GIT_DIR", str(origin / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(plain))
    assert await commit_of(plain) is None
    assert await commit_of(origin) == git(origin, "rev-parse", "HEAD")
    assert os.environ["GIT_DIR"]
