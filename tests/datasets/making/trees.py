"""What the tasks of small source trees are about."""

from swarm_bench.core.session.tasks import Task
from swarm_bench.datasets.making.kinds import ANSWER_FORMAT
from swarm_bench.text.terms import task_of, terms_of


def files_of(task: Task) -> list[str]:
    return list(task.key.files) if task.key else []


def symbols_of(task: Task) -> list[str]:
    return list(task.key.symbols) if task.key else []


def searched(task: Task) -> list[str]:
    """The terms that fixed rules look for when they are asked a task."""
    return [term.word for term in terms_of(task_of(f"{task.prompt}\n\n{ANSWER_FORMAT}", ()))]
