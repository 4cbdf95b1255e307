"""What every benchmark must keep, and every plan. For the tests of plugins as of our own.

Each check raises `AssertionError` with a sentence that names what was broken.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from swarm_bench.core.metric import fault
from swarm_bench.core.session.cases import (
    CaseDelivery,
    CaseEnded,
    CaseGroup,
    CaseJob,
    CaseTrial,
    select_keys,
)
from swarm_bench.testing.contracts import check_scorer, expect


def check_benchmark(benchmark: Any, jobs: Sequence[Any] = ()) -> None:
    """Check that a benchmark describes itself, and that its metrics and scorers can be used.

    `jobs` are some of its groups as they are given to be run; a benchmark whose groups can run in
    another interpreter needs them.
    """
    expect(bool(benchmark.name), "a benchmark has a name")
    expect(benchmark.version >= 1, "a benchmark has a version")
    description = benchmark.about
    expect(
        bool(description) and description.isprintable(),
        "what it is about is a sentence on one line",
    )
    _default(benchmark.properties)
    metrics = tuple(benchmark.metrics())
    _check_distinct([metric.key for metric in metrics], "keys of metrics")
    for metric in metrics:
        clause = fault(metric)
        expect(clause is None, f"the metric {metric.key} can be shown: it {clause}")
    scorers = benchmark.scorers()
    _check_distinct([scorer.name for scorer in scorers], "names of scorers")
    for scorer in scorers:
        check_scorer(scorer)
    if hasattr(benchmark, "jobs"):
        expect(bool(jobs), "a benchmark whose groups can run elsewhere is checked with jobs")
        for job in jobs:
            packed = benchmark.jobs.dump_json(job)
            expect(benchmark.jobs.validate_json(packed) == job, "a job is the same after JSON")


async def check_cases(benchmark: Any) -> None:
    """Check that a benchmark whose trials are pairs of an arm and a case names both, and delivers
    each trial of a group once. Runs the cases of one arm, with the defaults of its properties."""
    properties = _default(benchmark.properties)
    arms, cases = tuple(benchmark.arms(properties)), tuple(benchmark.cases(properties))
    expect(bool(arms), "it has arms")
    expect(bool(cases), "it has cases")
    _check_distinct(arms, "names of arms")
    _check_distinct([case.id for case in cases], "ids of cases")
    same = (tuple(benchmark.arms(properties)), tuple(benchmark.cases(properties)))
    expect(same == (arms, cases), "the same properties have the same arms and cases")
    trials = tuple(
        CaseTrial(id=f"{number:012x}", run=1, arm=arms[0], case=case, number=number)
        for number, case in enumerate(cases, start=1)
    )
    group = CaseGroup(id="check", run=1, arm=arms[0], trials=trials)
    plain = {**properties.model_dump(mode="json"), **select_keys(properties)}
    job = CaseJob(group=group, properties=plain)
    case_ids: list[str] = []

    async def keep(delivery: CaseDelivery) -> None:
        TypeAdapter(type(delivery)).dump_json(delivery)
        case_ids.extend([delivery.trial.id] if isinstance(delivery, CaseEnded) else [])

    await benchmark.run(job, keep)
    expect(
        sorted(case_ids) == [trial.id for trial in trials],
        "each trial of a group is delivered once",
    )


def check_plan(plan: Callable[[Any], Sequence[Any]], experiment: Any) -> None:
    """Check that a plan is a pure function of the experiment: equal ones have equal plans, and one
    with more runs has the trials of the shorter one. `experiment` has several arms and runs."""
    blocks = tuple(plan(experiment))
    expect(bool(blocks), "a plan has blocks")
    order, runs = experiment.order, experiment.runs
    last_run = order[-(len(order) // runs) :]
    longer = experiment.model_copy(update={"runs": runs + 1, "order": (*order, *last_run)})
    ids, longer_ids = _trial_ids(blocks), _trial_ids(plan(longer))
    expect(tuple(plan(experiment)) == blocks, "the same experiment has the same plan")
    _check_distinct(ids, "ids of trials")
    expect(
        longer_ids[: len(ids)] == ids and len(longer_ids) > len(ids),
        "more runs come after those before",
    )
    restored = type(experiment).from_json(experiment.model_dump_json())
    expect(tuple(plan(restored)) == blocks, "a stored experiment has the same plan")
    for block in blocks:
        for group in block.groups:
            expect(group.run == block.run, "a group is of the run of its block")
            expect(group.arm in block.order, "the arm of a group is one of its block")
            _check_rest(group)


def _default(properties: Any) -> Any:
    """Make the properties of a benchmark where nothing is set."""
    expect(issubclass(properties, BaseModel), "its properties are a pydantic model")
    json.dumps(properties.model_json_schema())
    try:
        return properties()
    except ValidationError as error:
        expect(False, f"every property has a default that is valid: {error}")


def _check_rest(group: Any) -> None:
    trials = list(group.trials)
    for finished in ([], trials[:1], trials[1:], trials):
        remaining = group.drop_finished({trial.id for trial in finished})
        expected = [trial for trial in trials if trial not in finished]
        expect(
            list(remaining.trials) == expected,
            "drop_finished() drops what is finished, and nothing else",
        )
    expect(list(group.trials) == trials, "drop_finished() changes nothing of the group as it is")


def _trial_ids(plan: Sequence[Any]) -> list[str]:
    return [trial.id for block in plan for group in block.groups for trial in group.trials]


def _check_distinct(names: Sequence[str], subject: str) -> None:
    expect(all(names), f"{subject} are not empty")
    expect(len(set(names)) == len(names), f"{subject} are distinct")
