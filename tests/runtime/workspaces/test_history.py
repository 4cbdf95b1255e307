"""Reading the history of a repository."""

from datetime import date
from pathlib import Path

import pytest

from swarm_bench.core.errors import HarnessError
from swarm_bench.runtime.workspaces.history import FileChange, read_history
from tests.builders.repositories import commit, git, start

LINES = "".join(f"line {number}\n" for number in range(20))


def test_a_commit_says_what_it_did_to_which_file(tmp_path: Path) -> None:
    repo = start(tmp_path)
    first = commit(repo, "first", {"a.py": LINES, "old name.py": LINES * 2, "gone": "x\n"})
    files = {"a.py": LINES + "x\n", "old name.py": None, "näm\n.py": LINES * 2, "gone": None}
    second = commit(repo, "second\n\n:100644 is no entry", files, date="2026-02-03T00:30:00+02:00")

    new, old = read_history(repo, "HEAD")

    assert (new.hash, old.hash, new.parents, old.parents) == (second, first, (first,), ())
    assert new.message == "second\n\n:100644 is no entry"
    assert new.written_on == date(2026, 2, 2), "in UTC"
    changes = {change.path: change for change in new.changes}
    assert set(changes) == {"a.py", "old name.py", "gone"}
    renamed = changes["old name.py"]
    assert (renamed.target, renamed.old_hash) == ("näm\n.py", renamed.after)
    assert (changes["gone"].old_hash is None, changes["gone"].after) == (False, None)
    assert all(change.old_hash is None for change in old.changes)


def test_a_history_is_that_of_a_folder(tmp_path: Path) -> None:
    repo = start(tmp_path)
    commit(repo, "first", {"shop/a.py": LINES, "b.py": LINES})
    (only,) = read_history(repo / "shop", "HEAD")
    assert [change.path for change in only.changes] == ["a.py"]


def test_merges_have_two_parents_and_links_are_no_files(tmp_path: Path) -> None:
    repo = start(tmp_path)
    commit(repo, "first", {"a": "1\n"})
    git(repo, "checkout", "-qb", "side")
    (repo / "link").symlink_to("a")
    commit(repo, "side", {})
    git(repo, "checkout", "-q", "main")
    commit(repo, "other", {"b": "1\n"})
    git(repo, "merge", "-q", "--no-edit", "side")
    merge, *others = read_history(repo, "HEAD")
    assert (len(merge.parents), merge.changes) == (2, ())
    assert {c.message: c.changes for c in others}["side"] == ()


def test_the_end_of_a_shallow_history_has_no_parent(tmp_path: Path) -> None:
    repo = start(tmp_path / "whole")
    for number in range(3):
        commit(repo, f"number {number}", {"a.py": f"{number}\n"})
    git(tmp_path, "clone", "-q", "--depth", "2", repo.as_uri(), "shallow")
    new, old = read_history(tmp_path / "shallow", "HEAD")
    assert (len(new.parents), old.parents) == (1, ())
    assert isinstance(old.changes[0], FileChange)


def test_what_is_no_revision_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="the history of --all"):
        read_history(start(tmp_path), "--all")


def test_nothing_that_the_repository_names_is_run(tmp_path: Path) -> None:
    repo = start(tmp_path)
    commit(repo, "first", {"a.py": LINES, ".gitattributes": "*.py diff=own\n"})
    commit(repo, "second", {"a.py": "x\n"})
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for name in ("diff.external", "diff.own.command", "diff.own.textconv", "gpg.program",
                 "core.fsmonitor", "core.pager", "core.sshCommand"):  # fmt: skip
        git(repo, "config", name, str(program))
    git(repo, "config", "log.showSignature", "true")
    assert len(read_history(repo, "HEAD")) == 2
    assert not mark.exists()


def test_a_submodule_that_git_refuses_keeps_no_history(tmp_path: Path) -> None:
    repo = start(tmp_path)
    mark = tmp_path / "ran"
    module = f'[submodule "x"]\n\tpath = x\n\turl = ./x\n\tupdate = !touch {mark}\n'
    first = commit(repo, "first", {"a.py": LINES, ".gitmodules": module})
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{first},x")
    git(repo, "commit", "-qm", "second")
    assert [it.message for it in read_history(repo, "HEAD")] == ["second", "first"]
    assert not mark.exists()


def test_git_says_itself_why_it_fails(tmp_path: Path) -> None:
    repo = start(tmp_path)
    commit(repo, "first", {"a.py": LINES})
    git(repo, "config", "diff.renameLimit", "many")
    with pytest.raises(HarnessError, match=r"many.*diff\.renamelimit"):
        read_history(repo, "HEAD")


def test_of_a_message_its_beginning_is_read(tmp_path: Path) -> None:
    repo = start(tmp_path)
    tree = git(repo, "rev-parse", f"{commit(repo, 'first', {'a.py': LINES})}^{{tree}}")
    file = tmp_path / "object"
    long = "a <a@localhost> 1 +0000"
    file.write_text(f"tree {tree}\nauthor {long}\ncommitter {long}\n\n{'word ' * 100_000}\n")
    (only,) = read_history(repo, git(repo, "hash-object", "-t", "commit", "-w", str(file)))
    assert only.message == "word " * 800


def test_settings_of_the_repository_change_nothing_of_what_is_read(tmp_path: Path) -> None:
    repo = start(tmp_path)
    commit(repo, "first", {"a.py": LINES})
    commit(repo, "sécond", {"a.py": "x\n"})
    before = read_history(repo, "HEAD")
    git(repo, "config", "i18n.logOutputEncoding", "UTF-16")
    git(repo, "config", "diff.orderFile", str(tmp_path / "not there"))
    git(repo, "replace", "HEAD^{tree}", "HEAD~1^{tree}")
    assert read_history(repo, "HEAD") == before


@pytest.mark.parametrize(
    ("author", "committer", "written"),
    [
        ("a <a@localhost> 1700000000 +9999", "a <a@localhost> 1 +0000", date(2023, 11, 14)),
        ("a <a@localhost> 99999999999999 +0000", "a <a@localhost> 1 +0000", date(1970, 1, 1)),
        ("", "a <a@localhost> -5 +0000", None),
    ],
)
def test_dates_that_nobody_can_read_are_unknown(
    tmp_path: Path, author: str, committer: str, written: date | None
) -> None:
    repo = start(tmp_path)
    tree = git(repo, "rev-parse", f"{commit(repo, 'first', {'a.py': LINES})}^{{tree}}")
    file = tmp_path / "object"
    file.write_text(f"tree {tree}\nauthor {author}\ncommitter {committer}\n\nsecond\n")
    strange = git(repo, "hash-object", "-t", "commit", "-w", "--literally", str(file))
    (only,) = read_history(repo, strange)
    assert (only.message, only.written_on) == ("second", written)
