"""Looks at a session after each block, where it is to end when its verdict stands."""

from collections.abc import Callable, Collection, Sequence

from swarm_bench.analysis.comparison.answers import find_standing_verdict
from swarm_bench.analysis.comparison.verdicts import find_unknown_metric, list_hypotheses
from swarm_bench.analysis.selection import Selection, is_inconclusive
from swarm_bench.analysis.statistics.verdict_rule import FEWEST
from swarm_bench.analysis.wording import lowercase, quantify
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.catalogue import load_metrics
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.core.errors import NoVerdictPossible
from swarm_bench.core.events import Emit, VerdictsRead, WarningRaised
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.preregistration import InterimVerdicts
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.engine.plan import iterate_groups
from swarm_bench.retrieval.modes.secrets import make_storable

_NONE = "open"
"""The verdict of a look that does not stand."""


class InterimLooks:
    """What was seen of a session so far."""

    def __init__(self, folder: SessionFolder, experiment: Experiment, emit: Emit) -> None:
        self.experiment = experiment
        """Experiment with every look, as it is stored."""
        self._folder = folder
        self._emit = emit

    def begin(self) -> Callable[[], bool] | None:
        """Say what came of the last look. Returns what looks again; `None` where the session runs
        to its end."""
        if not self.experiment.until_clear or self.experiment.replayed:
            return None
        self._report()
        return self.is_clear

    def _report(self) -> None:
        for look in self.experiment.looks[-1:]:
            stand = {mode: verdict != _NONE for mode, verdict in look.verdicts.items()}
            planned_tasks = self.experiment.tasks_named
            self._emit(VerdictsRead(tasks=look.tasks, max_tasks=planned_tasks, stand=stand))

    def is_clear(self) -> bool:
        """Look at the session, once nothing is left to run of the blocks that it has begun, and
        store what the verdicts are. Tells whether all of them stand. Raises
        `NoVerdictPossible`."""
        data = self._folder.read()
        selection = Selection(data, load_metrics())
        is_whole = not _has_unfinished(data, data.trials)
        if is_whole:
            self.experiment = _add_look(self.experiment, _take_look(selection))
            self._folder.write_experiment(make_storable(self.experiment))
            self._report()
        _check_measured(selection)
        if not is_whole or self.experiment.stands_after is None:
            return False
        tasks, planned_tasks = self.experiment.looks[-1].tasks, self.experiment.tasks_named
        if tasks < planned_tasks:
            stood = f"the verdict stands after {tasks} of {planned_tasks} tasks (--until-clear)"
            self._emit(WarningRaised(message=f"{stood}, so no further block is run"))
        return True


def look_again(folder: SessionFolder, experiment: Experiment) -> Experiment:
    """Look at a session that is continued as this experiment, by the scores and modes of now: a
    verdict that stood need not stand any more, nor while trials of its blocks are to be run. Raises
    `NoVerdictPossible`."""
    if not experiment.until_clear or experiment.replayed:
        return experiment
    data = folder.read(experiment)
    selection = Selection(data, load_metrics())
    _check_measured(selection)
    is_whole = not _has_unfinished(
        data, [trial for trial in data.trials if not is_inconclusive(trial)]
    )
    if not data.trials or not (is_whole or experiment.stands_after):
        return experiment
    look = _take_look(selection)
    look = look.model_copy(update={"stands": look.stands and is_whole})
    return experiment if experiment.looks[-1:] == (look,) else _add_look(experiment, look)


def _add_look(experiment: Experiment, look: InterimVerdicts) -> Experiment:
    return experiment.model_copy(update={"looks": (*experiment.looks, look)})


def _take_look(selection: Selection) -> InterimVerdicts:
    experiment = selection.data.experiment
    verdicts = {mode: find_standing_verdict(selection, mode) for mode in list_hypotheses(selection)}
    return InterimVerdicts(
        blocks=len(experiment.agents_of_blocks),
        tasks=len(experiment.tasks),
        verdicts={mode: verdict or _NONE for mode, verdict in verdicts.items()},
        stands=bool(verdicts) and all(verdicts.values()),
    )


def _has_unfinished(data: SessionData, done: Collection[TrialRecord]) -> bool:
    """Tell whether a trial of the blocks that were begun is not among those that are done."""
    ids = {trial.trial for trial in done}
    swarms = iterate_groups(plan(data.experiment))
    return any(trial.id not in ids for swarm in swarms for trial in swarm.trials)


def _check_measured(selection: Selection) -> None:
    """Raise `NoVerdictPossible` where a mode has answers, and none tells what the verdict is on."""
    experiment = selection.data.experiment
    if find_unknown_metric(selection):
        return
    metric = selection.metrics[experiment.primary]
    if metric.read is None or (metric.spent and selection.fixed_rules):
        return
    for mode in (experiment.arms[0], *list_hypotheses(selection)):
        answers = [answer for answer in selection.select(mode) if answer.cause is Cause.FINISHED]
        if len(answers) >= FEWEST and all(metric.read(answer) is None for answer in answers):
            raise NoVerdictPossible(
                f"None of the {quantify(len(answers), 'answer')} of {mode} tells "
                f"{lowercase(metric.title)}, which the verdict is on (--primary), so no further "
                "trial could lead to one (--until-clear), and none is started; start a new session "
                f"with {_instead(answers)}an agent that reports this"
            )


def _instead(answers: Sequence[TrialRecord]) -> str:
    """Name what all answers tell, if they tell what they cost."""
    have_cost = all(answer.cost is not None for answer in answers)
    return "--primary cost, or " if have_cost else ""
