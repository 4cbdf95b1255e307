"""The swarm benchmark: what an agent is asked, and what its answer is scored by."""

from collections import Counter

from swarm_bench.core import registry
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.experiment import Experiment, Mode, Task
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
    every: tuple[Scorer, ...] = (Length(), Digest(), References(), Structure(), *others)
    for name, count in Counter(scorer.name for scorer in every).items():
        if count > 1:
            raise ConfigError(f"{count} scorers are called {name!r}; uninstall one of the packages")
    return every


def _made(name: str) -> Scorer:
    kind = registry.load("scorers", name)
    try:
        made = kind()
    except Exception as error:  # somebody else's code may raise anything
        why = f"{type(error).__name__}: {error}"
        raise ConfigError(f"The scorer {name!r} cannot be made: {why}; fix its package") from error
    if not isinstance(made, Scorer):
        raise ConfigError(
            f"The scorer {name!r} lacks what a scorer has (core/ports.py: name, version, keys, "
            "score); fix its package, or uninstall it"
        )
    return made
