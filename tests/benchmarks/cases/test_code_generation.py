"""How the benchmarks of code ask, and what they read of an answer."""

import pytest
from pydantic import ValidationError

from swarm_bench.benchmarks.cases.passing import pass_at
from swarm_bench.benchmarks.cases.role import RowCase, Tools
from swarm_bench.benchmarks.humaneval import Function, HumanEval
from swarm_bench.benchmarks.mbpp import Function as Task
from swarm_bench.benchmarks.mbpp import Mbpp
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion
from swarm_bench.environments.unconfined import Unconfined

PROMPT = 'import math\n\n\ndef one(x):\n    """ Return 1.\n    """\n'
ONE = RowCase(
    id="1",
    row=Function(
        task_id="1",
        prompt=PROMPT,
        canonical_solution="    return 1\n",
        test="def check(candidate):\n    assert candidate(2) == 1\n",
        entry_point="one",
    ),
)
TWO = RowCase(
    id="11",
    row=Task.model_validate(
        {
            "task_id": 11,
            "text": "Write a function that returns 2.",
            "code": "def two():\r\n  return 2",
            "test_list": ["assert two() == 2", "assert two() != 3"],
        }
    ),
)


def said(text: str, *, whole: bool = False) -> Completion:
    return Completion(text=text, finish="stop", usage=Usage(), whole=whole)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [  # what the bigcode harness computes
        (1, 0, 1, 0.0),
        (2, 1, 2, 1.0),
        (5, 2, 1, 0.4),
        (5, 2, 3, 0.9),
        (10, 3, 5, 0.9166666666666666),
        (20, 1, 10, 0.5),
        (200, 1, 1, 0.005),
        (200, 1, 100, 0.5),
        (200, 13, 10, 0.4975511147306061),
        (200, 101, 100, 1.0),
    ],
)
def test_pass_at_k_is_that_of_other_harnesses(n: int, c: int, k: int, value: float) -> None:
    assert pass_at(k)([1.0] * c + [0.0] * (n - c)) == pytest.approx(value, abs=1e-9)


def test_pass_at_k_needs_k_answers() -> None:
    assert pass_at(10)([1.0] * 9) is None


def test_an_answer_ends_at_the_first_stop_word_and_nothing_is_trimmed() -> None:
    text = "    return 1\n\n\n\ndef two():\n    return 2\nprint(1)"
    assert HumanEval().read(ONE, said(text), "text") == PROMPT + "    return 1\n\n\n"
    assert HumanEval().read(ONE, said("  \n"), "text") == PROMPT + "  \n"


def test_an_answer_of_a_file_is_not_cut_and_may_have_the_prompt() -> None:
    whole = PROMPT + "    return 1\n\ndef helper(): pass\n"
    assert HumanEval().read(ONE, said(whole, whole=True), "text") == whole


@pytest.mark.parametrize(
    "text",
    [
        "Sure!\n```python\ndef one(x):\n    return math.sqrt(1)\n```\nIt returns 1.",
        "def one(x):\n    return math.sqrt(1)\n",
        "~~~\ndef one(x):\n    return math.sqrt(1)",
    ],
)
def test_a_function_is_read_from_its_fence_and_has_the_imports_of_the_prompt(text: str) -> None:
    code = HumanEval().read(ONE, said(text), "chat")
    assert code.startswith("import math\n\n\ndef one(x):\n    return math.sqrt(1)")
    assert "Sure" not in code
    assert "It returns" not in code


def test_a_body_alone_is_put_behind_the_prompt() -> None:
    code = HumanEval().read(ONE, said("```python\n    return 1\n```"), "chat")
    assert code == PROMPT + "    return 1\n"


@pytest.mark.parametrize(
    "body",
    ["x = 1\n    if x:\n        return x\n", "x = 1\nif x:\n    return x\n"],
)
@pytest.mark.parametrize(
    "text", ["{}", "```python\n{}```\nIt is one.", f"```python\n{PROMPT}```\n```python\n{{}}```"]
)
def test_a_body_may_have_lost_its_indentation(body: str, text: str) -> None:
    code = HumanEval().read(ONE, said(text.format(body)), "chat")
    assert code == PROMPT + "    x = 1\n    if x:\n        return x\n"


def test_parity_strips_the_prompt() -> None:
    asked = HumanEval(parity=True).ask(ONE, "text")
    assert (asked.prompt, asked.reference) == (PROMPT.strip(), "\n    return 1\n")
    assert HumanEval().ask(ONE, "text").prompt == PROMPT


def test_prompts_of_both_styles() -> None:
    docstring = '"""\nWrite a function that returns 2.\nassert two() == 2\n"""\n'
    assert Mbpp().ask(TWO, "text").prompt == docstring
    shown = Mbpp(include_solution=True).ask(TWO, "text").prompt
    assert shown == f"{docstring}def two():\r\n  return 2\n"
    google = Mbpp(style="google").ask(TWO, "text").prompt
    assert google == (
        "Write a function that returns 2. Your code should satisfy these tests:\n"
        "\nassert two() == 2\nassert two() != 3"
    )
    bare = Mbpp(style="google", include_tests=False).ask(TWO, "text").prompt
    assert bare == "Write a function that returns 2."


def test_only_the_rows_that_models_are_tested_on_are_cases() -> None:
    rows = [TWO.row.model_copy(update={"task_id": number}) for number in (10, 11, 510, 511)]
    assert [case.id for case in Mbpp().cases(rows)] == ["11", "510"]
    with pytest.raises(UsageError, match="a task_id from 11 to 510"):
        Mbpp().cases(rows[::3])


def test_an_answer_of_the_data_set_that_is_no_python_is_named() -> None:
    row = {"task_id": 11, "text": "?", "code": "def f(:", "test_list": ["assert f()"]}
    with pytest.raises(ValidationError, match="is no Python"):
        Task.model_validate(row)


@pytest.mark.parametrize("parity", [False, True])
@pytest.mark.parametrize("before", ["", "from typing import List\n\n\n"])
@pytest.mark.anyio
async def test_an_answer_may_begin_with_the_future(before: str, parity: bool) -> None:
    """What the row has before its function is put before the answer, and is code of its own."""
    row = {
        "task_id": "a/0",
        "prompt": f"\n{before}def f(x: int) -> int:\n    '''Square.'''\n",
        "canonical_solution": "    return x * x\n",
        "test": "def check(f):\n    assert f(3) == 9\n",
        "entry_point": "f",
    }
    case = RowCase(id="a/0", row=Function.model_validate(row))
    answer = "from __future__ import annotations\n\ndef f(x: Missing) -> int:\n    return x * x\n"
    benchmark = HumanEval(parity=parity)
    program = benchmark.read(case, said(f"```python\n{answer}```"), "chat")
    scores = await benchmark.score(case, program, Tools(environment=Unconfined()))
    assert scores == {"passed": True, "end": "passed"}
