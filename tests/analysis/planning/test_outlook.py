"""What a plan says of the differences that its session could show."""

import pytest

from swarm_bench.analysis.planning.outlook import Earlier, expected, outlook, savings
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.core.session.tasks import HARD, AnswerKey
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences
from tests.builders.sessions import make_session, make_trial

KEYED = tuple(
    Task(id=f"t{n}", title="t", prompt=f"p{n}", key=AnswerKey(files=(f"{n}.py",))) for n in range(8)
)
PLANNED = experiment(runs=3, agents=8, all_tasks=True).model_copy(update={"tasks": KEYED})


def said(
    earlier: Earlier | None = None, *, fixed_rules: bool = False, planned: Experiment = PLANNED
) -> str:
    entries = outlook(planned, earlier, METRICS, fixed_rules=fixed_rules)
    return "\n".join(text for entry in entries for text in entry.texts)


@pytest.mark.parametrize(
    ("tasks", "runs", "percent"), [(8, 3, 42), (12, 3, 34), (20, 5, 23), (30, 10, 15)]
)
def test_savings_are_those_of_the_documented_table(tasks: int, runs: int, percent: int) -> None:
    assert savings(0.45, (tasks, runs)).startswith(f"savings of {percent} % ")


def test_without_an_earlier_session_the_noise_is_assumed(golden: Sentences) -> None:
    text = said()
    golden(text)
    assert "savings" not in said(fixed_rules=True)


def test_an_earlier_session_gives_the_noise_the_cost_and_the_time(golden: Sentences) -> None:
    trials = [
        make_trial(task_id=f"t{n}", run=run, effective_tokens=1000 + run, agent=n + 1)
        for n in range(8)
        for run in (1, 2)
    ]
    earlier = Earlier(folder="results/x", data=make_session(*trials))
    assert "savings of 21 % or more" in said(earlier)
    golden(said(earlier))
    (entry,) = expected(PLANNED, earlier, 48, paid=True)
    golden(*entry.texts)
    (entry,) = expected(PLANNED, None, 48, paid=True)
    golden(*entry.texts)


def test_hard_tasks_and_others_count() -> None:
    tags = [(HARD,), (HARD,), *[("easier",)] * 6]
    tasks = tuple(
        task.model_copy(update={"tags": own}) for task, own in zip(KEYED, tags, strict=True)
    )
    text = said(planned=PLANNED.model_copy(update={"tasks": tasks}))
    assert "2 hard and 6 other tasks" in text
    assert set(said().splitlines()) < set(text.splitlines()), "the power is that of all of them"
