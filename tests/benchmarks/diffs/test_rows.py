"""Rows of a benchmark of diffs have what they need, or are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from swarm_bench.benchmarks.diffs.applying import apply, find_diff, read_diff
from swarm_bench.benchmarks.diffs.benchmark import UnifiedDiff
from swarm_bench.benchmarks.diffs.rows import Edit
from swarm_bench.environments.unconfined import Unconfined

TESTS = "from main import f\nassert f() == 1\n"
COMMAND = {"command": "sh {tests}"}


def row(**changes: Any) -> Edit:
    content = {"sourceCode": "def f():\n    return 0\n", "unitTests": TESTS, **changes}
    return Edit.model_validate(content)


def test_what_a_row_does_not_say() -> None:
    assert (row().file, row().argv, row().tests) == ("main.py", (), {})
    javascript = row(language="javascript", unitTests="x")
    assert javascript.file == "main.js"
    assert javascript.argv == ("node", "unit_tests.js")
    assert javascript.tests == {"unit_tests.js": "x"}
    assert row(language="go", command="go run {tests}").file == "main.go"


def test_a_command_is_words_as_a_shell_has_them() -> None:
    quoted = row(command="sh -c 'echo \"{tests}\" b' {tests}", file="a/b.py")
    assert quoted.argv == ("sh", "-c", 'echo "unit_tests.py" b', "unit_tests.py")
    assert row(command="sh other.sh").tests == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"unitTests": ""},
        {"unitTests": "x = 1"},
        {"unitTests": "def test_a(:"},
        {"sourceCode": None},
        {"language": "go"},
        {"files": {"other.py": ""}},
        {"files": {"main.py": ""}, **COMMAND},
        *(
            {"file": name, **COMMAND}
            for name in ("../a.py", "/a.py", "a/../b.py", "a//b.py", "a\0")
        ),
        {"files": {"./a.py": ""}, **COMMAND},
        {"files": {"main.py/a.py": ""}, **COMMAND},
        {"files": {"unit_tests.py": ""}, **COMMAND},
        {"files": {"unit_tests.py/a": ""}, **COMMAND},
        {"files": {"answer.patch": ""}, **COMMAND},
        {"files": {"answer.patch/a": ""}, **COMMAND},
        {"files": {"a": "", "a/b": ""}, **COMMAND},
        {"files": {f"{130 * 'é'}.py": ""}, **COMMAND},
        {"files": {"\ud800.py": ""}, **COMMAND},
        {"sourceCode": "x = '\ud800'"},
        {"command": "sh \0"},
        {"command": "sh '"},
        {"checkout": {"folder": ".", "commit": "a"}},
    ],
)
def test_rows_that_cannot_be_run_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refusal:
        row(**wrong)
    assert len(refusal.value.errors()) == 1


def test_the_right_answer_is_the_diff_to_the_solution_or_the_patch() -> None:
    benchmark = UnifiedDiff()

    def reference(**changes: Any) -> str | None:
        (case,) = benchmark.cases([row(**changes)])
        return benchmark.ask(case, "chat").reference

    assert reference() is None
    assert reference(patch="--- a\n") == "```diff\n--- a\n```"
    ticks = "def f():\n    '''\n```\n````\n'''\n    return 1\n"
    (change,) = read_diff(find_diff(str(reference(solution=ticks)))).changes
    assert change.names == ["a/main.py", "b/main.py"]
    new = [text for sign, text in change.hunks[0].lines if sign != "-"]
    assert new == ticks.splitlines()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb", "a\nc"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("", "a"),
        ("a\u2028b\nc\x0cd\x85e\n", "a\u2028B\nc\x0cD\x85e\n"),
        ("a\rb\r\nc\r\n", "a\rB\r\nc\r\n"),
    ],
)
async def test_the_right_diff_applies_strictly_whatever_ends_its_lines(old: str, new: str) -> None:
    benchmark = UnifiedDiff()
    (case,) = benchmark.cases([row(sourceCode=old, solution=new)])
    diff = read_diff(find_diff(benchmark.lesson(case)))
    applied = await apply(Unconfined(), diff, case.row.every_file, "main.py", tolerant=False)
    assert (applied.strict, applied.files) == (True, {"main.py": new}), applied


def test_parts_are_difficulties_and_files_are_shown_whole() -> None:
    benchmark = UnifiedDiff()
    rows = [
        row(id="a", difficulty="hard", prompt="Return 1."),
        row(files={"data.txt": "````\n"}, **COMMAND),
    ]
    first, second = benchmark.cases(rows)
    assert [(it.id, it.part) for it in (first, second)] == [("a", "hard"), ("1", None)]
    shown = benchmark.ask(first, "chat").texts[-1]
    assert "Return 1." in shown
    assert TESTS not in shown
    shown = benchmark.ask(second, "chat").texts[-1]
    assert TESTS in shown
    assert "`````python\n````\n`````" in shown
