"""What comes after the answer for a mode: the command that settles what is open."""

from collections.abc import Iterator

from swarm_bench.analysis.answers.contrasts import of_cost, of_quality
from swarm_bench.analysis.caveats.censoring import may_continue
from swarm_bench.analysis.comparison.verdicts import Conclusion
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    more_cases,
    new_tasks,
    once_more,
    session_of,
    to_check,
    with_tasks,
)
from swarm_bench.analysis.sentences.verdict_line import NO_VERDICT
from swarm_bench.analysis.statistics.rule import OPEN, Change, Verdict
from swarm_bench.core.report.document import Step
from swarm_bench.core.session.experiment import Experiment

_ON_OWN_CODE = Step("swarm-bench compare --repo YOUR-PROJECT", "on code of your own")


def step_after(selection: Selection, mode: str, reached: Conclusion, merit: str) -> Step | None:
    """Return what comes next; `None` where the answer stands. `merit` is the claim where a gain is
    none of the tool."""
    return next(_steps(selection, mode, reached, merit), None)


def _steps(selection: Selection, mode: str, reached: Conclusion, merit: str) -> Iterator[Step]:
    experiment = selection.data.experiment
    if merit == NO_VERDICT:
        yield DOCTOR
    if experiment.suite == "demo":
        yield _ON_OWN_CODE
    if not reached.quality.metric.keyed:
        yield to_check(experiment)
    if reached.idle:
        yield new_tasks(experiment, "again with tasks that can tell")
    if merit:
        return
    if reached.verdict in OPEN:
        if may_continue(selection, mode):
            yield once_more(experiment.design.name, session_of(experiment))
        elif needed := _more_tasks(reached, experiment):
            yield with_tasks(needed, experiment)
    else:
        yield from _after_verdict(selection, reached, experiment)


def _after_verdict(
    selection: Selection, reached: Conclusion, experiment: Experiment
) -> Iterator[Step]:
    """Yield what a verdict leaves to find out: with a model, and whether it is the tool."""
    if selection.fixed_rules:
        yield AGENTS
    elif reached.verdict is Verdict.HELPS and not selection.controls("placebo"):
        command = f"{experiment.design.name} --continue {session_of(experiment)} --controls placebo"
        yield Step(f"swarm-bench {command}", "to be sure that it is the tool")


def _more_tasks(reached: Conclusion, experiment: Experiment) -> int | None:
    """Return how many tasks would tell what is open; `None` where that is no matter of tasks."""
    if reached.doubt or reached.withheld or reached.unproved or reached.partly_judged:
        return None
    cost = of_cost(reached, experiment)
    open_ = cost if cost and reached.spends is Change.UNCLEAR else of_quality(reached, experiment)
    return more_cases(open_) if open_ and open_.pairs.suffice else None
