"""Verdicts where trials were lost: to the infrastructure, or to an interruption."""

from typing import Any

import pytest

from swarm_bench.analysis.comparison.verdicts import Conclusion, conclude
from swarm_bench.analysis.diff.modes import Sessions, make_mode_diffs
from swarm_bench.analysis.gate.modes import make_gate
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.verdict_rule import Change, Verdict
from swarm_bench.app.stored.limits import parse_limits
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.gate import Bound, Kind, State
from swarm_bench.core.session.records import SessionData, Treatment, TrialRecord
from swarm_bench.core.status import Cause, Status
from tests.builders.answers import text_of
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.reports import summarise
from tests.builders.sessions import make_failed, make_session, make_trial

TASKS: list[dict[str, Any]] = [
    {"id": f"t{n}", "title": "t", "prompt": f"{n}?", "key": {"files": [f"{n}.py"]}}
    for n in range(30)
]
LIMITED = {"cause": "rate-limited", "status": "provider-limited"}
ENDS = {
    "limited": LIMITED,
    "interrupted": {"cause": "interrupted", "status": "cancelled"},
    "never run": None,
}


def trials(
    mode: str,
    ratio: float = 1.0,
    recall: float = 0.8,
    lost: int = 0,
    end: Any = LIMITED,
    **changes: Any,
) -> list[TrialRecord]:
    """Make three runs of each task; of `lost` tasks the first one ended so."""
    whole = [
        make_trial(
            mode,
            agent=n + 1,
            run=run,
            task_id=task["id"],
            effective_tokens=round(1000 * (n + 3) * ratio * (1 + 0.02 * ((n + run) % 4))),
            scores={"file_recall": recall + 0.02 * ((n + len(mode)) % 3)},
            **{**PAID, **changes},
        )
        for n, task in enumerate(TASKS)
        for run in (1, 2, 3)
    ]
    gone = [trial for trial in whole if trial.run == 1][:lost]
    kept = [trial for trial in whole if trial not in gone]
    places: list[dict[str, Any]] = [
        {"agent": t.agent, "run": t.run, "task_id": t.task_id} for t in gone
    ]
    return [*kept, *(make_failed(mode, **end, **place, **PAID) for place in places if end)]


def session(*records: list[TrialRecord], **changes: Any) -> SessionData:
    every = [trial for of_mode in records for trial in of_mode]
    planned = dict.fromkeys(("baseline", "canopy"), 90)
    return make_session(*every, **{"tasks": TASKS, "planned": planned, **changes})


def reached(*records: list[TrialRecord], **changes: Any) -> Conclusion:
    found = conclude(Selection(session(*records, **changes), METRICS), "canopy")
    assert found
    return found


LOST: dict[str, Any] = {
    "effective_tokens": None, "status": Status.PROVIDER_LIMITED, "cause": Cause.RATE_LIMITED,
    "scores": None,
}  # fmt: skip
SILENT: dict[str, dict[str, Any]] = {
    "no tokens": {"effective_tokens": None},
    "contaminated": {"retrieval": Treatment.CONTAMINATED},
    "failed without tokens": {
        "effective_tokens": None, "status": Status.AGENT_FAILED, "cause": Cause.EXIT_CODE,
        "scores": None,
    },
}  # fmt: skip


def without(records: list[TrialRecord], number: int, **changes: Any) -> list[TrialRecord]:
    """Change the first runs of so many tasks."""
    first = {id(trial) for trial in [it for it in records if it.run == 1][:number]}
    return [it.model_copy(update=changes) if id(it) in first else it for it in records]


@pytest.mark.parametrize("why", SILENT)
@pytest.mark.parametrize("loser", ["canopy", "baseline"])
@pytest.mark.parametrize("ratio", [0.6, 1.6, 1.0])
def test_trials_without_the_figure_count_as_lost_ones_do(
    ratio: float, loser: str, why: str
) -> None:
    records = {"baseline": trials("baseline"), "canopy": trials("canopy", ratio)}
    assert reached(*records.values()).verdict is not Verdict.INCONCLUSIVE
    records[loser] = without(records[loser], 9, **SILENT[why])
    found = reached(*records.values())
    assert (found.verdict, bool(found.uncertainty)) == (Verdict.INCONCLUSIVE, True)


