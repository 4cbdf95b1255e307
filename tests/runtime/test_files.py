"""Writing where others may have planted something."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from swarm_bench.core.errors import StoreError
from swarm_bench.runtime.files import (
    append_line,
    copy_whole,
    find_writable_path,
    hold_lock,
    make_folder,
    remove_parts,
    write_whole,
    writing_folder,
)

WRITER = """
import sys
from pathlib import Path
from swarm_bench.runtime.files import write_whole
for number in range(50):
    write_whole(Path(sys.argv[1]), sys.argv[2] * 10_000)
"""


def test_two_writers_at_once_both_succeed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, file, word]) for word in "ab"]
    assert [writer.wait(30) for writer in writers] == [0, 0]
    assert file.read_text("utf-8") in ("a" * 10_000, "b" * 10_000)
    assert list(tmp_path.iterdir()) == [file]


KILLED = """
import os, sys
from pathlib import Path
from swarm_bench.runtime import files

with files._replacing(Path(sys.argv[1])) as file:
    file.write(b"half")
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_writer_left_is_removed_and_what_is_being_written_stays(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run-1" / "baseline" / "agent-1.md"
    command = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        (part,) = path.parent.iterdir()
        remove_parts(tmp_path)
        assert part.read_bytes() == b"half"
        writer.kill()
    (path.parent / ".mine.part").touch()
    (tmp_path / ".x.0123456789abcdef.part").symlink_to(path.parent / ".mine.part")
    remove_parts(tmp_path)
    assert [entry.name for entry in path.parent.iterdir()] == [".mine.part"]


def test_links_in_the_place_of_files_change_nothing_elsewhere(tmp_path: Path) -> None:
    (precious := tmp_path / "precious").write_text("mine\n", encoding="utf-8")
    (results := tmp_path / "results").mkdir()
    for name in ("summary.md", ".summary.md.part", "metrics.jsonl", ".lock"):
        (results / name).symlink_to(precious)
    (results / "canopy").symlink_to(tmp_path)
    write_whole(results / "summary.md", "theirs")
    append_line(results / "metrics.jsonl", "{}")
    with hold_lock(results / ".lock"):
        pass
    with pytest.raises(StoreError, match="behind a link"):
        write_whole(results / "canopy" / "precious", "theirs")
    assert precious.read_text("utf-8") == "mine\n"
    assert (results / "summary.md").read_text("utf-8") == "theirs"
    assert (results / "metrics.jsonl").read_text("utf-8") == "{}\n"
    assert (results / "planted-1-metrics.jsonl").is_symlink()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lines")
    append_line(tmp_path / "lines", "{}")
    assert (tmp_path / "lines").read_text("utf-8") == "{}\n"
    assert (tmp_path / "planted-1-lines").is_fifo()


def test_a_lock_keeps_what_is_in_the_file(tmp_path: Path) -> None:
    (lock := tmp_path / "lock").write_text("old", encoding="utf-8")
    with hold_lock(lock):
        pass
    assert lock.read_text("utf-8") == "old"


def test_a_torn_line_is_closed_before_the_next(tmp_path: Path) -> None:
    (file := tmp_path / "lines").write_bytes(b'{"a":')
    append_line(file, "{}")
    append_line(file, "{}")
    assert file.read_bytes() == b'{"a":\n{}\n{}\n'


@pytest.mark.parametrize(
    ("around", "folder", "file"), [(0o700, 0o700, 0o600), (0o755, 0o750, 0o640)]
)
def test_what_is_written_is_as_private_as_the_folder_around_it(
    tmp_path: Path, around: int, folder: int, file: int
) -> None:
    top = tmp_path / "top"
    top.mkdir()
    top.chmod(around)
    write_whole(top / "a" / "whole", "x")
    append_line(top / "a" / "lines", "x")
    copy_whole(top / "a" / "whole", top / "a" / "copy")
    make_folder(top / "b" / "c")
    made = {path: stat.S_IMODE(path.stat().st_mode) for path in top.rglob("*")}
    assert {mode for path, mode in made.items() if path.is_file()} == {file}
    assert {mode for path, mode in made.items() if path.is_dir()} == {folder}
    assert len(made) == 6


def test_a_copy_takes_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"one")
    (tmp_path / "two").write_bytes(b"longer")
    assert copy_whole(tmp_path / "one", tmp_path / "two") == 3
    assert (tmp_path / "two").read_bytes() == b"one"


def test_a_place_that_a_person_types_is_looked_at_before_there_is_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, real = tmp_path / "inner", tmp_path / "real"
    inner.mkdir()
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    (tmp_path / "file").touch()
    monkeypatch.chdir(inner)
    for typed in ("../new/deep/file", f"{inner}/.././x", "y"):
        write_whole(find_writable_path(Path(typed)), "content")
    assert (tmp_path / "new/deep/file").read_text() == "content"
    assert {it.name for it in tmp_path.iterdir()} >= {"x", "new"}
    assert find_writable_path(Path("../link/file")) == real / "file", "a person may name a link"
    assert find_writable_path(Path("../link/../z")) == tmp_path / "z", "which leads where it leads"
    with pytest.raises(StoreError, match="is not a folder") as refused:
        find_writable_path(Path("../file/file"))
    assert "make room" not in str(refused.value), "one advice is enough"


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    with writing_folder(tmp_path / "new") as part:
        write_whole(part / "a.json", "{}")
        assert not (tmp_path / "new").exists()
    assert (tmp_path / "new" / "a.json").read_text() == "{}"
    with pytest.raises(StoreError), writing_folder(tmp_path / "new") as part:
        write_whole(part / "b.json", "{}")
    with pytest.raises(KeyError), writing_folder(tmp_path / "failed"):
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.json"]
