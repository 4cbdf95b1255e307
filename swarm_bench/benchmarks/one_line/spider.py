"""The benchmark `spider` (Yu et al. 2018)."""

from typing import ClassVar

from pydantic import BaseModel

from swarm_bench.benchmarks.cases.texts import SQL
from swarm_bench.benchmarks.one_line.benchmark import Line, OneLine, Shots, shots


class Question(Line):
    """A question to a database, and a query that answers it."""

    db_id: str
    """Id of the database."""
    question: str
    query: str

    @property
    def text(self) -> str:
        """Return the question."""
        return self.question.strip()

    @property
    def answer(self) -> str:
        """Return the query."""
        return self.query

    @property
    def group(self) -> str:
        """Return the database."""
        return self.db_id


class Spider(OneLine):
    """Questions that are to become one query in SQL (Yu et al. 2018)."""

    name: ClassVar[str] = "spider"
    dataset: ClassVar[str] = "spider-mini"
    Row: ClassVar[type[BaseModel]] = Question
    instruction: ClassVar[str] = "Answer the following instructions in a one line SQL query:"
    languages: ClassVar[frozenset[str]] = SQL
    oddities: ClassVar[tuple[str, ...]] = (
        *OneLine.oddities,
        "No model is shown the tables of the database, and no query is run: so the bigcode harness "
        "had it until it removed the task.",
    )

    shots: Shots = shots(
        "How many cities have more than a million inhabitants?",
        "SELECT count(*) FROM city WHERE inhabitants > 1000000",
        "List the names of all rivers, the longest first.",
        "SELECT name FROM river ORDER BY length DESC",
    )
