"""The benchmark `apps` (Hendrycks et al. 2021)."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field, field_validator

from swarm_bench.benchmarks.cases.passing import PASSED, answer_share, of_answer, pass_metrics
from swarm_bench.benchmarks.cases.problems import Judging, Problem, run_tests
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.texts import cut, find_program
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way
from swarm_bench.environments.python_tests import SECONDS, SEPARATE_PROCESS

STOPS = ("\nQUESTION", "\n---", "\nANSWER")
_ANSWER = "\nANSWER:"
_EXAMPLES = 2
_INPUT, _CALL = "\nUse Standard Input format", "\nUse Call-Based format"
_READS_AND_PRINTS = re.compile(
    r"\A(?=.*\b(?:input|stdin|fileinput|open|read)\b)(?=.*\b(?:print|stdout|write|open)\b)", re.S
)
"""Pattern of a program that reads its standard input and prints."""
_MOST_NAMED = 10
"""Rows in a sentence."""
_FENCED = "Answer with the whole Python program in one code block.\n"
_SHOTS = (
    "Implement answers to the following questions:\nQUESTION:\n"
    "Read a number, and print the sum of its digits.\n\n"
    "-----Input-----\nA number.\n\n-----Output-----\nThe sum.\n"
    f"{_INPUT}\nANSWER:\nprint(sum(map(int, input().strip())))\n"
    "\nQUESTION:\nWrite a function that counts the leaves of a tree of nested lists.\n"
    f"{_CALL}\nANSWER:\ndef leaves(tree):\n"
    "    return sum(map(leaves, tree)) if isinstance(tree, list) else 1\n"
)


_KEYS = ("problem_type1", "solution_type1", "problem_type2", "solution_type2")


def _write_examples(value: Any) -> Any:
    """Return the text of two examples, of JSON as the bigcode harness has it. Raises
    `ValueError`."""
    try:
        examples = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
    if not isinstance(examples, dict):
        return value
    texts = [examples.get(key) for key in _KEYS]
    if examples.keys() != {*_KEYS} or not all(isinstance(text, str) and text for text in texts):
        raise ValueError(f"must have {', '.join(_KEYS)} as JSON, each of them a text")
    read, read_code, call, called_code = texts
    return (
        f"Implement answers to the following questions:\nQUESTION:\n{read}{_INPUT}\nANSWER:\n"
        f"{read_code}\nQUESTION:\n{call}{_CALL}\nANSWER:\n{called_code}"
    )


class Task(BaseModel):
    """A problem, its answers and its tests, which are JSON within a text."""

    problem_id: int
    question: str
    solutions: list[str] = []
    input_output: str
    difficulty: Literal["introductory", "interview", "competition"]
    starter_code: str = ""

    @field_validator("solutions", mode="before")
    @classmethod
    def _read_list(cls, value: object) -> object:
        """Read the list within the text; a problem without answers may have an empty one."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value or "[]")
        except (ValueError, RecursionError) as error:
            raise ValueError("must be a JSON list within a text") from error


