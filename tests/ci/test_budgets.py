"""The budgets of the code are kept, and a breach of each is seen."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUDGETS = runpy.run_path(str(ROOT / ".ci" / "budgets.py"))


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.py").write_text("", encoding="utf-8")


def test_the_folders_are_within_their_budget() -> None:
    assert list(BUDGETS["crowded"](ROOT / "swarm_bench")) == []


@pytest.mark.parametrize(
    ("names", "breach"),
    [
        ([f"module{number}" for number in range(16)], "16 modules, at most 15"),
        (["tool_use", "tool", "_tool_cost"], "3 modules begin with tool"),
    ],
)
def test_a_crowded_folder_is_named(tmp_path: Path, names: list[str], breach: str) -> None:
    make(tmp_path, "__init__", *names)
    [line] = BUDGETS["crowded"](tmp_path)
    assert breach in line


def test_fifteen_modules_and_two_of_a_word_are_within(tmp_path: Path) -> None:
    make(tmp_path, "__init__", "tool_a", "tool_b", *(f"module{number}" for number in range(13)))
    assert list(BUDGETS["crowded"](tmp_path)) == []


def test_a_file_has_at_most_400_lines(tmp_path: Path) -> None:
    (tmp_path / "within.py").write_text("\n" * 400, encoding="utf-8")
    (tmp_path / "over.py").write_text("\n" * 401, encoding="utf-8")
    [line] = BUDGETS["breaches"](tmp_path)
    assert line == f"{tmp_path / 'over.py'}: 401 lines, at most 400"
