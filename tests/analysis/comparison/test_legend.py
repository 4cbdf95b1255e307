"""What stands below the ratios: how to read them, how they vary, and what indexing took."""

from collections.abc import Callable
from typing import Any

from swarm_bench.analysis.comparison.legend import variation
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.report import Column, Indexing, Ratios
from swarm_bench.core.session.experiment import Mode, Preparation
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from tests.builders.reports import render, summarise
from tests.builders.sessions import make_session

Trial = Callable[..., TrialRecord]
Swarm = Callable[..., SwarmRecord]
Session = Callable[..., SessionData]
TOKENS = METRICS.named(["wall_seconds", "total_tokens"])


def repeated(trial: Trial, **changes: Any) -> Selection:
    """Two runs of a task; the figures of the second are changed."""
    return Selection(make_session(trial(run=1), trial(run=2, **changes)), METRICS)


def test_a_figure_that_is_the_same_in_every_run_is_said_to_be(trial: Trial) -> None:
    text = variation(repeated(trial, wall_seconds=12.0), (), TOKENS)
    assert "Wall time varied between repetitions" in text
    assert "Reported tokens did not vary from run to run" in text


def test_figures_of_different_modes_and_tasks_are_no_repetitions(trial: Trial) -> None:
    once = [trial(), trial("canopy", total_tokens=3), trial(task="b", total_tokens=9)]
    text = variation(Selection(make_session(*once), METRICS), [Column(mode="canopy")], TOKENS)
    assert "No task was repeated" in text
    assert "did not vary" not in text


def test_a_missing_figure_is_no_repetition(trial: Trial) -> None:
    assert "No task was repeated" in variation(repeated(trial, total_tokens=None), (), TOKENS[1:])


def test_the_brackets_are_a_range_of_tasks(trial: Trial, session: Session) -> None:
    modes = ("baseline", "canopy")
    tasks = [trial(mode, task=task, agent=at) for mode in modes for at, task in enumerate("ab", 1)]
    several, single = render(summarise(session(*tasks))), render(summarise(session(*tasks[::2])))
    assert "| Metric (range of tasks)" in several
    assert "not a confidence interval" in several
    assert "range" not in single.partition("## Warnings")[0]


def with_modes(data: SessionData, **changes: Any) -> SessionData:
    assert data.experiment is not None
    experiment = data.experiment.model_copy(update=changes)
    return SessionData(experiment=experiment, trials=data.trials, swarms=data.swarms)


def ratios(data: SessionData) -> Ratios:
    found = summarise(data).headline.ratios
    assert found is not None
    return found


def cells(data: SessionData) -> tuple[Indexing | None, ...]:
    row = ratios(data).indexing
    assert row is not None
    return row.cells


def test_indexing_is_before_the_agents_or_in_their_time(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    """With a service and with a warm index it is before, else in their time."""
    trials = [trial(run=run) for run in (1, 2)]
    trials += [trial(mode, run=run) for mode in ("canopy", "canopy-service") for run in (1, 2)]
    seconds = {("canopy", 1): 2.0, ("canopy", 2): 4.0, ("canopy-service", 1): 60.0}
    swarms = [
        swarm(mode, run=run, index_seconds=seconds.get((mode, run)))
        for mode in ("canopy", "canopy-service")
        for run in (1, 2)
    ]
    servers: dict[str, Any] = {"source": "test", "servers": {"canopy": {}}}
    modes = (
        Mode(name="baseline", source="test"),
        Mode(name="canopy", **servers, prepare=Preparation(tool="canopy_index")),
        Mode(name="canopy-service", **servers, services=("canopy",)),
    )
    cold = with_modes(session(*trials, *swarms), modes=modes)
    of_service = Indexing(before=60, within=None, missing=1)
    assert cells(cold) == (Indexing(before=None, within=3, missing=0), of_service)
    warm = with_modes(cold, index="warm")
    assert cells(warm) == (Indexing(before=3, within=None, missing=0), of_service)
    page = render(summarise(cold)).partition("## Warnings")[0]
    (row,) = [line for line in page.splitlines() if line.startswith("| Indexing")]
    assert [cell.strip() for cell in row.strip("|").split("|")[1:]] == [
        "3.00s in their time",
        "60.00s before the agents; 1 missing",
    ]


def test_a_first_call_is_before_and_a_copy_is_counted(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    """A warm-up of 5 seconds; a copied index that took 30 when it was made."""
    trials = [trial(), trial("canopy"), trial("canopy-service")]
    servers: dict[str, Any] = {"source": "test", "servers": {"canopy": {}}}
    data = session(
        *trials,
        swarm("canopy", index_seconds=2.0, warm_up_seconds=5.0),
        swarm("canopy-service", index_seconds=30.0, index_copied=True, warm_up_seconds=5.0),
    )
    modes = (
        Mode(name="baseline", source="test"),
        Mode(name="canopy", **servers),
        Mode(name="canopy-service", **servers, services=("canopy",)),
    )
    assert cells(with_modes(data, modes=modes)) == (
        Indexing(before=5, within=2, missing=0),
        Indexing(before=35, within=None, missing=0, copied=1),
    )


def test_a_first_call_alone_is_no_missing_index(
    trial: Trial, swarm: Swarm, session: Session
) -> None:
    data = session(
        trial(), trial("canopy"), swarm("canopy", index_seconds=None, warm_up_seconds=8.0)
    )
    assert cells(data) == (Indexing(before=8, within=None, missing=0),)


def test_what_nobody_timed_is_not_reported(trial: Trial, swarm: Swarm, session: Session) -> None:
    data = session(trial(), trial("told"), trial("canopy"), swarm("canopy", index_seconds=None))
    assert cells(data) == (None, Indexing(before=None, within=None, missing=1))
    page = render(summarise(data))
    (row,) = [line for line in page.splitlines() if line.startswith("| Indexing per swarm")]
    assert [cell.strip() for cell in row.strip("|").split("|")[1:]] == ["-", "not reported"]


def test_without_a_tool_there_is_no_indexing(trial: Trial, session: Session) -> None:
    assert ratios(session(trial(), trial("told"))).indexing is None


def test_the_reference_has_its_indexing_too(trial: Trial, session: Session) -> None:
    text = " ".join(ratios(session(trial("canopy"), trial("canopy-service"))).legend)
    assert "In canopy it took 2.00 s." in text