class Apps(ModelBenchmark):
    """Problems of programming contests, each with tests of what a program prints or returns."""

    name: ClassVar[str] = "apps"
    dataset: ClassVar[str] = "apps-mini"
    Row: ClassVar[type[BaseModel]] = Task
    executes: ClassVar[bool] = True
    oddities: ClassVar[tuple[str, ...]] = (
        "swap_labels=true calls problems of standard input call-based, and the other way round, as "
        "an early listing does.",
        "parity=true leaves stop words in answers, and compares the words of a line as sets: "
        "'1 1 2' is '2 1'. Elsewhere a crash in one test ends all tests.",
        "The data set itself is not shipped: give its rows with --dataset.",
        "A program may print the words of a line in any order. Numbers with a point or an exponent "
        "have a tolerance (1 in 100,000, or half of their last decimal up to 0.0005), and whole "
        "ones have none; with parity=true all have it, so that 1000000000 is 1000000007.",
        "A prompt that is longer than a model can read fails (context-overflow); the original cuts "
        "it so that its end stays.",
        "A program that is no Python has -2 for each test, where the original has a single one.",
        "The accuracies and pass@k are shown for any number of runs; the original has the ones for "
        "one answer, and the others for several.",
        SEPARATE_PROCESS,
    )

    setup: Literal["finetuning", "few-shot"] = Field(
        default="finetuning", description="Whether two examples stand before a problem."
    )
    level: Literal["all", "introductory", "interview", "competition"] = Field(
        default="all", description="Difficulty of the problems."
    )
    shots: Annotated[str, BeforeValidator(_write_examples)] = Field(
        default=_SHOTS,
        description=f"Two examples of few-shot: their text, or JSON with {', '.join(_KEYS)}.",
    )
    swap_labels: bool = Field(default=False, description="Exchange the two forms of a program.")
    blank_before_starter: bool = Field(
        default=False, description="Begin a line before the code that is given, as the paper does."
    )
    temperature: float | None = Field(default=0.2, ge=0, description="Of sampling.")
    top_p: float | None = Field(default=0.95, gt=0, le=1, description="Of sampling.")
    max_tokens: int = Field(default=1024, ge=1, description="Of an answer.")
    timeout: float = Field(default=4, gt=0, le=600, description=f"{SECONDS} Of each test.")
    timeout_in_all: float = Field(
        default=10, gt=0, description="Seconds of processor time for all tests."
    )

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Refuse examples that nobody is shown, and those whose answers are not two."""
        if self.setup != "few-shot":
            return self.without_effect("shots", "with setup=finetuning")
        if (number := self.shots.count(_ANSWER)) == _EXAMPLES:
            return {}
        return {
            "shots": f"must have {_EXAMPLES} lines that begin with ANSWER:, one before each "
            f"answer, and has {number or 'none'}; fix it"
        }

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each problem of the level; a part is a difficulty."""
        selected = (row for row in rows if self.level in ("all", row.difficulty))
        return (
            RowCase(id=str(row.problem_id), title=_make_title(row), part=row.difficulty, row=row)
            for row in selected
        )

    def faults(self, rows: Sequence[Any]) -> Sequence[str]:
        """Name the problems that have no figure."""
        broken = [str(row.problem_id) for row in rows if Problem.read(row.input_output) is None]
        if not broken:
            return ()
        named = ", ".join(broken[:_MOST_NAMED]) + (" and others" if broken[_MOST_NAMED:] else "")
        return (
            f"The tests of {len(broken)} of {len(rows)} problems cannot be read, and no answer to "
            f"them has a figure: {named}.",
        )

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Put the problem, with the form that a program must have."""
        prompt, solutions = self._write_prompt(case.row), case.row.solutions
        sampling = self.sampling(*STOPS) if way == "text" else self.sampling()
        reference = solutions[0] if solutions else None
        if way == "text":
            return Ask(prompt=prompt, sampling=sampling, reference=reference)
        turns = (Turn(role="user", text=f"{_FENCED}{prompt}"),)
        fence = None if reference is None else f"```python\n{reference}\n```"
        return Ask(prompt=turns, sampling=sampling, reference=fence)

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the program: what stands behind the last answer mark of the prompt."""
        if way == "chat":
            problem = Problem.read(case.row.input_output)
            function = problem.function if problem else None
            return find_program(
                completion.text, names=(function,) if function else (), sign=_READS_AND_PRINTS
            )
        marks = 1 + (self.shots.count(_ANSWER) if self.setup == "few-shot" else 0)
        text = completion.text
        if completion.whole:  # answers of files have their prompt
            return text.split(_ANSWER, marks)[-1] if text.count(_ANSWER) >= marks else text
        return text if self.parity else cut(completion, STOPS)

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run the tests one by one: -2 does not compile, -1 fails or takes too long, 0 is wrong, 1
        is right. A problem whose tests cannot be read has no scores."""
        assert tools.environment
        problem = Problem.read(case.row.input_output)
        if problem is None:
            return {PASSED: None, "share": None}
        judging = Judging(
            environment=tools.environment,
            timeout=self.timeout,
            in_all=self.timeout_in_all,
            parity=self.parity,
        )
        became = await run_tests(judging, problem, prediction)
        right = [outcome > 0 for outcome in became.tests]
        end = "timeout" if became.timed_out else "passed" if all(right) else "failed"
        share = sum(right) / len(right)
        return {PASSED: all(right), "share": share, "tests": became.tests, "end": end}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return pass@k, and the two accuracies of the original."""
        return (
            *pass_metrics(1, 10, 100),
            _make_accuracy(
                "avg_accuracy", "Average accuracy", "share", "Share of tests that pass."
            ),
            _make_accuracy(
                "strict_accuracy",
                "Strict accuracy",
                PASSED,
                "Share of problems whose tests all pass.",
            ),
        )

    def lesson(self, case: RowCase) -> str:
        """Return the problem with its first answer."""
        return self._write_prompt(case.row) + next(iter(case.row.solutions), "")

    def _write_prompt(self, row: Task) -> str:
        problem = Problem.read(row.input_output)
        is_call = problem is not None and problem.function is not None
        form = _CALL if is_call is not self.swap_labels else _INPUT
        blank = "\n" if self.blank_before_starter and row.starter_code else ""
        text = f"\nQUESTION:\n{row.question}{blank}{row.starter_code}{form}\nANSWER:\n"
        return f"{self.shots}\n{text}" if self.setup == "few-shot" else text


def _make_accuracy(key: str, title: str, score: str, definition: str) -> Metric:
    return answer_share(
        key,
        title,
        f"{definition} Of several runs the mean.",
        read=of_answer(score),
        of_case=fmean,
        compared=False,
    )


def _make_title(row: Task) -> str:
    return " ".join(row.question.split())[:100]
