"""The swarm benchmark: what an agent is asked, and what its answer is scored by."""

from swarm_bench.core import registry
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.experiment import Experiment, Mode, Task
from swarm_bench.engine.scoring import usable
from swarm_bench.scoring.digest import Digest
from swarm_bench.scoring.length import Length
from swarm_bench.scoring.references import References
from swarm_bench.scoring.structure import Structure


def prompt(experiment: Experiment, mode: Mode, task: Task) -> str:
    """Join the mode's instructions, the task, and what the answer should look like."""
    parts = (mode.instructions, task.prompt, experiment.answer_format)
    return "\n\n".join(part for part in parts if part)


def scorers() -> tuple[Scorer, ...]:
    """Return every scorer of this benchmark: ours, and those that installed packages register as
    `swarm_bench.scorers`. Raises `ConfigError` for one that cannot be used."""
    others = (_made(plugin.name) for plugin in registry.plugins("scorers"))
    return usable((Length(), Digest(), References(), Structure(), *others))


def _made(name: str) -> object:
    kind = registry.load("scorers", name)
    try:
        return kind()
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything
        why = f"{type(error).__name__}: {error}"
        raise ConfigError(f"The scorer {name!r} cannot be made: {why}; fix its package") from error