def test_what_no_mode_tells_of_a_task_is_not_missing() -> None:
    """Such as the facts of a key that stand in their question."""
    unscored = [
        [
            it.model_copy(update={"scores": None}) if it.task_id in ("t0", "t1") else it
            for it in side
        ]
        for side in (trials("baseline"), trials("canopy", 0.6))
    ]
    assert reached(*unscored).verdict is Verdict.HELPS


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("loser", ["canopy", "baseline"])
@pytest.mark.parametrize(
    ("ratio", "recall", "verdict"),
    [
        (0.6, 0.8, Verdict.HELPS),
        (1.6, 0.8, Verdict.HURTS),
        (1.0, 0.8, Verdict.EQUIVALENT),
        (0.6, 0.3, Verdict.TRADE_OFF),
    ],
)
def test_where_ten_points_more_are_lost_there_is_no_claim(
    ratio: float, recall: float, verdict: Verdict, loser: str, end: str
) -> None:
    assert reached(trials("baseline"), trials("canopy", ratio, recall)).verdict is verdict
    sides = [
        trials("baseline", lost=9 * (loser == "baseline"), end=ENDS[end]),
        trials("canopy", ratio, recall, lost=9 * (loser == "canopy"), end=ENDS[end]),
    ]
    found = reached(*sides)
    assert (found.verdict, bool(found.uncertainty)) == (Verdict.INCONCLUSIVE, True)
    standing = summarise(session(*sides)).headline.standings[-1]
    assert text_of(standing.answer).startswith("cannot tell yet: ")
    assert "9 of 90" in text_of(standing.answer)
    assert "(not worse" not in text_of(standing.answer)
    assert "--continue" in text_of(standing.answer)


def test_a_trial_that_was_run_again_is_not_lost() -> None:
    lost = trials("canopy", 0.6, lost=9)
    again = [
        trial.model_copy(update={"attempt": 2})
        for trial in trials("canopy", 0.6)
        if trial.run == 1 and trial.agent <= 9
    ]
    assert reached(trials("baseline"), [*lost, *again]).verdict is Verdict.HELPS


def test_where_both_lose_as_many_the_verdict_is_checked_only() -> None:
    found = reached(trials("baseline", lost=3), trials("canopy", 0.3, lost=3))
    assert not found.uncertainty
    assert found.verdict is Verdict.HELPS


@pytest.mark.parametrize(
    ("ratio", "recall", "lost", "verdict"),
    [
        (0.6, 0.8, 2, Verdict.HELPS),
        (0.97, 0.8, 0, Verdict.EQUIVALENT),
        (0.95, 0.8, 8, Verdict.INCONCLUSIVE),
        (1.6, 0.8, 2, Verdict.HURTS),
    ],
)
def test_below_ten_points_a_claim_must_stand_with_lost_trials_at_their_worst(
    ratio: float, recall: float, lost: int, verdict: Verdict
) -> None:
    found = reached(trials("baseline"), trials("canopy", ratio, recall, lost=lost))
    assert not found.uncertainty
    assert found.verdict is verdict


@pytest.mark.parametrize("why", ["lost", *SILENT])
def test_a_saving_that_lost_trials_could_turn_is_not_claimed(why: str, golden: Sentences) -> None:
    """Runs of a task differ by more than the tool saves, and the dear ones are those lost."""
    noisy = trials("canopy", 0.7)
    for at, trial in enumerate(noisy):
        wild = 2.5 if trial.run == 3 else 1.0
        noisy[at] = trial.model_copy(
            update={"effective_tokens": round((trial.effective_tokens or 0) * wild)}
        )
    base = reached(trials("baseline"), noisy)
    assert base.spends is Change.LOWER
    lost = without(noisy, 8, **SILENT.get(why, LOST))
    found = reached(trials("baseline"), lost)
    assert (found.spends, found.is_hidden) == (Change.LOWER, True)
    assert found.verdict is Verdict.INCONCLUSIVE
    sentence = summarise(session(trials("baseline"), lost)).headline.standings[-1].answer
    golden(text_of(sentence))


def test_what_was_found_must_stand_too(golden: Sentences) -> None:
    """Lost answers are taken for wrong ones of the mode, and right ones of the reference."""
    close = trials("canopy", 0.5, recall=0.73, lost=8)
    (standing,) = summarise(session(trials("baseline"), close)).headline.standings[-1:]
    golden(text_of(standing.answer))
    found = reached(trials("baseline"), close)
    assert (found.verdict, found.unproved) == (Verdict.CHEAPER, True)
    whole = reached(trials("baseline"), trials("canopy", 0.5, recall=0.73))
    assert whole.verdict is Verdict.HELPS


def test_without_a_cost_what_was_found_must_stand_alone() -> None:
    ruled = {"fixed_rules": True, "model": None}

    def by_rules(records: list[TrialRecord]) -> list[TrialRecord]:
        return [trial.model_copy(update=ruled) for trial in records]

    sides = by_rules(trials("baseline")), by_rules(trials("canopy", recall=0.91, lost=8))
    before = reached(sides[0], by_rules(trials("canopy", recall=0.91)))
    found = reached(*sides)
    assert before.cost is None
    assert before.verdict is Verdict.HELPS
    assert (found.verdict, found.unproved) == (Verdict.INCONCLUSIVE, True)


def test_a_hypothesis_without_a_verdict_still_counts() -> None:
    more = [t.model_copy(update={"mode": "canopy-service"}) for t in trials("canopy", 0.6)]
    found = reached(trials("baseline"), trials("canopy", 0.6, lost=9), more)
    selection = Selection(session(trials("baseline"), trials("canopy", 0.6, lost=9), more), METRICS)
    other = conclude(selection, "canopy-service")
    assert other
    assert (found.hypotheses, other.level) == (2, ALPHA / 2)


