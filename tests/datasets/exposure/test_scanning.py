"""Each distinct file of many commits is looked through once, whatever lies in the repository."""

import bz2
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.exposure import scanning
from swarm_bench.datasets.exposure.finder import Finder
from swarm_bench.datasets.exposure.scanning import KeySearch, find_link, look_through, unpack
from swarm_bench.runtime.workspaces.blobs import find_trees, list_blobs, read_blobs
from tests.builders.repositories import commit, git, start

ASKED = "Where does this code base authenticate its callers?"
TASK = Task(id="auth", title="a", prompt=ASKED, key=AnswerKey(files=("shop/auth.py",)))
KEPT = f"{ASKED}\n\nIn shop/auth.py.\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return start(tmp_path / "repo")


def search(repo: Path, *commits: str) -> KeySearch:
    trees = find_trees(repo, commits or ("HEAD",)).values()
    return look_through(Finder([TASK]), [(repo, set(trees))], lambda _: None)


def exposed(repo: Path, *commits: str) -> list[str]:
    return sorted(blob.path for blob in search(repo, *commits).exposed)


def test_each_content_of_all_commits_is_listed_once(repo: Path) -> None:
    first = commit(repo, "1", {"a.md": KEPT, "same.py": "x\n", "deep/er/copy.md": KEPT})
    second = commit(repo, "2", {"a.md": None, "b.md": KEPT + "more\n"})
    trees = find_trees(repo, [first, second, "0" * 40])
    assert [*trees] == [first, second], "one that is not there is looked for elsewhere"
    blobs = list_blobs(repo, trees.values())
    assert len(blobs) == 3
    assert {content for _, content in read_blobs(repo, blobs)} == {
        KEPT.encode(),
        f"{KEPT}more\n".encode(),
        b"x\n",
    }
    assert exposed(repo, first) in (["a.md"], ["deep/er/copy.md"])
    assert exposed(repo, second) == ["b.md", "deep/er/copy.md"]
    assert len(exposed(repo, first, second)) == 2


def test_a_folder_of_a_checkout_is_its_own_root(repo: Path) -> None:
    head = commit(repo, "1", {"above.md": KEPT, "sub/a.md": KEPT + "x", "sub/shop/auth.py": KEPT})
    assert exposed(repo / "sub", head) == ["a.md"], "the key itself has to be found"


def test_names_modes_and_settings_of_the_repository_do_no_harm(repo: Path) -> None:
    commit(repo, "1", {"ok.py": "x\n"})
    marker = repo.parent / "ran"
    for number, name in enumerate(
        ("new\nline.md", "tab\t.md", "-dash.md", "\udcff.md", "ü '\".md")
    ):
        (repo / name).write_text(f"{KEPT}{number}\n")
    (repo / ".gitattributes").write_text("* filter=evil diff=evil -text\n")
    (repo / "loop").symlink_to("loop")
    (repo / "folder").symlink_to(repo.parent)
    (repo / "system").symlink_to("/proc/self")
    (repo / "device").symlink_to("/dev/zero")
    os.mkfifo(pipe := repo.parent / "pipe")
    (repo / "pipe").symlink_to(pipe)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "2")
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "core.fsmonitor"):
        git(repo, "config", key, f"touch '{marker}'; cat")
    assert len(exposed(repo)) == 6, "the link to the folder of the original leads to the others"
    assert not marker.exists()


def test_a_link_to_a_file_with_keys_is_one_too(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.md").write_text(KEPT)
    (tmp_path / "other.md").write_text("nothing\n")
    commit(repo, "1", {"ok.py": "x\n"})
    (repo / "absolute").symlink_to(tmp_path / "kept.md")
    (repo / "other").symlink_to(tmp_path / "other.md")
    (repo / "up").symlink_to(Path("../" * 40) / (tmp_path / "kept.md").relative_to("/"))
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "2")
    assert exposed(repo) == ["absolute", "up"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        (b"/.kept/a.md", "/.kept/a.md"),
        (b"../../.kept/a.md", "/.kept/a.md"),
        (b"../../kept/../a.md", "/kept/../a.md"),
        (b"kept/a.md", None),
        (b"../a.md\nmore", None),
    ],
)
def test_a_link_may_lead_into_a_hidden_folder(content: bytes, target: str | None) -> None:
    assert find_link(content) == (target and Path(target))


def test_a_link_to_a_folder_with_such_a_file_is_one_too(repo: Path, tmp_path: Path) -> None:
    for folder in (".kept/deep", "other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".kept/deep/kept.md").write_text(KEPT)
    (tmp_path / "other/a.md").write_text("nothing\n")
    commit(repo, "1", {"ok.py": "x\n"})
    (repo / "absolute").symlink_to(tmp_path / ".kept")
    (repo / "up").symlink_to(Path("../" * 40) / (tmp_path / ".kept").relative_to("/"))
    (repo / "other").symlink_to(tmp_path / "other")
    (repo / "nowhere").symlink_to(tmp_path / "not there")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "2")
    assert exposed(repo) == ["absolute", "up"]


def test_a_submodule_is_no_file(repo: Path, tmp_path: Path) -> None:
    commit(start(tmp_path / "inner"), "1", {"a.md": KEPT})
    commit(repo, "1", {"ok.py": "x\n"})
    git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "../inner", "inner")
    commit(repo, "2", {})
    assert exposed(repo) == [], "its content is in no clone"


def test_what_is_too_large_is_not_read_and_named(repo: Path) -> None:
    commit(repo, "1", {"large.txt": KEPT * (scanning.LARGEST // len(KEPT) + 1)})
    keys = search(repo)
    assert [blob.path for blob in keys.unread] == ["large.txt"]
    assert keys.exposed == {}
    assert [*read_blobs(repo, [])] == []


def packed(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.xml", b"nothing")
        archive.writestr("sheets/second.xml", content)
    return file.getvalue()


def test_what_is_packed_is_looked_through(repo: Path) -> None:
    kept = KEPT.encode()
    packings: dict[str, Callable[[bytes], bytes]] = {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
        "xlsx": packed,
    }
    for name, pack in packings.items():
        (repo / f"kept.{name}").write_bytes(pack(kept))
        (repo / f"other.{name}").write_bytes(pack(b"nothing"))
        (repo / f"broken.{name}").write_bytes(pack(kept)[:40])
    commit(repo, "1", {"ok.py": "x\n"})
    assert exposed(repo) == [f"kept.{name}" for name in sorted(packings)]


def test_a_bomb_is_not_unpacked_whole() -> None:
    bomb = gzip.compress(bytes(50_000_000))
    assert [len(part) for part in unpack(bomb, 1_000)] == [1_000]
    assert sum(len(part) for part in unpack(packed(bytes(50_000_000)), 1_000)) <= 1_007
