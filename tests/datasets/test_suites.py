from datetime import date
from pathlib import Path

import pytest

from swarm_bench.config.shipped import SUITES
from swarm_bench.core.errors import ConfigError, UnknownName, UsageError
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.suites import (
    TaskFile,
    check_keys,
    find_suite,
    list_suites,
    read_suite,
    write_suite,
)
from tests.builders.golden import Sentences


def suite_file(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_suites_can_be_used() -> None:
    assert all(listing.problem is None for listing in list_suites())
    assert [task.id for task in find_suite("exploration").tasks] == [
        "auth-flow",
        "data-models",
        "request-life-cycle",
        "background-jobs",
        "plugin-architecture",
    ]
    assert len(find_suite("ab").tasks) == 4


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = suite_file(tmp_path, "tasks:\n  - {id: a, title: Ä, prompt: 'Where?'}\n")
    suite = find_suite(str(path))
    assert (suite.name, suite.tasks[0].title, suite.tasks[0].prompt) == ("mine", "Ä", "Where?")


def test_a_copy_of_a_shipped_suite_is_no_other_one_and_another_text_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = SUITES.find("ab")
    (tmp_path / "tasks").mkdir()
    own = tmp_path / "tasks" / "ab.yaml"
    own.write_bytes(shipped.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert find_suite("ab").source == str(shipped)
    own.write_bytes(shipped.read_bytes() + b"# mine\n")
    with pytest.raises(ConfigError, match="Two files define the task suite 'ab'"):
        find_suite("ab")


def test_an_unknown_suite_is_named_with_a_hint() -> None:
    with pytest.raises(UnknownName, match="no task suite called 'exploratoin'; did you mean"):
        find_suite("exploratoin")


def test_a_file_that_is_taken_for_a_name_is_told_from_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yml").touch()
    with pytest.raises(UsageError, match=r"for the file of that name give its path, \./mine\.yml"):
        find_suite("mine.yml")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tasks:\n  - id: a\n   title: b\n", 3, "not YAML"),
        ("tasks: []\n", 1, "tasks must not be empty"),
        ("tasks:\n  - id: a\n    title: b\n", 2, "task 'a': prompt is missing"),
        ("tasks:\n  - id: a\n    title: b\n    prompt: c\n    hint: d\n", 5, "task 'a': hint"),
        ("tasks:\n  - id: a b\n    title: b\n    prompt: c\n", 2, "task 'a b': id"),
        (
            "tasks:\n  - id: a\n    title: b\n    prompt: c\n    group: 3\n",
            5,
            "task 'a': group",
        ),
        (
            "tasks:\n  - {id: a, title: b, prompt: c, group: ' '}\n",
            2,
            "task 'a': group must not be empty",
        ),
        ("tasks:\n  - id: a\n    title: b\n    prompt: c\n    group:\n", 5, "task 'a': group"),
        (
            "tasks:\n  - {id: a, title: b, prompt: c}\n  - {id: a, title: b, prompt: c}\n",
            3,
            "the id 'a' is taken",
        ),
        ("tasks:\n  - {id: a, title: b, prompt: c, weight: 1.0e+308}\n", 2, "task 'a': weight"),
        ("tasks:\n  - {id: a, title: b, prompt: c, weight: 0}\n", 2, "task 'a': weight"),
        ("tasks:\n  - {id: a, title: b, prompt: c, weight: .nan}\n", 2, "task 'a': weight"),
        ("- a\n", 1, "it must be a mapping"),
        ("tasks:\n  - {id: a, title: 2026-99-99, prompt: c}\n", 0, "not YAML"),
        ('tasks:\n  - {id: a, title: b, prompt: "c\\0"}\n', 2, "task 'a': prompt"),
        ("", 1, "it must be a mapping"),
        ("tasks:\n  - {id: a, title: b, prompt: ' '}\n", 2, "task 'a': prompt must not be empty"),
        ("tasks:\n  - {id: 1, title: b, prompt: c}\n", 2, "must be a string; put it into quotes"),
        ("tasks:\n  - id: a\n    prompt: see: it\n", 3, "quote a value that contains ': '"),
    ],
)
def test_a_wrong_file_names_file_and_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = suite_file(tmp_path, text)
    with pytest.raises(ConfigError, match=words) as caught:
        read_suite(path)
    assert str(caught.value).startswith(f"{path}:{line}:" if line else f"{path}:")


def test_an_id_that_is_taken_is_named_beside_other_mistakes(
    tmp_path: Path, golden: Sentences
) -> None:
    task = "  - {id: a, title: b, prompt: c}\n"
    path = suite_file(tmp_path, f"tasks:\n{task}{task}  - {{id: d, prompt: e}}\n")
    with pytest.raises(ConfigError) as caught:
        read_suite(path)
    assert f"{path}:3: the id 'a' is taken" in str(caught.value)
    golden(str(caught.value))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(a", "must be a regular expression"),
        ("(" * 450 + "a" + ")" * 450, "must be a regular expression"),
        ("a" * 1001, "at most 1,000 characters"),
        ("(?:(?:ab|c){1000}){1000}", "more than 10,000 times"),
        ("a{99999999}", "more than 10,000 times"),
    ],
)
def test_a_pattern_that_cannot_be_compiled_in_bounds_is_refused(
    tmp_path: Path, pattern: str, words: str
) -> None:
    task = f"{{id: a, title: b, prompt: c, key: {{facts: ['{pattern}']}}}}"
    with pytest.raises(ConfigError, match=words):
        read_suite(suite_file(tmp_path, f"tasks:\n  - {task}\n"))


def test_patterns_as_people_write_them_can_be_compiled(tmp_path: Path) -> None:
    pattern = r"(?i)retr(y|ies)[\s\S]{0,500}\d{1,3} ?s(ec|econds)?\b.{0,500}backoff"
    task = f"{{id: a, title: b, prompt: c, key: {{facts: ['{pattern}']}}}}"
    (made,) = read_suite(suite_file(tmp_path, f"tasks:\n  - {task}\n")).tasks
    assert made.key == AnswerKey(facts=(pattern,))


def test_tasks_with_and_without_a_key_are_not_compared_in_one_session(tmp_path: Path) -> None:
    keyed = "  - {id: a, title: b, prompt: c, key: {files: [a.py]}}\n"
    bare = "  - {id: b, title: b, prompt: d}\n"
    every = {
        name: read_suite(suite_file(tmp_path, f"tasks:\n{tasks}"))
        for name, tasks in (("keyed", keyed), ("bare", bare), ("mixed", keyed + bare))
    }
    assert check_keys(every["keyed"], ()) is every["keyed"]
    assert check_keys(every["bare"], ()) is every["bare"]
    with pytest.raises(UsageError, match=r"1 of 2 tasks has no answer key \(b\)"):
        check_keys(every["mixed"], ())
    both = [*every["keyed"].tasks, *every["bare"].tasks]
    with_keys = [task.model_copy(update={"key": every["keyed"].tasks[0].key}) for task in both]
    with pytest.raises(UsageError, match=r"\(b\)"):
        check_keys(every["mixed"], with_keys)  # known tasks, one of which has lost its key
    with pytest.raises(UsageError, match="1 of 2 tasks"):
        check_keys(every["bare"], every["keyed"].tasks)
    check_keys(every["mixed"], every["mixed"].tasks)  # an older session goes on


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
