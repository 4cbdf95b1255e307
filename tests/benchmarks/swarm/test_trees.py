"""What scorers may read of the repository."""

from pathlib import Path

import pytest

from swarm_bench.benchmarks.swarm.trees import Trees
from swarm_bench.core.errors import HarnessError
from swarm_bench.core.session.experiment import Repository
from swarm_bench.runtime.workspaces.workspace import Snapshot, remove_files, take_snapshot
from tests.builders.repositories import commit, git, start

pytestmark = pytest.mark.anyio


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (made := tmp_path / "repo" / "sub").mkdir(parents=True)
    (made / "a.py").write_text("first = 1\n")
    (made / ".canopy").mkdir()
    (made / ".canopy" / "index.db").write_text("an index\n")
    return made


async def test_each_commit_has_files_and_contents_of_its_own(repo: Path, tmp_path: Path) -> None:
    first = commit(start(repo), "first", {})
    second = commit(repo, "second", {"a.py": "second = 2\n", "b.py": ""})
    snapshot = await take_snapshot(repo, tmp_path / "snapshot.git", dirty=False)
    with Trees(repository=snapshot.repository, copy=snapshot) as trees:
        assert trees.files(first) == {"a.py"}, "of the folder, and without an index"
        assert trees.files(second) == trees.files(None) == {"a.py", "b.py"}
        read = [tree.read("a.py") for tree in map(trees.tree, (first, second, None)) if tree]
        assert read == [b"first = 1\n", b"second = 2\n", b"second = 2\n"]
        with pytest.raises(HarnessError, match="cannot list the files"):
            trees.files("0" * 40)


async def test_files_with_answer_keys_are_in_no_commit(repo: Path, tmp_path: Path) -> None:
    first = commit(start(repo), "first", {"keys.toml": "the keys\n"})
    commit(repo, "second", {"keys.toml": "none any more\n", "more.toml": "the keys\n"})
    taken = await take_snapshot(repo, tmp_path / "snapshot.git", dirty=False)
    keys = git(repo, "rev-parse", "HEAD:./more.toml")
    snapshot = await remove_files(taken, frozenset({keys}))
    with Trees(repository=snapshot.repository, copy=snapshot) as trees:
        assert trees.files(first) == {"a.py"}
        assert trees.files(None) == {"a.py", "keys.toml"}
        assert (tree := trees.tree(None)) is not None
        assert tree.files == trees.files(None)
    named = snapshot.repository.model_copy(update={"answers": ("keys.toml", "more.toml")})
    with Trees(repository=named) as trees:
        assert trees.files(first) == trees.files(None) == {"a.py"}, (
            "by path, where all else is gone"
        )


async def test_what_is_in_no_commit_is_read_from_the_copy(repo: Path, tmp_path: Path) -> None:
    snapshot = await take_snapshot(repo, tmp_path / "snapshot.git", dirty=False)
    (repo / "a.py").write_text("changed meanwhile\n")
    with Trees(repository=snapshot.repository, copy=snapshot) as trees:
        tree = trees.tree(None)
        assert tree is not None
        assert tree.read("a.py") == b"first = 1\n"


def test_a_replay_reads_no_repository() -> None:
    repository = Repository(path="/r", kind="git", commit="a" * 40, tree="t", files=1, bytes=1)
    recorded = {"b" * 40: frozenset({"then.py"})}
    own = Snapshot(path=Path("/r"), repository=repository, files=frozenset({"own.py"}))
    with Trees(repository=repository, copy=own, recorded_files=recorded) as trees:
        assert trees.files("b" * 40) == {"then.py"}
        assert trees.files(None) == {"own.py"}
        assert trees.tree(None) is None
