"""The contract on names and sentences that say nothing of what they are about."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci" / "words.py"


def checked(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(CHECK)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("found = 1", "found: name it by what it is"),
        ("def read(given): pass", "given: name it by what it is"),
        ("def _known(): pass", "_known: name it by what it is"),
        ("class Place: pass", "Place: name it by what it is"),
        ("self._words = 1", "_words: name it by what it is"),
        ("for one in many: pass", "one: name it by what it is"),
        ("message = f'{why}; go on with: {command}'", "'go on with'"),
    ],
)
def test_a_name_or_a_sentence_of_the_list_is_refused(
    tmp_path: Path, line: str, refused: str
) -> None:
    (module := tmp_path / "swarm_bench" / "new" / "new.py").parent.mkdir(parents=True)
    module.write_text(f'"""Documents what may go on."""\n{line}\n', encoding="utf-8")
    done = checked(tmp_path)
    assert done.returncode == 1
    (breach,) = done.stdout.splitlines()
    assert breach.startswith(f"swarm_bench/new/new.py:2: {refused}")


def test_a_phrase_of_the_list_is_refused_in_a_page(tmp_path: Path) -> None:
    (page := tmp_path / "docs" / "design" / "001.md").parent.mkdir(parents=True)
    page.write_text("# Placebo\n\nWhat it saves is no merit of the tool.\n", encoding="utf-8")
    done = checked(tmp_path)
    assert done.returncode == 1
    assert done.stdout == "docs/design/001.md:3: 'no merit': see .ci/words.py\n"


def test_the_package_keeps_to_it() -> None:
    assert checked(ROOT).stdout == ""
