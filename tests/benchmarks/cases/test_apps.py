"""Problems of contests: what is asked, read and run."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import integers, sampled_from
from pydantic import ValidationError

from swarm_bench.benchmarks.apps import Apps, Task
from swarm_bench.benchmarks.cases.problems import Judging, Problem, is_same_output, run_tests
from swarm_bench.benchmarks.cases.role import RowCase
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.datasets.rows import read_rows
from swarm_bench.environments.unconfined import Unconfined

pytestmark = pytest.mark.anyio
SQUARES = Problem(function=None, inputs=("2\n", "3\n", "4\n"), outputs=("4\n", "9\n", "16\n"))
LINE = "\n"
BUSY = "import time\nwhile time.process_time() < {}: pass"
"""What takes so many seconds of the processor."""
CALLS = Problem(function="square", inputs=([2], [3]), outputs=(4, [9]))


def case(**changes: Any) -> RowCase:
    row = {
        "problem_id": 7,
        "question": "Square a number.\n",
        "input_output": json.dumps({"inputs": ["2"], "outputs": ["4"]}),
        "difficulty": "interview",
    }
    task = Task.model_validate(row | changes)
    return RowCase(id="7", part=task.difficulty, row=task)


async def run(problem: Problem, program: str, timeout: float = 5, in_all: float = 60) -> list[int]:
    judging = Judging(environment=Unconfined(), timeout=timeout, in_all=in_all)
    return (await run_tests(judging, problem, program)).tests


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("print(int(input()) ** 2)", [1, 1, 1]),
        ("n = int(input())\nprint(n * n if n != 3 else 0)", [1, 0, 1]),
        ("n = int(input())\nprint(n * n)\n1 / (n - 3)", [1, -1, 1]),
        ("import os\nn = int(input())\nif n == 2: os.abort()\nprint(n * n)", [-1, 1, 1]),
        ("import sys\nprint(int(input()) ** 2)\nsys.exit(0)", [1, 1, 1]),
        ("import os\nos._exit(0)", [0, 0, 0]),
        ("print(4", [-2, -2, -2]),
        ("\0", [-2, -2, -2]),
        ("x = '\ud800'\nprint(int(input()) ** 2)", [1, 1, 1]),
        ("import os\nos.fork()\nprint(int(input()) ** 2)", [-1, -1, -1]),
        ("while True: print('x' * 1000)", [-1, -1, -1]),
        ("", [0, 0, 0]),
        ("#" * 200_000, [0, 0, 0]),
        ("if __name__ == '__main__':\n    print(np.square(int(input())))  # numpy", [1, 1, 1]),
        ("print(gcd(0, int(input()) ** 2))", [1, 1, 1]),
        ("print(pow(int(input()), 2, 10**9))", [1, 1, 1]),
        (
            "import builtins\nshadows = {*dir(builtins)} & {*globals()} - {*'__name__ __doc__ '"
            "'__loader__ __spec__ __package__'.split()}\n"
            "print(int(input()) ** 2, *shadows)",
            [1, 1, 1],
        ),
        ("print(Counter is collections.Counter and int(input()) ** 2)", [1, 1, 1]),
        ("\ufeffprint(int(input()) ** 2)", [1, 1, 1]),
    ],
)
async def test_what_a_program_prints_is_compared(program: str, expected: list[int]) -> None:
    assert await run(SQUARES, program) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("def square(n):\n    return n * n", [1, 1]),
        ("class Solution:\n    def square(self, n: List[int]):\n        return n * n", [1, 1]),
        ("def square(n):\n    return n + n", [1, 0]),
        ("def square(n):\n    return np.int64(n) ** 2", [1, 1]),
        ("def square(n):\n    return np.int64(n) + n", [1, 0]),
        ("def square(n):\n    return 1 / 0", [-1, -1]),
        ("def square(n):\n    raise AssertionError", [-1, -1]),
        (
            "class SwarmBenchDiffers(Exception): pass\ndef square(n):\n    raise SwarmBenchDiffers",
            [-1, -1],
        ),
        ("def square(n):\n    while n == 2: pass\n    return n * n", [-1, 1]),
        ("def square(n)", [-2, -2]),
        ("class E:\n    def __eq__(self, o): return True\ndef square(n):\n    return E()", [0, 0]),
        ("", [-1, -1]),
    ],
)
async def test_what_a_function_returns_is_compared(program: str, expected: list[int]) -> None:
    assert await run(CALLS, program) == expected


async def test_tuples_are_lists_and_digits_are_numbers() -> None:
    problem = Problem(function="f", inputs=([{"1": 2}], [{}]), outputs=([[1, 2], [3, 4]], [[5, 6]]))
    assert await run(problem, "def f(d):\n    return ((1, d[1]), (3, 4)) if d else (5, 6)") == [
        1,
        1,
    ]


@pytest.mark.parametrize("name", ["compare", "Differs", "inf"])
async def test_a_function_may_have_any_name(name: str) -> None:
    problem = Problem(function=name, inputs=([2], [3]), outputs=(4, 8))
    assert await run(problem, f"def {name}(n):\n    return n * n") == [1, 0]


async def test_what_json_has_no_number_for_is_compared() -> None:
    text = '{"fn_name": "f", "inputs": [[1], [-1], [0]], "outputs": [Infinity, -Infinity, NaN]}'
    problem = Problem.read(text)
    assert problem
    program = "def f(n):\n    return n * float('inf')"
    assert await run(problem, program) == [1, 1, 0]  # nothing is equal to NaN
    assert await run(problem, "def f(n):\n    return n") == [0, 0, 0]


async def test_more_time_than_for_all_fails_all() -> None:
    slow = f"{BUSY}\nprint(int(input()) ** 2)".format(0.4)
    judging = Judging(environment=Unconfined(), timeout=5, in_all=0.8)
    became = await run_tests(judging, SQUARES, slow)
    assert became.tests == [-1, -1, -1]
    assert became.timed_out


async def test_outputs_and_values_may_be_as_long_as_those_that_are_expected() -> None:
    printing = "print(*range(int(input())), sep='\\n')"
    lines = [LINE.join(map(str, range(number))) for number in (200_000, 10)]
    long = Problem(function=None, inputs=("200000", "10"), outputs=tuple(lines))
    assert await run(long, printing) == [1, 1]
    assert await run(long, "print('x' * 10**7)") == [-1, -1]
    calls = Problem(function="f", inputs=([2**24],), outputs=("x" * 2**24,))
    assert await run(calls, "def f(n): return 'x' * n") == [1]
    assert await run(calls, "def f(n): return 'x' * 5 * n") == [-1]


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("1 2\n3\n", True),
        ("  1 2  \n\n3", True),
        ("1.0 2\n+3", True),
        ("1.0000001 2\n3", False),
        ("2 1\n3", True),  # as the original, which compares sets
        ("1 2 3", True),  # as the original: all numbers are alike
        ("1 2\n4", False),
        ("1 2", False),
        ("", False),
        ("nan nan\nnan", False),
    ],
)
def test_outputs_are_compared_as_the_original_does(printed: str, same: bool) -> None:
    assert is_same_output(printed, "1 2\n3\n") is same


@pytest.mark.parametrize(
    ("printed", "expected", "near"),
    [
        ("1000000006", "1000000007", True),
        ("123456789012345678", "123456789012345679", True),
        ("1" * 400 + "2", "1" * 400 + "3", True),  # both are infinite as floats
        ("-99999", "-100000", True),
        ("5 99999", "100000 5", False),
        ("7.00001", "7", True),
        ("0", "0.0004", True),
        ("0", "1e-5", True),
        ("2.1", "2.0", False),
        ("nan", "1.0", False),
        ("inf", "1e400", True),
        ("x", "1", False),
        ("1_000", "1000", True),
        ("٣", "3", True),
        ("３", "3", True),
    ],
)
def test_numbers_that_are_wrong_differ_but_in_parity(
    printed: str, expected: str, near: bool
) -> None:
    assert not is_same_output(printed, expected)
    assert is_same_output(printed, expected, parity=True) is near


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("1000000007.0", "1000000007"),
        ("1e2", "100"),
        ("0.33333333", "0.3333"),  # its last decimal is rounded
        ("3.14159", "3.14159265"),
        ("2.0004", "2.0"),
        ("1000000.01 -0.0", "1000000.0 0"),
        ("b 2.50001 a", "a b 2.5"),
        ("9" * 5000, "9" * 5000 + ".0"),
        ("YES", "YES\n"),
    ],
)
def test_numbers_with_decimals_are_near_or_written_otherwise(printed: str, expected: str) -> None:
    assert is_same_output(printed, expected)
    assert is_same_output(printed, expected, parity=True)


@given(integers(), integers(), sampled_from(["{}", "{} 1", "1\n{}", "x {}"]))
def test_whole_numbers_are_equal_to_themselves_alone(own: int, other: int, form: str) -> None:
    assert is_same_output(form.format(own), form.format(other)) is (own == other)


def test_a_word_that_is_missing_is_missed_but_in_parity() -> None:
    assert not is_same_output("2 1", "1 1 2")
    assert is_same_output("2 1", "1 1 2", parity=True)
    assert not is_same_output("2.0001 x", "x x 2")
    assert is_same_output("2.0001 x", "x x 2", parity=True)


async def test_starting_interpreters_is_no_time_of_the_programs() -> None:
    many = Problem(function=None, inputs=("2",) * 12, outputs=("4",) * 12)
    assert await run(many, "print(int(input()) ** 2)", in_all=0.6) == [1] * 12


async def test_a_test_may_take_as_long_in_either_form() -> None:
    read = f"{BUSY}\nprint(int(input()) ** 2)".format(1.5)
    called = f"def f(x):\n    {BUSY.replace(LINE, LINE + '    ')}\n    return x * x".format(1.5)
    one = Problem(function=None, inputs=("2",), outputs=("4",))
    assert await run(one, read, timeout=1) == [-1]
    assert await run(one, read, timeout=3) == [1]
    calls = Problem(function="f", inputs=([2],), outputs=(4,))
    assert await run(calls, called, timeout=1) == [-1]
    assert await run(calls, called, timeout=3) == [1]


async def test_to_sleep_is_no_time_of_the_program_s() -> None:
    """A busy machine looks the same; whoever sleeps on is ended in `test_checker.py`."""
    sleeps = "import time\ntime.sleep(2.5)\nprint(int(input()) ** 2)"
    assert await run(SQUARES, sleeps, timeout=1, in_all=1) == [1, 1, 1]


@pytest.mark.parametrize("solutions", ["", "[]", []])
def test_a_problem_may_have_no_answer(solutions: Any) -> None:
    asked = Apps().ask(case(solutions=solutions), "text")
    assert asked.reference is None
    assert Apps().lesson(case(solutions=solutions)).endswith("ANSWER:\n")


def test_answers_that_are_no_list_are_named_with_their_row() -> None:
    with pytest.raises(ValidationError, match="must be a JSON list within a text"):
        case(solutions="[")


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"inputs": [1], "outputs": 5}',
     "[]", "{}", '{"inputs": [], "outputs": []}', '{"inputs": [1], "outputs": []}',
     '{"fn_name": "a b", "inputs": [[1]], "outputs": [1]}',
     '{"fn_name": "f", "inputs": ["1"], "outputs": [1]}'],
)  # fmt: skip
def test_tests_that_cannot_be_read_are_none(text: str) -> None:
    assert Problem.read(text) is None


def test_tests_may_have_a_byte_order_mark() -> None:
    assert Problem.read('\ufeff{"inputs": ["1"], "outputs": ["1"]}')


def test_prompts_of_both_setups() -> None:
    prompt = "\nQUESTION:\nSquare a number.\n\nUse Standard Input format\nANSWER:\n"
    assert Apps().ask(case(), "text").prompt == prompt
    swapped = Apps(swap_labels=True).ask(case(), "text").prompt
    assert swapped == prompt.replace("Standard Input", "Call-Based")
    called = case(input_output=json.dumps({"fn_name": "f", "inputs": [[1]], "outputs": [1]}),
                  starter_code="def f(n):")  # fmt: skip
    asked = Apps().ask(called, "text").prompt
    assert asked == "\nQUESTION:\nSquare a number.\ndef f(n):\nUse Call-Based format\nANSWER:\n"
    blank = Apps(blank_before_starter=True).ask(called, "text").prompt
    assert isinstance(blank, str)
    assert "number.\n\ndef f(n):" in blank
    shown = Apps(setup="few-shot").ask(case(), "text").prompt
    assert isinstance(shown, str)
    assert shown.endswith(prompt)
    assert shown.count("\nANSWER:") == 3


HARNESS = {
    "problem_type1": "Read a number.\n",
    "solution_type1": "print(1)\n",
    "problem_type2": "Return it.",
    "solution_type2": "def f(): return 1\n",
}


@pytest.mark.parametrize("shots", [HARNESS, json.dumps(HARNESS)])
def test_examples_are_read_as_the_bigcode_harness_has_them(shots: object) -> None:
    own = Apps.model_validate({"setup": "few-shot", "shots": shots})
    assert own.ask(case(), "text").prompt == (
        "Implement answers to the following questions:\nQUESTION:\nRead a number.\n\n"
        "Use Standard Input format\nANSWER:\nprint(1)\n\nQUESTION:\nReturn it.\n"
        "Use Call-Based format\nANSWER:\ndef f(): return 1\n\n"
        f"{Apps().ask(case(), 'text').prompt}"
    )
    assert Apps.model_validate(own.model_dump(mode="json")) == own
    assert not own.mistaken("text")


@pytest.mark.parametrize(
    "shots",
    [{**HARNESS, "more": "a"}, {**HARNESS, "solution_type1": 1}, {**HARNESS, "problem_type1": ""},
     {"instruction1": "a"}, {}],
)  # fmt: skip
def test_other_objects_are_no_examples(shots: object) -> None:
    for written in (shots, json.dumps(shots)):
        with pytest.raises(ValidationError, match="problem_type1, solution_type1, problem_type2"):
            Apps.model_validate({"setup": "few-shot", "shots": written})


@pytest.mark.parametrize(
    ("shots", "number"),
    [("QUESTION:\na", "none"), ("\nANSWER:\n", "1"), ("\nANSWER:\n" * 3, "3"), ("[1]", "none")],
)
def test_examples_have_two_answers(shots: str, number: str) -> None:
    for way in ("text", "chat"):
        clause = Apps(setup="few-shot", shots=shots).mistaken(way)["shots"]
        assert clause.endswith(f"has {number}; fix it")
    assert Apps(shots=shots).mistaken("text") == {
        "shots": "has no effect with setup=finetuning; omit it"
    }
    assert not Apps().mistaken("text")


def test_answers_of_files_have_their_prompt_before_them() -> None:
    def read(apps: Apps, text: str, *, whole: bool) -> str:
        said = Completion(text=text, finish=None, usage=Usage(), whole=whole)
        return apps.read(case(), said, "text")

    assert read(Apps(), "print(4)\n---\nmore", whole=False) == "print(4)"
    assert read(Apps(parity=True), "print(4)\n---\nmore", whole=False) == "print(4)\n---\nmore"
    prompt = Apps().ask(case(), "text").prompt
    assert read(Apps(), f"{prompt}print(4)", whole=True) == "\nprint(4)"
    few = Apps(setup="few-shot")
    assert read(few, f"{few.ask(case(), 'text').prompt}print(4)", whole=True) == "\nprint(4)"
    assert read(few, "print(4)", whole=True) == "print(4)"


def test_levels_choose_among_the_shipped_problems() -> None:
    rows = read_rows("apps-mini", Task).rows
    for level, number in (("all", 10), ("introductory", 3), ("interview", 3), ("competition", 4)):
        apps = Apps.model_validate({"level": level})
        assert len(list(apps.cases(rows))) == number
