"""Sessions of `retrieve`: questions with known answers, put to the tools of modes themselves."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from swarm_bench.core.session.cases import Case, CaseExperiment
from swarm_bench.core.session.designs import RETRIEVE, Design
from swarm_bench.core.session.experiment import Experiment, Mode, Program, Repository
from swarm_bench.core.session.tasks import Task
from swarm_bench.core.stored import Stored

PLAIN = "bm25"
"""The mode that every tool is held against."""
MAIN = "recall_5"
"""The figure that modes are compared by where none is named."""
Form = Literal["sentence", "keywords"]
FORMS: tuple[Form, ...] = ("sentence", "keywords")
"""Forms of the question of a task, in this order."""


class Searching(Stored):
    """How a mode is asked."""

    server: str
    """Name of the server in the mode."""
    tool: str
    recognised: bool = False
    """Whether its schema tells it, since the mode file does not."""


class RetrieveExperiment(CaseExperiment):
    """The experiment of such a session. An arm is the name of a mode, and a case is a task in one
    form."""

    repository: Repository
    modes: tuple[Mode, ...]
    suite: str
    """Suite that the tasks come from."""
    tasks: tuple[Task, ...] = Field(min_length=1)
    """Tasks with files in their keys."""
    made: str = ""
    """Description of how a program made the tasks; empty for those of a file."""
    omitted_tasks: int = 0
    """Number of tasks of the suite that have none."""
    searching: dict[str, Searching] = {}
    """Search tools by mode, as its servers have answered."""
    retrieval: dict[str, Program] = {}
    """Programs that answer, by mode."""
    timeout: float
    """Seconds for each question."""
    index_timeout: float
    service_url: str | None = None
    answer_format: ClassVar = ""
    """No agent is told a form, and no scorer looks at an answer."""
    scorers: ClassVar[tuple[str, ...]] = ()

    @property
    def design(self) -> Design:
        """Its command."""
        return RETRIEVE

    def mode(self, name: str) -> Mode:
        """Return the mode of that name."""
        return next(mode for mode in self.modes if mode.name == name)

    def questions(self) -> Iterator[tuple[Case, Task, Form]]:
        """Yield the cases with their tasks: all sentences, then all keywords."""
        return iterate_questions(self.tasks)

    def check(self) -> None:
        """Raise `ValueError` for what no session can be."""
        super().check()
        if [mode.name for mode in self.modes] != [*self.arms]:
            raise ValueError("has arms that are not its modes")
        if {case.id for case in self.cases} != {case.id for case, _, _ in self.questions()}:
            raise ValueError("has cases that are not its tasks")


AnyExperiment = Experiment | RetrieveExperiment
"""Experiment that holds modes and tasks."""


def iterate_questions(tasks: Sequence[Task]) -> Iterator[tuple[Case, Task, Form]]:
    """Yield a case for each form in which a task can be asked."""
    for form in FORMS:
        for task in tasks:
            if form == "sentence" or task.keywords:
                yield Case(id=f"{task.id}/{form}", title=f"{task.title} ({form})"), task, form


def get_figure(record: Any, key: str) -> float | None:
    """Return a figure of a record; `None` where it is missing."""
    value: float | None = record.figures.get(key)
    return value
