"""What `.gitattributes` say, as git reads them."""

from pathlib import Path

from swarm_bench.runtime.workspaces.attributes import attributes_of
from tests.builders.repositories import commit, git, start

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

    found = attributes_of(repo, hash, paths, NAMES)

    assert found == {
        "a.out.py": {"linguist-generated": True},
        "api/x/y.py": {"linguist-generated": True},
        "api/own.py": {"linguist-generated": False},
        "lib/a.py": {"linguist-vendored": True},
        "lib/mine.py": {"linguist-vendored": False},
        "gr\udcfc.out.py": {"linguist-generated": True},
    }
    assert attributes_of(repo / "lib", hash, ["mine.py"], NAMES) == {
        "mine.py": {"linguist-vendored": False}
    }
    assert git(repo, "status", "--porcelain") == status
