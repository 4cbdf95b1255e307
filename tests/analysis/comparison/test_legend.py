"""What stands below the ratios: how to read them, how they vary, and what indexing took."""

from collections.abc import Callable
from typing import Any

from swarm_bench.core.report.ratios import Indexing, Ratios
from swarm_bench.core.session.experiment import Mode, Preparation
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import render, summarise

Trial = Callable[..., TrialRecord]
Swarm = Callable[..., SwarmRecord]
Session = Callable[..., SessionData]


def test_the_brackets_are_an_interval_over_tasks(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    modes = ("baseline", "canopy")
    tasks = [trial(mode, task=task, agent=at) for mode in modes for at, task in enumerate("ab", 1)]
    text = render(summarise(session(*tasks)))
    golden(text)


def with_modes(data: SessionData, **changes: Any) -> SessionData:
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
    trial: Trial, swarm: Swarm, session: Session, golden: Sentences
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
    page = render(summarise(cold)).partition("## Set-up")[0]
    (row,) = [line for line in page.splitlines() if line.startswith("| Indexing")]
    golden(*(cell.strip() for cell in row.strip("|").split("|")[1:]))


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
    assert [cell.strip() for cell in row.strip("|").split("|")[1:]] == ["-", "-", "not reported"]


def test_without_a_tool_there_is_no_indexing(trial: Trial, session: Session) -> None:
    assert ratios(session(trial(), trial("told"))).indexing is None


def test_the_reference_has_its_indexing_too(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    text = " ".join(ratios(session(trial("canopy"), trial("canopy-service"))).legend)
    golden(text)
