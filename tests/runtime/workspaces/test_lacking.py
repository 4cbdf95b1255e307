"""Partial clones are found out beforehand, and git fetches nothing for us."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.runtime.workspaces.checkout import (
    FETCHING,
    count_missing_objects,
    refuse_missing_objects,
)
from swarm_bench.runtime.workspaces.git import try_git
from swarm_bench.runtime.workspaces.objects import git_output
from swarm_bench.runtime.workspaces.workspace import take_snapshot
from tests.builders.golden import Sentences
from tests.builders.repositories import commit, git, start

pytestmark = pytest.mark.anyio


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    made = start(tmp_path / "origin")
    for number in range(3):
        commit(made, "more", {"src/a.py": f"x = {number}\n", "lib/b.py": f"y = {number}\n"})
    git(made, "config", "uploadpack.allowFilter", "true")
    git(made, "config", "uploadpack.allowAnySHA1InWant", "true")
    return made


def cloned(origin: Path, *options: str) -> Path:
    """A clone that leaves a file beside it when something is fetched."""
    clone = origin.parent / "clone"
    git(origin, "clone", "-q", *options, origin.as_uri(), str(clone))
    git(clone, "config", "remote.origin.uploadpack", f"touch '{clone}-asked'; git-upload-pack")
    return clone


@pytest.fixture
def nothing_is_fetched(tmp_path: Path) -> Iterator[None]:
    yield
    assert not (tmp_path / "clone-asked").exists()


WHOLE = (("--filter=blob:none",), ("--filter=tree:0",))
WITHOUT_FILES = (
    *(("--filter=blob:none", "-n"), ("--filter=tree:0", "-n")),
    *(("--filter=blob:none", "--sparse"), ("--depth=1", "--filter=blob:none", "-n")),
)


@pytest.mark.usefixtures("nothing_is_fetched")
@pytest.mark.parametrize("options", WHOLE)
async def test_a_partial_clone_has_its_commit_and_lacks_its_history(
    origin: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    clone = cloned(origin, *options)
    snapshot = await take_snapshot(clone, tmp_path / "snapshot.git", dirty=False)
    assert snapshot.files == {"src/a.py", "lib/b.py"}
    assert count_missing_objects(clone, ["HEAD"]) == 0
    assert count_missing_objects(clone, ["HEAD"], history=True) > 0
    with pytest.raises(UsageError):
        refuse_missing_objects(clone, [git(clone, "rev-parse", "HEAD~1")])


@pytest.mark.usefixtures("nothing_is_fetched")
@pytest.mark.parametrize("options", WITHOUT_FILES)
async def test_a_clone_without_its_files_is_refused(
    origin: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    clone = cloned(origin, *options)
    with pytest.raises(UsageError, match="partial clone"):
        await take_snapshot(clone, tmp_path / "snapshot.git", dirty=False)
    for arguments in (("cat-file", "-e", "HEAD:lib/b.py"), ("log", "-p", "HEAD")):
        await try_git(*arguments, cwd=clone)
        git_output(clone, *arguments)


@pytest.mark.parametrize("options", [*WHOLE, *WITHOUT_FILES])
def test_what_helps_helps(origin: Path, options: tuple[str, ...]) -> None:
    clone = cloned(origin, *options)
    assert count_missing_objects(clone, ["HEAD"], history=True)
    git(clone, *FETCHING.split("'")[1].split()[1:])
    assert count_missing_objects(clone, ["HEAD"], history=True) == 0


async def test_a_whole_sparse_clone_is_copied_whole(origin: Path, tmp_path: Path) -> None:
    clone = cloned(origin, "--sparse")
    snapshot = await take_snapshot(clone, tmp_path / "snapshot.git", dirty=False)
    assert snapshot.files == {"src/a.py", "lib/b.py"}


def test_what_is_borrowed_from_a_partial_clone(origin: Path, tmp_path: Path) -> None:
    cloned(origin, "--filter=blob:none", "-n").rename(tmp_path / "lent")
    borrowing = start(tmp_path / "borrowing")
    (borrowing / ".git/objects/info").mkdir(exist_ok=True)
    lent = tmp_path / "lent/.git/objects"
    (borrowing / ".git/objects/info/alternates").write_text(f"{lent}\n")
    hash = git(origin, "rev-parse", "HEAD")
    assert count_missing_objects(borrowing, [hash]) == 2


def test_how_it_is_refused(origin: Path, tmp_path: Path, golden: Sentences) -> None:
    clone = cloned(origin, "--filter=blob:none", "-n")
    with pytest.raises(UsageError) as refused:
        refuse_missing_objects(clone, ["HEAD"])
    git(clone, "fetch", "-q", "origin", git(clone, "rev-parse", "HEAD:lib/b.py"))
    with pytest.raises(UsageError) as almost:
        refuse_missing_objects(clone, ["HEAD"])
    golden("\n".join(str(it.value).replace(str(tmp_path), "/x") for it in (refused, almost)))
