"""What each trial found, and when agents ran."""

from datetime import UTC, datetime, timedelta
from typing import Any

from swarm_bench.analysis.documents.matrix import make_matrix, make_timeline
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.page import Timeline
from swarm_bench.core.session.records import SwarmRecord, TrialRecord
from tests.builders.sessions import make_session, make_swarm, make_trial

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def span(begin: float, end: float) -> dict[str, Any]:
    return {
        "started_at": BEGIN + timedelta(seconds=begin),
        "ended_at": BEGIN + timedelta(seconds=end),
    }


def draw(*records: TrialRecord | SwarmRecord) -> Timeline:
    timeline = make_timeline(Selection(make_session(*records), METRICS))
    assert timeline is not None
    return timeline


def test_a_swarm_is_set_up_before_its_agents_and_taken_down_after_them() -> None:
    timeline = draw(
        make_trial("canopy-service", **span(10, 20)),
        make_trial("canopy-service", agent=2, **span(12, 30)),
        make_swarm(
            "canopy-service", workspace_seconds=1.5, service_seconds=4.0, index_seconds=2.0,
            **span(0, 33),
        ),
    )  # fmt: skip
    (lane,) = timeline.lanes
    assert [(bar.begin, bar.end) for bar in lane.bars] == [(10, 20), (12, 30)]
    before, after = lane.phases
    assert (before.begin, before.end) == (0, 10)
    assert (after.begin, after.end) == (30, 33)
    assert "workspace 1.5 s" in before.label
    assert "start of the service 4.0 s" in before.label
    assert timeline.seconds == 33


def test_an_index_within_the_time_of_agents_is_no_part_of_the_set_up() -> None:
    trial = make_trial("canopy", **span(5, 9))
    swarm = make_swarm("canopy", index_seconds=2.0, workspace_seconds=1.0, **span(0, 9))
    (lane,) = draw(trial, swarm).lanes
    (before,) = lane.phases
    assert "index 2.0 s while agents ran" in before.label


def test_a_bar_names_its_trial_as_the_page_numbers_it() -> None:
    tasks = [{"id": name, "title": name, "prompt": name} for name in ("first", "second")]
    trials = [
        make_trial(mode, task_id=task, agent=agent, **span(agent, agent + 1))
        for mode in ("baseline", "canopy")
        for agent, task in enumerate(("first", "second"), start=1)
    ]
    selection = Selection(make_session(*trials, tasks=tasks), METRICS)
    timeline = make_timeline(selection)
    assert timeline is not None
    lanes = {lane.label: [bar.trial for bar in lane.bars] for lane in timeline.lanes}
    assert lanes == {"baseline": [(0, 0), (1, 0)], "canopy": [(0, 1), (1, 1)]}
    assert timeline.begin == BEGIN.timestamp() + 1


def test_what_has_no_times_is_not_drawn() -> None:
    (lane,) = draw(make_trial("canopy", **span(5, 9)), make_swarm("canopy")).lanes
    assert lane.phases == ()
    assert lane.bars[0].begin == 0
    empty = Selection(make_session(make_trial()), METRICS)
    assert make_timeline(empty) is None


def test_each_block_has_its_phases() -> None:
    records: list[TrialRecord | SwarmRecord] = [
        make_trial("canopy", **span(1, 2)),
        make_trial("canopy", agent=2, **span(4, 6)),
        make_swarm("canopy", agents=(1,), **span(0, 2)),
        make_swarm("canopy", swarm="second", agents=(2,), **span(3, 7)),
    ]
    (lane,) = draw(*records).lanes
    assert [(bar.begin, bar.end) for bar in lane.phases] == [(0, 1), (3, 4), (6, 7)]


def test_an_earlier_attempt_does_not_stretch_a_phase() -> None:
    records: list[TrialRecord | SwarmRecord] = [
        make_trial("canopy", attempt=2, **span(21, 22)),
        make_swarm("canopy", agents=(1,), **span(0, 5)),
        make_swarm("canopy", agents=(1,), attempt=2, **span(20, 23)),
    ]
    (lane,) = draw(*records).lanes
    assert [(bar.begin, bar.end) for bar in lane.phases] == [(0, 1), (2, 3)]


def test_an_agent_says_what_it_waited_for() -> None:
    trial = make_trial("canopy", api_seconds=6.0, tool_seconds={"a": 1.0, "b": 0.5}, **span(0, 9))
    (lane,) = draw(trial).lanes
    assert lane.bars[0].label.endswith("9.0 s, of which 6.0 s for the model and 1.5 s in tools")
    (lane,) = draw(make_trial("canopy", api_seconds=None, tool_seconds=None, **span(0, 9))).lanes
    assert lane.bars[0].label.endswith("9.0 s")


def test_a_cell_has_room_for_some_trials_and_counts_the_others() -> None:
    trials = (make_trial(run=run, mode="baseline", task="a") for run in range(1, 1_041))
    matrix = make_matrix(Selection(make_session(*trials), METRICS))
    assert matrix is not None
    ((entries,),) = [row.cells for row in matrix.rows]
    assert [entry.trial for entry in entries] == [*range(30), None]
    assert entries[-1].value == "1,010 more"


def test_tasks_that_have_not_run_are_counted_below_the_grid() -> None:
    tasks = [{"id": name, "title": name, "prompt": name} for name in ("first", "second")]
    session = make_session(make_trial(task_id="first"), tasks=tasks, agents=2)
    matrix = make_matrix(Selection(session, METRICS))
    assert matrix is not None
    assert matrix.remarks == ("Without a trial so far: 1 task.",)