def test_a_hypothesis_without_evidence_still_counts() -> None:
    unused: dict[str, Any] = {"retrieval": "unused", "mcp_calls": 0}
    void = [
        t.model_copy(update={"mode": "canopy-service"}) for t in trials("canopy", 0.5, **unused)
    ]
    data = session(trials("baseline"), trials("canopy", 0.98), void)
    found = conclude(Selection(data, METRICS), "canopy")
    assert found
    assert (found.hypotheses, found.level) == (2, ALPHA / 2)


def test_a_limit_and_a_difference_read_the_same_rule() -> None:
    for lost, state, told in ((0, State.HOLDS, True), (9, State.INCONCLUSIVE, False)):
        data = session(trials("baseline"), trials("canopy", 0.6, lost=lost), session="B")
        typed = {Kind.MAX_RATIO: ["effective_tokens=0.9"]}
        limits = parse_limits(typed, METRICS, data.experiment.arms, {"recall"})
        (verdict,) = make_gate(Selection(data, METRICS), limits, Bound.ESTIMATE).verdicts
        assert verdict.state is state
        before = Selection(session(trials("baseline"), trials("canopy"), session="A"), METRICS)
        (_, canopy) = make_mode_diffs(Sessions(a=before, b=Selection(data, METRICS)))
        assert ("in B spends less than in A" in text_of(canopy.answer)) is told
        assert ("cannot tell yet" in text_of(canopy.answer)) is not told


def test_where_losses_end_a_verdict_stopped_trials_agree_with_none() -> None:
    stopped = {"status": Status.BUDGET_REACHED, "cause": Cause.TIMEOUT}
    canopy = trials("canopy", 0.6)
    canopy[0] = canopy[0].model_copy(update=stopped)
    for lost, agrees in ((0, True), (9, False)):
        data = session(trials("baseline", lost=lost), canopy)
        standing = summarise(data).headline.standings[-1]
        assert any("agrees with the verdict" in it for it in standing.qualifications) is agrees


def limit_on(data: SessionData, kind: Kind, limit: str) -> State:
    limits = parse_limits({kind: [limit]}, METRICS, data.experiment.arms, {"recall"})
    (verdict,) = make_gate(Selection(data, METRICS), limits, Bound.ESTIMATE).verdicts
    return verdict.state


@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize(
    ("lost", "limit", "state"),
    [
        (0, 0.981, State.HOLDS),
        (8, 0.981, State.INCONCLUSIVE),
        (8, 1.0, State.HOLDS),
        (0, 0.979, State.VIOLATED),
        (8, 0.979, State.INCONCLUSIVE),
        (8, 0.94, State.VIOLATED),
    ],
)
def test_a_limit_on_a_ratio_must_hold_with_lost_trials_at_their_worst(
    lost: int, limit: float, state: State, at_once: int
) -> None:
    """Also where the verdict claims nothing, and on times of agents that run at once."""

    def timed(records: list[TrialRecord]) -> list[TrialRecord]:
        return [t.model_copy(update={"wall_seconds": t.effective_tokens}) for t in records]

    sides = timed(trials("baseline")), timed(trials("canopy", 0.98, lost=lost))
    data = session(*sides, agents=30, concurrency=at_once)
    assert data.experiment.at_once == at_once
    for metric in ("wall_seconds", "effective_tokens"):
        assert limit_on(data, Kind.MAX_RATIO, f"{metric}={limit}") is state


def test_a_limit_on_a_share_must_hold_with_lost_trials_at_their_worst() -> None:
    for lost, limit, state in (
        (0, 0.8, State.HOLDS),
        (8, 0.8, State.INCONCLUSIVE),
        (8, 0.7, State.HOLDS),
        (0, 0.83, State.VIOLATED),
        (8, 0.83, State.INCONCLUSIVE),
        (8, 0.9, State.VIOLATED),
    ):
        data = session(trials("baseline"), trials("canopy", lost=lost))
        assert limit_on(data, Kind.MIN, f"recall={limit}") is state, (lost, limit)


def test_a_limit_on_one_mode_counts_its_own_losses() -> None:
    """Also where the reference has lost as many."""
    data = session(trials("baseline", lost=12), trials("canopy", 0.6, lost=12))
    typed = {Kind.MIN: ["recall=0.5"]}
    limits = parse_limits(typed, METRICS, data.experiment.arms, {"recall"})
    (verdict,) = make_gate(Selection(data, METRICS), limits, Bound.ESTIMATE).verdicts
    assert verdict.state is State.INCONCLUSIVE


def test_older_sessions_say_that_the_rule_changed(golden: Sentences) -> None:
    named = experiment().preregister().beforehand
    assert named
    older = named.model_copy(update={"verdict_version": None}).add_checksum()
    lost = [trials("baseline"), trials("canopy", 0.6, lost=9)]
    whole = [trials("baseline"), trials("canopy", 0.6)]
    for beforehand, records in ((older, lost), (named, lost), (older, whole)):
        golden(*summarise(session(*records, beforehand=beforehand)).notes)
