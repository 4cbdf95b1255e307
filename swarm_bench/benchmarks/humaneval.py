"""The benchmark `humaneval` (Chen et al. 2021)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import indent
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from swarm_bench.benchmarks.cases.passing import PASSED, pass_metrics
from swarm_bench.benchmarks.cases.python_code import compiles, defines, parse_python
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.benchmarks.cases.texts import cut, find_program
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way
from swarm_bench.environments.python_tests import SECONDS, SEPARATE_PROCESS, PythonTests, check

STOPS = ("\nclass", "\ndef", "\n#", "\n@", "\nprint", "\nif", "\n```", "<file_sep>")
INSTRUCTION = "Complete this Python function. Answer with the whole function in one code block."
_PARITY_SECONDS = 3.0


class Function(BaseModel):
    """A function without its body, and what it must do."""

    task_id: str
    prompt: str
    canonical_solution: str
    test: str
    entry_point: str


class HumanEval(ModelBenchmark):
    """Python functions that are to be completed, 164 of them, each with tests."""

    name: ClassVar[str] = "humaneval"
    dataset: ClassVar[str] = "humaneval"
    Row: ClassVar[type[BaseModel]] = Function
    executes: ClassVar[bool] = True
    oddities: ClassVar[tuple[str, ...]] = (
        "parity=true strips the prompt, as the bigcode harness does: it ends behind the docstring "
        "then, and an answer that does not begin with a line break is a syntax error.",
        "parity=true gives each program 3 s instead of 10.",
        SEPARATE_PROCESS,
    )

    temperature: float | None = Field(default=0.2, ge=0, description="Of sampling.")
    top_p: float | None = Field(default=0.95, gt=0, le=1, description="Of sampling.")
    timeout: float = Field(default=10, gt=0, le=600, description=SECONDS)

    def mistaken(self, way: Way) -> Mapping[str, str]:
        """Refuse a limit beside that of parity."""
        return self.without_effect("timeout", "with parity=true") if self.parity else {}

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row."""
        return (RowCase(id=row.task_id, title=row.entry_point, row=row) for row in rows)

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Have the function completed, or written whole where models chat."""
        row, prompt = case.row, self._write_prompt(case)
        sampling = self.sampling(*STOPS) if way == "text" else self.sampling()
        if way == "text":
            solution = ("\n" if self.parity else "") + row.canonical_solution
            return Ask(prompt=prompt, sampling=sampling, reference=solution)
        text = f"{INSTRUCTION}\n\n```python\n{prompt}\n```"
        solution = f"```python\n{row.prompt}{row.canonical_solution}\n```"
        return Ask(prompt=(Turn(role="user", text=text),), sampling=sampling, reference=solution)

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the program: what was asked, and the answer up to the first stop word."""
        if way == "chat":
            return self._read_chat(case, completion)
        prompt, code = self._write_prompt(case), cut(completion, STOPS)
        has_prompt = completion.whole and code.startswith(prompt.strip())
        return code if has_prompt else prompt + code

    def _read_chat(self, case: RowCase, completion: Completion) -> str:
        name = case.row.entry_point
        code = find_program(completion.text, names=(name,))
        if not defines(code, name):
            return self._add_body(case, replace(completion, text=code))
        return self._read_head(case.row) + code  # imports, and functions to be used

    def _add_body(self, case: RowCase, body: Completion) -> str:
        """Put a body behind the prompt, with the indentation that a server took from its first
        line, or a model from all."""
        prompt, code = self._write_prompt(case), body.text
        forms = (code, f"    {code}", indent(code, "    "))
        body_code = next((form for form in forms if compiles(prompt + form)), code)
        return prompt + cut(replace(body, text=body_code), STOPS)

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Run the tests of the row on the program."""
        row = case.row
        assert tools.environment
        preamble = self._find_preamble(case, prediction)
        checked = await check(
            tools.environment,
            PythonTests(
                preamble=preamble,
                candidate=prediction.removeprefix(preamble),
                helpers=row.prompt + row.canonical_solution,
                exports=(row.entry_point,),
                tests=f"{row.test}\ncheck({row.entry_point})",
                timeout=_PARITY_SECONDS if self.parity else self.timeout,
            ),
        )
        return {PASSED: checked.passed, "end": checked.end}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return pass@1, pass@10 and pass@100."""
        return pass_metrics(1, 10, 100)

    def lesson(self, case: RowCase) -> str:
        """Return the whole function."""
        return str(case.row.prompt + case.row.canonical_solution)

    def reference(self, case: RowCase) -> str | None:
        """Return the tests, as the bigcode harness stores them."""
        return f"\n{case.row.test}\ncheck({case.row.entry_point})"

    def _find_preamble(self, case: RowCase, prediction: str) -> str:
        """Return what stands before the function in the row, if the program begins with it: an
        answer may say `from __future__`, which has to come first."""
        head = self._read_head(case.row)
        if parse_python(head) is None:  # a decorator, say
            return ""
        stripped = (head, head.lstrip())  # the latter in parity
        return next((text for text in stripped if prediction.startswith(text)), "")

    @staticmethod
    def _read_head(row: Function) -> str:
        head = f"def {row.entry_point}("
        return row.prompt.partition(head)[0] if head in row.prompt else ""

    def _write_prompt(self, case: RowCase) -> str:
        return str(case.row.prompt.strip() if self.parity else case.row.prompt)
