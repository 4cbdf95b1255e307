"""What of a repository is taken along, and what is said of the rest."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from swarm_bench.app.doctor.examination import check_repository
from swarm_bench.core.errors import UsageError
from swarm_bench.core.listing import State
from swarm_bench.core.session.tasks import TASK_FILE
from swarm_bench.runtime.workspaces.content import (
    FILES,
    FOLDER_BYTES,
    FOLDERS,
    LARGEST_FILE,
    SESSION_MARK,
    holds_keys,
)
from swarm_bench.runtime.workspaces.workspace import Snapshot, take_snapshot
from tests.builders.golden import Sentences

pytestmark = pytest.mark.anyio

KEYS = (
    *(".env", ".env.production", "id_rsa", "deploy.pem", ".netrc", "credentials.json", "Site.PEM"),
    *("gcp-service-account.json", "my_service_account_2.json", "terraform.tfstate.backup"),
    *("x/secret.tfvars", ".ssh/config", "home/.ssh/deploy", ".docker/config.json", "deploy_rsa"),
)
ORDINARY = (
    *(".env.example", "id_rsa.pub", "keys.py", "monkey.txt", "environment.ts", "passwords.md"),
    *("service-account.md", "app/config.json", "main.tf", "prod.tfvars.example", "ssh/config"),
)
PAGE = Path(__file__).parents[3] / "docs" / "left-out.md"


@pytest.mark.parametrize("name", KEYS)
def test_files_that_hold_keys(name: str) -> None:
    assert holds_keys(name, committed=False)


@pytest.mark.parametrize("name", ORDINARY)
def test_files_that_do_not(name: str) -> None:
    assert not holds_keys(name, committed=False)


def test_the_names_are_documented() -> None:
    """Each in backticks, in the two lists of the page, and no other."""
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^- .*?: (.+)$", text, re.MULTILINE)
    assert [tuple(re.findall(r"`([^`]+)`", line)) for line in listed] == [FILES, FOLDERS]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "main.py").write_text("x = 1\n")
    return folder


def commit(folder: Path) -> None:
    script = "git init -q . && git add -Af . && git -c user.name=a -c user.email=a@b commit -qm one"
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)


def add_submodule(folder: Path) -> None:
    add = "git -c protocol.file.allow=always submodule -q add ../other libs/other"
    subprocess.run(["sh", "-c", f"git init -q . && {add}"], cwd=folder, check=True)


async def taken(folder: Path, *, dirty: bool = False, include: tuple[str, ...] = ()) -> Snapshot:
    return await take_snapshot(
        folder, folder.parent / f"{os.urandom(4).hex()}.git", dirty=dirty, include=include
    )


async def test_a_plain_folder_says_what_it_leaves_out(folder: Path, golden: Sentences) -> None:
    (folder / "src" / "id_rsa").write_text("key")
    (folder / ".env.production").write_text("KEY=1")
    with (folder / "huge.bin").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    found = await taken(folder)
    assert found.files == {"src/main.py"}
    golden("\n".join(found.repository.left_out))
    asked = await taken(folder, include=("src/id_rsa", "*.production"))
    assert asked.files == {"src/main.py", "src/id_rsa", ".env.production"}


async def test_what_is_not_meant_to_be_copied_is_refused(folder: Path) -> None:
    whole = "^/ is the whole file system and not a git checkout; give"
    with pytest.raises(UsageError, match=whole):
        await take_snapshot(Path("/"), folder.parent / "snapshot.git", dirty=False, is_named=True)
    for number in range(FOLDER_BYTES // LARGEST_FILE + 1):
        with (folder / f"{number}.bin").open("wb") as file:
            file.truncate(LARGEST_FILE)
    too_much = "has more than 2 GB and is not a git checkout; name it with --repo"
    with pytest.raises(UsageError, match=too_much):
        await taken(folder)
    assert (await check_repository(folder, is_named=False)).state is State.WARNING
    assert (await check_repository(folder, is_named=True)).state is State.OK


async def test_without_git_on_the_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(UsageError, match="git cannot be started.*; install it, or add its"):
        await taken(folder)


LOOKING = """
import sys
from pathlib import Path
from swarm_bench.runtime.workspaces.content import select_folder
found = select_folder(Path(sys.argv[1]), (), is_named=False)
print(found.names, *found.omissions.sentences, sep="\\n")
"""


def test_what_cannot_be_read_is_named(folder: Path, golden: Sentences) -> None:
    (folder / "closed").mkdir(mode=0o000)
    (folder / "secret.txt").touch(mode=0o000)
    # The owner of files needs no permissions here when it is root with all its capabilities.
    weak = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    ran = subprocess.run(
        [*weak, sys.executable, "-c", LOOKING, folder], capture_output=True, text=True, check=True
    )
    golden(ran.stdout)


async def test_a_commit_says_what_it_does_not_have(folder: Path, golden: Sentences) -> None:
    (folder / ".env").write_text("KEY=1")
    (folder / "cert.pem").write_text("test certificate")
    commit(folder)
    assert (await taken(folder)).repository.left_out == ()
    (folder / "src" / "main.py").write_text("x = 2\n")
    (folder / "new.py").touch()
    (folder / "new.pem").touch()
    found = await taken(folder)
    assert found.files == {"src/main.py", ".env", "cert.pem"}
    golden("\n".join(found.repository.left_out))
    dirty = await taken(folder, dirty=True)
    assert dirty.files == {"src/main.py", "new.py", "cert.pem"}
    golden("\n".join(dirty.repository.left_out))


async def test_submodules_are_named(folder: Path, golden: Sentences) -> None:
    other = folder.parent / "other"
    other.mkdir()
    (other / "lib.py").touch()
    commit(other)
    add_submodule(folder)
    commit(folder)
    for dirty in (False, True):
        found = await taken(folder, dirty=dirty)
        assert found.files == {"src/main.py", ".gitmodules"}
        golden("\n".join(found.repository.left_out))


def plant_filter(folder: Path, ran: Path) -> None:
    """A checkout whose own configuration names a program for git to run on changed files."""
    for name, value in (("clean", f"touch '{ran}'; cat"), ("process", f"touch '{ran}'")):
        subprocess.run(["git", "config", f"filter.evil.{name}", value], cwd=folder, check=True)


async def test_looking_for_changes_runs_nothing_and_writes_nothing(
    folder: Path, golden: Sentences
) -> None:
    (folder / ".gitattributes").write_text("* filter=evil\n")
    (folder / "my file.txt").write_text("same\n")
    commit(folder)
    ran = folder.parent / "ran"
    plant_filter(folder, ran)
    (folder / "src" / "main.py").write_text("x = 3\n")
    os.utime(folder / "my file.txt", (1, 1))  # another time, and the same content
    index = (folder / ".git" / "index").read_bytes()
    found = await taken(folder)
    assert not ran.exists()
    assert (folder / ".git" / "index").read_bytes() == index
    golden("\n".join(found.repository.left_out))


def rename(folder: Path) -> None:
    subprocess.run(["git", "mv", "my file.txt", "other.txt"], cwd=folder, check=True)


async def test_staged_deleted_and_new_files_count(folder: Path, golden: Sentences) -> None:
    (folder / "my file.txt").write_text("same\n" * 9)
    commit(folder)
    rename(folder)
    (folder / "src" / "main.py").unlink()
    (folder / "new.py").touch()
    found = await taken(folder)
    golden("\n".join(found.repository.left_out))


def without_index(folder: Path) -> None:
    (folder / ".git" / "index").unlink()


def with_index_in_parts(folder: Path) -> None:
    subprocess.run(["git", "update-index", "--split-index"], cwd=folder, check=True)


@pytest.mark.parametrize("change", [without_index, with_index_in_parts])
async def test_an_index_that_cannot_be_looked_at_is_no_obstacle(
    folder: Path, change: Callable[[Path], None], golden: Sentences
) -> None:
    commit(folder)
    change(folder)
    found = await taken(folder)
    assert found.files == {"src/main.py"}
    golden("\n".join(found.repository.left_out))


async def test_what_would_include_nothing_is_refused(folder: Path) -> None:
    commit(folder)
    (folder / ".env").write_text("KEY=1")
    with pytest.raises(UsageError, match="add --dirty, or omit --include"):
        await taken(folder, include=(".env",))
    assert ".env" in (await taken(folder, dirty=True, include=(".env",))).files


async def test_a_pattern_that_matches_nothing_is_named(
    folder: Path, tmp_path: Path, golden: Sentences
) -> None:
    (folder / "a.pem").write_text("key")
    target = tmp_path / "snapshot.git"
    snapshot = await take_snapshot(folder, target, dirty=False, include=["*.pem", "nomatch*"])
    assert "a.pem" in snapshot.files
    golden("\n".join(snapshot.repository.left_out))


async def test_all_names_are_kept_and_a_sentence_has_five(
    folder: Path, tmp_path: Path, golden: Sentences
) -> None:
    for number in range(1_100):
        (folder / f"{number:04}.pem").write_text("key")
    found = await take_snapshot(folder, tmp_path / "snapshot.git", dirty=False)
    (sentence,) = found.repository.left_out
    golden(sentence)
    assert found.repository.omitted == tuple(f"{number:04}.pem" for number in range(1_000))


@pytest.mark.parametrize("dirty", [False, True])
async def test_a_checkout_within_another_is_named_and_is_no_uncommitted_change(
    folder: Path, tmp_path: Path, dirty: bool
) -> None:
    commit(folder)
    inner = folder / "inner"
    inner.mkdir()
    (inner / "b.py").write_text("y = 1\n")
    commit(inner)
    snapshot = await take_snapshot(folder, tmp_path / "copy", dirty=dirty)
    assert snapshot.repository.left_out == ("1 checkout of its own is omitted (inner/)",)


async def test_task_files_and_sessions_are_no_uncommitted_changes(
    folder: Path, tmp_path: Path
) -> None:
    own = folder / "own.yaml"
    own.write_text("tasks: []\n")
    commit(folder)
    own.write_text("tasks: [a]\n")
    (folder / "made.yaml").write_text(f"{TASK_FILE} Correct it.\ntasks: []\n")
    (folder / "link.yaml").symlink_to("made.yaml")
    session = folder / "out" / "deep"
    session.mkdir(parents=True)
    (session / SESSION_MARK.decode()).write_text("")
    (session / "summary.md").write_text("helps")
    (folder / "new.yaml").write_text("a: 1\n")
    copies = (tmp_path / name for name in "abcd")

    async def omitted(tasks: Path | None) -> str:
        snapshot = await take_snapshot(folder, next(copies), dirty=False, tasks=tasks)
        return "".join(snapshot.repository.left_out)

    assert (await omitted(own)).startswith("2 uncommitted changes")
    assert (await omitted(tmp_path / "absent.yaml")).startswith("3 uncommitted changes")
    (folder / "new.yaml").unlink()
    (folder / "link.yaml").unlink()
    assert await omitted(own) == ""
    assert (await omitted(None)).startswith("1 uncommitted change ")


async def test_a_repository_within_its_own_files_is_no_uncommitted_change(
    folder: Path, tmp_path: Path
) -> None:
    commit(folder)
    (folder / ".git").rename(folder / "store")
    (folder / ".git").write_text("gitdir: store\n")
    snapshot = await take_snapshot(folder, tmp_path / "copy", dirty=False)
    assert snapshot.repository.left_out == ()
