"""The benchmark `my-benchmark`. Change the rows, the prompt and the score; the names may stay."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from swarm_bench.benchmarks.cases.passing import PASSED, pass_metrics
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, Scores, Tools
from swarm_bench.core.metric import Metric
from swarm_bench.core.roles.language_model import Ask, Completion, Turn, Way


class Question(BaseModel):
    """A row of the data set."""

    id: str
    question: str
    answer: str


class MyBenchmark(ModelBenchmark):
    """Questions with a short answer."""

    name: ClassVar[str] = "my-benchmark"
    dataset: ClassVar[str] = "my_benchmark.jsonl"
    Row: ClassVar[type[BaseModel]] = Question

    hint: str = Field(default="Answer with one word or number.", description="Ends the prompt.")

    def cases(self, rows: Iterable[Any]) -> Iterator[RowCase]:
        """Yield a case for each row."""
        return (RowCase(id=row.id, title=row.question, row=row) for row in rows)

    def ask(self, case: RowCase, way: Way) -> Ask:
        """Ask the question, with what a perfect model would answer."""
        text = f"{case.row.question}\n{self.hint}"
        prompt = f"{text}\nAnswer:" if way == "text" else (Turn(role="user", text=text),)
        stop = ("\n",) if way == "text" else ()
        return Ask(prompt=prompt, sampling=self.sampling(*stop), reference=case.row.answer)

    def read(self, case: RowCase, completion: Completion, way: Way) -> str:
        """Return the last word of the answer, whatever the model wrote."""
        answer = completion.text.split()
        return answer[-1].strip(".,*`") if answer else ""

    async def score(self, case: RowCase, prediction: str, tools: Tools) -> Scores:
        """Compare it with that of the row."""
        return {PASSED: prediction.casefold() == case.row.answer.casefold()}

    @classmethod
    def metrics(cls) -> Sequence[Metric]:
        """Return the share of right answers."""
        return pass_metrics(1)

    def lesson(self, case: RowCase) -> str:
        """Return what the model `copy` may learn from."""
        return f"{case.row.question}\nAnswer: {case.row.answer}"
