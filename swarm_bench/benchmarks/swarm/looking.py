"""Looks at a session after each block, where it is to end when its verdict stands."""

from swarm_bench.analysis.comparison.verdict_sentence import standing_verdict
from swarm_bench.analysis.comparison.verdicts import hypotheses
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.registered import registered_metrics
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.looks import Look
from swarm_bench.retrieval.modes.secrets import storable


class Looking:
    """What was seen of a session so far."""

    def __init__(self, folder: SessionFolder, experiment: Experiment) -> None:
        self.experiment = experiment
        """With every look, as it is stored."""
        self._folder = folder

    def is_clear(self) -> bool:
        """Look at the session, and store what the verdicts are. Tells whether all of them stand;
        in a session that is not to be looked at nothing does, and a replay ends with its
        recording."""
        if not self.experiment.until_clear or self.experiment.replayed:
            return False
        data = self._folder.read()
        assert data.experiment
        selection = Selection(data, registered_metrics())
        verdicts = {mode: standing_verdict(selection, mode) for mode in hypotheses(selection)}
        look = Look(
            blocks=len(data.experiment.agents_of_blocks),
            tasks=len(data.experiment.tasks),
            verdicts={mode: verdict or "open" for mode, verdict in verdicts.items()},
            stands=bool(verdicts) and all(verdicts.values()),
        )
        looks = (*self.experiment.looks, look)
        self.experiment = self.experiment.model_copy(update={"looks": looks})
        self._folder.write_experiment(storable(self.experiment))
        return look.stands
