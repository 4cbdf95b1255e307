"""Which tasks one mode missed and another one found, in each form of their questions."""

from collections.abc import Iterator

from swarm_bench.analysis.missed import missed, most_missed
from swarm_bench.analysis.retrieve.caveats import ASKED
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.core.report.document import Text
from swarm_bench.core.report.report import Missed
from swarm_bench.core.session.retrieving import PLAIN


def missed_tasks(answers: Answers) -> tuple[Missed, ...]:
    """Return what each mode missed in each form, by what modes are compared by."""
    return tuple(_missed(answers))


def of_the_best(answers: Answers) -> Text:
    """Say what was missed most by the mode that finds most beside the plain search."""
    arms = answers.experiment.arms
    means = {
        arm: mean
        for arm in arms
        if arm != PLAIN and (mean := answers.mean(answers.of(arm), answers.main.key)) is not None
    }
    best = max(means, key=lambda arm: means[arm], default=None)
    return most_missed(missed_tasks(answers), [arm for arm in arms if arm != best])


def _missed(answers: Answers) -> Iterator[Missed]:
    several = len(answers.forms) > 1
    arms = sorted(answers.experiment.arms, key=lambda arm: arm == PLAIN)
    for form in answers.forms:
        asked = (task for task, of in answers.questions.values() if of == form)
        titles = {task.id: task.title or task.id for task in asked}
        figures = {arm: answers.by_task(arm, answers.main.key, form) for arm in arms}
        yield from missed(figures, titles, ASKED[form] if several else "")
