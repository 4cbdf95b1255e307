"""Task files that a program writes."""

from datetime import date
from pathlib import Path

import pytest

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.suites import read_suite
from swarm_bench.datasets.writing import TaskFile, write_suite

PROMPTS = (
    "Where is it?",
    "Which files have to change for this?\nRound the total: coupons first. " + "word " * 60 + "end",
    '"quoted": yes, #1 and `code` {a: b} — ä\n- not a list\n  indented',
    "true",
    "tab\tand \x85 odd \x07 \ufeff characters",
)


def _task(prompt: str, number: int) -> Task:
    key = AnswerKey(files=("a b.py", "#c.py"), symbols=("a b.py::C.m",), facts=(r"\d+: x",))
    return Task(
        id=f"t{number}",
        title=prompt[:20].strip() or "title",
        prompt=prompt,
        keywords="no: yes",
        commit="a" * 40,
        written=date(2026, 1, 2),
        key=key,
        weight=2.5,
        tags=("changes", "go, c"),
    )


def _file(tasks: tuple[Task, ...]) -> TaskFile:
    return TaskFile(
        description="Some tasks.",
        answer_format="Name files. " * 20 + "End.",
        made="swarm-bench tasks make --seed 0",
        since=date(2026, 1, 1),
        tasks=tasks,
    )


@pytest.mark.parametrize("prompt", PROMPTS)
def test_what_is_written_is_read_as_it_was(tmp_path: Path, prompt: str) -> None:
    file = _file((_task(prompt, 1), Task(id="t2", title="T", prompt="Where?")))
    path = tmp_path / "made.yaml"
    path.write_text(write_suite(file), encoding="utf-8")
    suite = read_suite(path)
    assert suite.tasks == tuple(file.tasks)
    assert (suite.since, suite.made, suite.description) == (file.since, file.made, "Some tasks.")
    assert suite.answer_format == file.answer_format


def test_a_person_can_read_it() -> None:
    text = write_suite(_file((_task(PROMPTS[1], 1),)))
    assert max(map(len, text.splitlines())) <= 100
    assert "\n    prompt: >-\n      Which files have to change for this?\n" in text
    assert "\n    tags: [changes, 'go, c']\n" in text
    assert "\n    key:\n      files:\n        - a b.py\n" in text
    assert not any(line != line.rstrip() for line in text.splitlines())
