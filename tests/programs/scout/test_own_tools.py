"""Glob, Grep and Read: what they answer, and what they refuse."""

import os
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.programs.scout.own_tools import OwnTools
from swarm_bench.programs.scout.workspace_files import MAX_FILE_BYTES, Refused


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "with space & 'quote' é"
    files = {
        "src/app.py": "import os\n\n\ndef login(user):\n    return user\n",
        "src/web/page.ts": "login()\nlogin()\n",
        "docs/read me.md": "# Login\n",
        ".git/config": "login\n",
        ".canopy/index": "login\n",
        ".gitignore": "*.log\n/build/\n",
        "build/out.py": "login\n",
        "src/.gitignore": "!kept.log\n",
        "src/kept.log": "login\n",
        "src/lost.txt.log": "login\n",
        "empty.py": "",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "binary.py").write_bytes(b"login\0")
    (root / "huge.py").write_bytes(b"login\n" * (MAX_FILE_BYTES // 6 + 1))
    (tmp_path / "secret.py").write_text("login\n", encoding="utf-8")
    (root / "link.py").symlink_to(tmp_path / "secret.py")
    (root / "inside.py").symlink_to("src/app.py")
    (root / "out").symlink_to(tmp_path)
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe.py")
    (root / "two\nlines.py").write_text("login\n", encoding="utf-8")
    return root


def call(root: Path, tool: str, **arguments: Any) -> str:
    return OwnTools(root).call(tool, arguments)


def test_grep_shows_lines(root: Path) -> None:
    assert call(root, "Grep", pattern="login", output_mode="content") == (
        "src/app.py:4:def login(user):\n"
        "src/kept.log:1:login\n"
        "src/web/page.ts:1:login()\n"
        "src/web/page.ts:2:login()"
    )


def test_grep_counts_most_first(root: Path) -> None:
    assert call(root, "Grep", pattern="login", output_mode="count", head_limit=2) == (
        "src/web/page.ts:2\nsrc/app.py:1\n[1 more files]"
    )


def test_grep_lists_files(root: Path) -> None:
    found = call(root, "Grep", pattern="LOGIN", **{"-i": True}, glob="*.{md,ts}")
    assert found == "docs/read me.md\nsrc/web/page.ts"
    assert call(root, "Grep", pattern="login", path="src/web") == "src/web/page.ts"
    assert call(root, "Grep", pattern="login", path="src/app.py") == "src/app.py"
    assert call(root, "Grep", pattern="nowhere") == "No matches found"


def test_grep_says_what_it_leaves_out(root: Path) -> None:
    shown = call(root, "Grep", pattern="login", output_mode="content", head_limit=1)
    assert shown == "src/app.py:4:def login(user):\n[3 more lines]"


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["binary.py", "empty.py", "huge.py", "src/app.py"]),
        ("src/*.py", ["src/app.py"]),
        ("**/*.{ts,md}", ["docs/read me.md", "src/web/page.ts"]),
        ("src/**", ["src/.gitignore", "src/app.py", "src/kept.log", "src/web/page.ts"]),
        ("**/web/**", ["src/web/page.ts"]),
        ("[!a-d]mpty.p?", ["empty.py"]),
        ("./src/app.py", ["src/app.py"]),
    ],
)
def test_glob(root: Path, pattern: str, found: list[str]) -> None:
    assert call(root, "Glob", pattern=pattern).split("\n") == found


def test_glob_without_a_match(root: Path) -> None:
    assert call(root, "Glob", pattern="*.rs") == "No files found"
    assert call(root, "Glob", pattern="[") == "No files found"


def test_read_gives_a_window(root: Path) -> None:
    assert call(root, "Read", file_path="src/app.py", offset=4, limit=1) == "4\tdef login(user):"
    assert call(root, "Read", file_path="inside.py", offset=5) == "5\t    return user"
    assert call(root, "Read", file_path="src/app.py", offset=9) == "[src/app.py has 5 lines]"
    assert call(root, "Read", file_path="empty.py") == "[empty.py has 0 lines]"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.py",
        "link.py",
        "out/secret.py",
        "loop",
        "pipe.py",
        "binary.py",
        "huge.py",
        "src",
        "missing.py",
        "a\0b",
        "x" * 5000,
    ],
)
def test_read_stays_inside_and_with_text(root: Path, path: str) -> None:
    with pytest.raises(Refused):
        call(root, "Read", file_path=path)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Grep", {}),
        ("Grep", {"pattern": 3}),
        ("Grep", {"pattern": "a", "head_limit": 0}),
        ("Grep", {"pattern": "login", "output_mode": "all"}),
        ("Grep", {"pattern": "a", "path": ".."}),
        ("Read", {"file_path": "src/app.py", "offset": "1"}),
        ("Glob", {"pattern": "*", "path": "out"}),
    ],
)
def test_wrong_arguments_are_refused(root: Path, tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        call(root, tool, **arguments)


def test_long_lines_and_long_results_are_cut(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(("x" * 1000 + "\n") * 400, encoding="utf-8")
    text = call(tmp_path, "Read", file_path="long.py", limit=400)
    assert len(text) < 31_000
    assert text.endswith("\n[output cut]")
    assert text.split("\n")[0] == "1\t" + "x" * 300 + "[...]"


def test_a_pipe_that_takes_the_place_of_a_file_does_not_block(root: Path) -> None:
    tools = OwnTools(root)
    assert "src/app.py" in tools.call("Glob", {"pattern": "*.py"})
    (root / "src/app.py").unlink()
    os.mkfifo(root / "src/app.py")
    assert "app.py" not in tools.call("Grep", {"pattern": "def"})
