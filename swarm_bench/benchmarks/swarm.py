"""The swarm benchmark: what an agent is told, and what its answer is scored by."""

from swarm_bench.core.experiment import Experiment, Mode, Task
from swarm_bench.core.ports import Scorer
from swarm_bench.scoring.digest import Digest
from swarm_bench.scoring.length import Length
from swarm_bench.scoring.references import References
from swarm_bench.scoring.structure import Structure


def prompt(experiment: Experiment, mode: Mode, task: Task) -> str:
    """The mode's instructions if it has any, the task, and what the answer should look like."""
    parts = (mode.instructions, task.prompt, experiment.answer_format)
    return "\n\n".join(part for part in parts if part)


def scorers() -> tuple[Scorer, ...]:
    """Every scorer of this benchmark."""
    return (Length(), Digest(), References(), Structure())
