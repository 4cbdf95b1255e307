"""What comes after the answer for a mode: the command that settles what is open."""

from collections.abc import Iterator

from swarm_bench.analysis.answers.contrasts import contrast_cost, contrast_quality
from swarm_bench.analysis.caveats.censoring import may_continue
from swarm_bench.analysis.comparison.verdicts import Conclusion
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.next_steps import (
    AGENTS,
    DOCTOR,
    advise_again,
    advise_keys,
    advise_new_tasks,
    advise_tasks,
    count_more_cases,
    name_session,
)
from swarm_bench.analysis.sentences.verdict_line import NO_VERDICT
from swarm_bench.analysis.statistics.rule import OPEN, Change, Verdict
from swarm_bench.core.report.document import Step
from swarm_bench.core.session.experiment import Experiment

_ON_OWN_CODE = Step("swarm-bench compare --repo YOUR-PROJECT", "on code of your own")


def find_next_step(
    selection: Selection, mode: str, conclusion: Conclusion, merit: str
) -> Step | None:
    """Return what comes next; `None` where the answer stands. `merit` is the claim where a gain is
    none of the tool."""
    return next(_find_steps(selection, mode, conclusion, merit), None)


def _find_steps(
    selection: Selection, mode: str, conclusion: Conclusion, merit: str
) -> Iterator[Step]:
    experiment = selection.data.experiment
    if merit == NO_VERDICT:
        yield DOCTOR
    if experiment.suite == "demo":
        yield _ON_OWN_CODE
    if not conclusion.quality.metric.keyed:
        yield advise_keys(experiment)
    if conclusion.shows_nothing:
        yield advise_new_tasks(experiment, "again with tasks that can tell")
    if merit:
        return
    if conclusion.verdict in OPEN:
        if may_continue(selection, mode):
            yield advise_again(experiment.design.name, name_session(experiment))
        elif needed := _count_more_tasks(conclusion, experiment):
            yield advise_tasks(needed, experiment)
    else:
        yield from _find_steps_after_verdict(selection, conclusion, experiment)


def _find_steps_after_verdict(
    selection: Selection, conclusion: Conclusion, experiment: Experiment
) -> Iterator[Step]:
    """Yield what a verdict leaves to find out: with a model, and whether it is the tool."""
    if selection.fixed_rules:
        yield AGENTS
    elif conclusion.verdict is Verdict.HELPS and not selection.find_controls("placebo"):
        command = (
            f"{experiment.design.name} --continue {name_session(experiment)} --controls placebo"
        )
        yield Step(f"swarm-bench {command}", "to be sure that it is the tool")


def _count_more_tasks(conclusion: Conclusion, experiment: Experiment) -> int | None:
    """Return how many tasks would tell what is open; `None` where that is no matter of tasks."""
    if (
        conclusion.uncertainty
        or conclusion.is_withheld
        or conclusion.unproved
        or conclusion.partly_judged
    ):
        return None
    cost = contrast_cost(conclusion, experiment)
    open_ = (
        cost
        if cost and conclusion.spends is Change.UNCLEAR
        else contrast_quality(conclusion, experiment)
    )
    return count_more_cases(open_) if open_ and open_.pairs.suffice else None
