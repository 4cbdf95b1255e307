import os
from pathlib import Path

from swarm_bench.runtime.workspaces.inventory import (
    compare_inventories,
    copy_paths,
    find_folders,
    instructions,
    take_inventory,
)


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path, encoding="utf-8")


def test_what_appears_changes_and_goes_is_seen_and_counted(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b/c.py", "b/d.py", "gone.py")
    before = take_inventory(tmp_path)
    write(tmp_path, ".index/x/1", ".index/x/2", "b/e.py")
    (tmp_path / "a.py").write_text("longer than before")
    (tmp_path / "b/c.py").chmod(0o755)
    (tmp_path / "gone.py").unlink()
    (tmp_path / "link").symlink_to("/nowhere")
    found = compare_inventories(before, take_inventory(tmp_path))
    assert found.appeared == (".index/x/1", ".index/x/2", "b/e.py", "link")
    assert found.changed == ("a.py", "b/c.py")
    assert found.removed == ("gone.py",)
    grown = len("longer than before") - len("a.py")
    assert found.bytes == len(".index/x/1.index/x/2b/e.py/nowhere") + grown


def test_what_was_expected_is_left_out_and_new_folders_stand_for_their_files(
    tmp_path: Path,
) -> None:
    write(tmp_path, "a.py", ".git/config", ".git/index")
    before = take_inventory(tmp_path)
    write(tmp_path, ".index/1", ".claude/skills/x.md", ".claude/settings.json", "CLAUDE.md")
    write(tmp_path, ".git/hooks/post-commit", ".git/objects/pack/p", "mixed/.cache/1", "mixed/note")
    (tmp_path / ".git/index").write_text("refreshed by git status")
    (tmp_path / ".git/config").write_text("[core] fsmonitor = ./run-me")
    found = compare_inventories(before, take_inventory(tmp_path))
    unexpected = found.list_unexpected([".index/", ".cache/"])
    assert unexpected == (".claude/", ".git/hooks/", "CLAUDE.md", "mixed/note", ".git/config")
    assert found.list_unexpected(["*"]) == ()


def test_what_was_made_is_copied_with_its_times(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    write(source, ".index/db", "README.md")
    write(target, "README.md")
    (source / "README.md").write_text("changed")
    (source / "link").symlink_to("README.md")
    os.mkfifo(source / "pipe")
    os.utime(source / ".index/db", (1, 1))
    copy_paths(source, target, [".index/db", "README.md", "link", "pipe", "gone"])
    assert (target / "README.md").read_text() == "changed"
    assert (target / ".index/db").stat().st_mtime == 1
    assert (target / "link").is_symlink()
    assert not (target / "pipe").exists()


def test_folders_that_patterns_name_are_told_from_files() -> None:
    paths = [".index/db/1", "a/.index/2", "docs/.index.md", ".gitignore", ".claude/skills/x.md"]
    assert find_folders(paths, [".index/", ".gitignore", ".claude/skills/"]) == (
        ".claude/skills/",
        ".index/",
        "a/.index/",
    )
    assert find_folders(paths, [".gitignore", "*"]) == ()
    assert find_folders(paths, ["/.index/"]) == (".index/",)


def test_what_agents_are_told_is_seen_without_the_rest(tmp_path: Path) -> None:
    for path in ("CLAUDE.md", "src/CLAUDE.md", ".git/hooks/pre-commit", ".claude/settings.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert sorted(instructions(tmp_path)) == [
        ".claude/settings.json", ".git/hooks/pre-commit", "CLAUDE.md",
    ]  # fmt: skip
