"""Reading many objects of a repository."""

from pathlib import Path

import pytest

from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.workspaces.objects import LARGEST, Objects, list_entries, read_attributes
from tests.builders.repositories import commit, git, start


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, content in {"a.py": b"one\n", "d/b.bin": b"\0\n\n", "large": b"x" * 10}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "link").symlink_to("a.py")
    (tmp_path / "ä b.py").touch()
    commit(start(tmp_path), "first", {})
    return tmp_path


def test_the_files_of_a_commit_are_read_as_they_are(repository: Path) -> None:
    with Objects(repository) as objects:
        tree = objects.tree("HEAD")
        assert tree.files == {"a.py", "d/b.bin", "large", "ä b.py"}, "a link is no file"
        assert tree.read("d/b.bin") == b"\0\n\n"
        assert tree.read("ä b.py") == b""
        assert tree.read("gone.py") is None
        assert objects.read("HEAD:a.py") == b"one\n"
        assert [objects.read(name) for name in ("HEAD:d", "HEAD:no", "no", "", "a\nb")] == [
            None
        ] * 5


def test_what_was_read_is_kept_within_limits(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarm_bench.runtime.workspaces.objects.MOST_KEPT", 8)
    with Objects(repository) as objects:
        tree, asked = objects.tree("HEAD"), list[str]()
        read = objects.read

        def noted(name: str) -> bytes | None:
            asked.append(name)
            return read(name)

        monkeypatch.setattr(objects, "read", noted)
        assert [tree.read("a.py"), tree.read("a.py")] == [b"one\n"] * 2
        assert len(asked) == 1
        assert tree.read("large") == b"x" * 10
        assert tree.read("a.py") == b"one\n"
        assert len(asked) == 3


def test_a_very_large_file_is_not_read(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarm_bench.runtime.workspaces.objects.LARGEST", 5)
    assert LARGEST > 5
    with Objects(repository) as objects:
        assert objects.read("HEAD:large") is None
        assert objects.read("HEAD:a.py") == b"one\n", "what follows is still read"


def test_a_commit_that_is_not_there_is_named(repository: Path) -> None:
    with Objects(repository) as objects, pytest.raises(HarnessError, match="files of nowhere"):
        objects.tree("nowhere")


def test_a_list_of_files_has_an_end(repository: Path) -> None:
    whole = list(list_entries(repository, "HEAD"))
    size = sum(len(entry) + 1 for entry in whole)
    assert list(list_entries(repository, "HEAD", max_bytes=size)) == whole
    with pytest.raises(HarnessError, match="MiB of names"):
        list(list_entries(repository, "HEAD", max_bytes=size - 1))


def test_an_end_of_git_is_an_error(repository: Path) -> None:
    with Objects(repository) as objects:
        objects._process.kill()
        objects._process.wait()
        with pytest.raises(HarnessError, match="git ended while it read"):
            objects.read("HEAD:a.py")


NAMES = ("linguist-generated", "linguist-vendored")


def test_patterns_folders_macros_and_what_takes_back(tmp_path: Path) -> None:
    repo = start(tmp_path / "repo")
    attributes = (
        "[attr]made linguist-generated\n"
        "*.out.py made\n"
        "api/** linguist-generated=true\n"
        "api/own.py -linguist-generated\n"
        "lib/* linguist-vendored\n"
    )
    files = {
        ".gitattributes": attributes,
        "lib/.gitattributes": "mine.py linguist-vendored=false\n",
    }
    hash = commit(repo, "one", {**files, "a.py": "x = 1\n"})
    (repo / ".gitattributes").write_text("* linguist-generated\n")
    status = git(repo, "status", "--porcelain")
    paths = [
        "a.out.py",
        "api/x/y.py",
        "api/own.py",
        "lib/a.py",
        "lib/mine.py",
        "gr\udcfc.out.py",
        "b.py",
    ]

    found = read_attributes(repo, hash, paths, NAMES)

    assert found == {
        "a.out.py": {"linguist-generated": True},
        "api/x/y.py": {"linguist-generated": True},
        "api/own.py": {"linguist-generated": False},
        "lib/a.py": {"linguist-vendored": True},
        "lib/mine.py": {"linguist-vendored": False},
        "gr\udcfc.out.py": {"linguist-generated": True},
    }
    assert read_attributes(repo / "lib", hash, ["mine.py"], NAMES) == {
        "mine.py": {"linguist-vendored": False}
    }
    assert git(repo, "status", "--porcelain") == status
