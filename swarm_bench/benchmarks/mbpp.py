"""The benchmark `mbpp` (Austin et al. 2021)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import AliasChoices, BaseModel, Field, field_validator

from swarm_bench.benchmarks.cases.passing import PASSED, pass_metrics
from swarm_bench.benchmarks.cases.python_code import find_definitions, parse_python
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.texts import cut, find_program
from swarm_bench.core.errors import UsageError
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way
from swarm_bench.environments.python_tests import SECONDS, SEPARATE_PROCESS, PythonTests, check

FIRST, LAST = 11, 510
"""Ids of the rows that models are tested on."""
STOPS = ("\nclass", "\nassert", '\n"""', "\nprint", "\nif", "\n<|/")
_FENCE = "\n```"
_TESTS = "Your code should satisfy these tests:"
_PARITY_SECONDS = 3.0


class Function(BaseModel):
    """A task in words, an answer, and what any answer must do."""

    task_id: int
    text: str = Field(validation_alias=AliasChoices("text", "prompt"))
    code: str
    test_list: list[str] = Field(min_length=1)
    test_setup_code: str = ""
    test_imports: list[str] = []

    @field_validator("code")
    @classmethod
    def _is_python(cls, code: str) -> str:
        """Refuse code that cannot be run: the prompt has the names that it defines."""
        if parse_python(code) is None:
            raise ValueError("is no Python")
        return code


class Mbpp(ModelBenchmark):
    """Python functions that are described in a sentence, 500 of them, each with tests."""

    name: ClassVar[str] = "mbpp"
    dataset: ClassVar[str] = "mbpp"
    Row: ClassVar[type[BaseModel]] = Function
    executes: ClassVar[bool] = True
    oddities: ClassVar[tuple[str, ...]] = (
        "parity=true omits the set-up code of rows, as the bigcode harness does: the answer in the "
        "data set to row 367 fails then.",
        "parity=true gives each program 3 s instead of 10: the answer to row 123 may fail.",
        "Both prompts are zero-shot; the paper had three examples.",
        SEPARATE_PROCESS,
    )

    temperature: float | None = Field(default=0.1, ge=0, description="Of sampling.")
    top_p: float | None = Field(default=0.95, gt=0, le=1, description="Of sampling.")
    style: Literal["incoder", "google"] = Field(
        default="incoder", description="Form of the prompt: a docstring, or a sentence with tests."
    )
    include_tests: bool = Field(default=True, description="Show the tests in google's form.")
    include_solution: bool = Field(default=False, description="Show the answer in incoder's form.")
    timeout: float = Field(default=10, gt=0, le=600, description=SECONDS)

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Refuse what only another form of the prompt has, and a limit beside that of parity."""
        clauses = self.without_effect("timeout", "with parity=true") if self.parity else {}
        if way == "chat":
            for name in ("style", "include_tests", "include_solution"):
                clauses |= self.without_effect(name, "in chat")
        elif self.style == "google":
            clauses |= self.without_effect("include_solution", "with style=google")
        else:
            clauses |= self.without_effect("include_tests", "with style=incoder")
        return clauses

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row that models are tested on."""
        tested = [row for row in rows if FIRST <= row.task_id <= LAST]
        if not tested:
            raise UsageError(
                f"--dataset: models are tested on the rows with a task_id from {FIRST} to {LAST}, "
                "and there is none; give other rows"
            )
        return (
            RowCase(id=str(row.task_id), title=_make_title(row.text), row=row) for row in tested
        )

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Have the function written below its description."""
        code = case.row.code
        if way == "text":
            sampling = self.sampling(*self._stops)
            return Ask(prompt=self._write_prompt(case.row), sampling=sampling, reference=code)
        text = f"{_add_tests(case.row)}\n\nAnswer with the Python code alone, in one code block."
        return Ask(
            prompt=(Turn(role="user", text=text),),
            sampling=self.sampling(),
            reference=f"```python\n{code}\n```",
        )

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the program: the answer up to the first stop word, behind the docstring."""
        if way == "chat":
            return find_program(completion.text, names=_find_tested(case.row))
        prompt, code = self._write_prompt(case.row), cut(completion, self._stops)
        if self.style == "google":
            return code.rstrip()
        return code if completion.whole and code.startswith(prompt) else prompt + code

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run the tests of the row on the program."""
        row = case.row
        assert tools.environment
        setup = [] if self.parity else [row.test_setup_code]
        checked = await check(
            tools.environment,
            PythonTests(
                candidate=prediction,
                exports=find_definitions(row.code),
                tests="\n".join([*row.test_imports, *setup, *row.test_list]),
                timeout=_PARITY_SECONDS if self.parity else self.timeout,
            ),
        )
        return {PASSED: checked.passed, "end": checked.end}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return pass@1, pass@10 and pass@100."""
        return pass_metrics(1, 10, 100)

    def lesson(self, case: RowCase) -> str:
        """Return the description with the answer."""
        return self._write_prompt(case.row) + str(case.row.code)

    def reference(self, case: RowCase) -> str | None:
        """Return the tests, as the bigcode harness stores them."""
        return "\n".join(case.row.test_list)

    @property
    def _stops(self) -> tuple[str, ...]:
        return STOPS if self.style == "google" else (*STOPS, _FENCE)

    def _write_prompt(self, row: Function) -> str:
        if self.style == "google":
            return _add_tests(row) if self.include_tests else row.text
        prompt = f'"""\n{row.text}\n{row.test_list[0]}\n"""\n'
        return f"{prompt}{row.code}\n" if self.include_solution else prompt


def _add_tests(row: Function) -> str:
    tests = "".join(f"\n{test}" for test in row.test_list)
    return f"{row.text} {_TESTS}\n{tests}"


def _make_title(text: str) -> str:
    return " ".join(text.split())[:100]


def _find_tested(row: Function) -> tuple[str, ...]:
    """Return what an answer must define: the names in the tests."""
    tests = "\n".join(row.test_list)
    return tuple(
        name for name in find_definitions(row.code) if re.search(rf"\b{re.escape(name)}\b", tests)
    )
