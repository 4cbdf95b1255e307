"""The verdict on each mode, in one sentence."""

from collections.abc import Mapping
from typing import Any

import pytest

from swarm_bench.analysis.documents.blocks import extend_answer
from swarm_bench.analysis.sentences.next_steps import DOCTOR
from swarm_bench.core.report.document import Step
from swarm_bench.core.session.records import TrialRecord
from tests.builders.answers import text_of
from tests.builders.golden import Sentences
from tests.builders.keyed import PAID
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_trial

TASKS: list[dict[str, Any]] = [
    {"id": f"t{n}", "title": f"t{n}", "prompt": f"Where is {n}?", "key": {"files": [f"{n}.py"]}}
    for n in range(12)
]
WOBBLE = (1.0, 1.04, 0.95, 1.1, 0.9, 1.02, 0.97, 1.07, 0.93, 1.0, 1.05, 0.96)


def trials(
    mode: str, ratio: float = 1.0, recall: float = 0.7, wobble: float = 1.0, **changes: Any
) -> list[TrialRecord]:
    """Make three runs of each task; the mode takes `ratio` times the tokens, more or less."""
    return [
        make_trial(
            mode,
            task_id=task["id"],
            run=run,
            effective_tokens=round(1000 * (number + 1) * ratio * WOBBLE[number] ** wobble),
            **{"scores": {"file_recall": recall + 0.01 * (around % 3)}, **PAID, **changes},
        )
        for number, task in enumerate(TASKS)
        for around in [number + (mode != "baseline")]  # no two modes find exactly the same
        for run in (1, 2, 3)
    ]


def verdicts(*every: list[TrialRecord], **changes: Any) -> Mapping[str, str]:
    records = [trial for of_mode in every for trial in of_mode]
    report = summarise(make_session(*records, **{"tasks": TASKS, "runs": 3, **changes}))
    return {one.mode: text_of(one.answer) for one in report.headline.standings}


BASELINE = trials("baseline", wobble=-1)


def test_a_mode_that_spends_less_and_finds_as_much_helps(golden: Sentences) -> None:
    golden(verdicts(BASELINE, trials("canopy", 0.7, recall=0.72))["canopy"])


def test_large_figures_are_written_without_a_power_of_ten(golden: Sentences) -> None:
    large = verdicts(trials("baseline", 30.0), trials("canopy", 27.0, wobble=2.0))["canopy"]
    golden(large)


@pytest.mark.parametrize(
    ("ratio", "recall", "begins"),
    [
        (0.7, 0.72, "is no better than its placebo: "),
        (0.6, 0.72, "is no better than its placebo: "),
        (0.9, 0.72, "helps: "),
        (0.7, 0.3, "helps: "),
    ],
)
def test_what_a_placebo_saves_too_is_no_merit_of_the_tool(
    ratio: float, recall: float, begins: str, golden: Sentences
) -> None:
    placebo = trials("placebo", ratio, recall=recall)
    found = verdicts(BASELINE, trials("canopy", 0.7, recall=0.72), placebo)
    assert found["canopy"].startswith(begins)
    golden(found["canopy"])
    assert found["placebo"] == "is a control: "


@pytest.mark.parametrize(("there", "says"), [(36, "gains less"), (1, "cannot be told yet")])
def test_a_placebo_of_few_trials_speaks_for_no_tool(there: int, says: str) -> None:
    placebo = trials("placebo", 1.0, recall=0.72)[:there]
    helped = verdicts(BASELINE, trials("canopy", 0.7, recall=0.72), placebo)["canopy"]
    assert helped.startswith("helps: ")
    assert f". Its placebo {says}. " in helped


def test_that_a_placebo_does_as_well_is_concluded() -> None:
    saving = trials("canopy", 0.7, recall=0.72)
    every = [*BASELINE, *saving, *trials("placebo", 0.7, recall=0.72)]
    data = make_session(*every, tasks=TASKS, runs=3)
    concluded = {it.mode: it.concluded for it in summarise(data).headline.standings}
    assert concluded["canopy"] is True
    assert concluded["placebo"] is None


@pytest.mark.parametrize(
    ("ratio", "recall", "begins"),
    [
        (1.4, 0.7, "hurts: "),
        (0.7, 0.4, "is a trade-off: "),
        (1.0, 0.4, "hurts: "),
        (1.0, 0.95, "helps: "),
        (1.0, 0.7, "makes no difference: "),
    ],
)
def test_what_it_found_counts_first(ratio: float, recall: float, begins: str) -> None:
    canopy = trials("canopy", ratio, recall, wobble=0)
    assert verdicts(trials("baseline", wobble=0), canopy)["canopy"].startswith(begins)


def test_what_cannot_be_told_from_noise_is_inconclusive_and_says_what_it_would_take(
    golden: Sentences,
) -> None:
    found = verdicts(trials("baseline", wobble=-5), trials("canopy", 0.9, wobble=5))["canopy"]
    golden(found)
    assert " % fewer to " in found


def test_a_difference_of_one_mode_among_several_needs_more(golden: Sentences) -> None:
    """The interval of the better of two is at 97.5 %."""
    one = verdicts(BASELINE, trials("canopy", 0.9))["canopy"]
    two = verdicts(BASELINE, trials("canopy", 0.9), trials("canopy-service", 1.0))["canopy"]
    golden(one)
    golden(two)


def test_without_keys_the_quality_is_the_success_rate_and_called_so(golden: Sentences) -> None:
    plain = [{key: task[key] for key in ("id", "title", "prompt")} for task in TASKS]
    found = verdicts(BASELINE, trials("canopy", 0.7), tasks=plain)["canopy"]
    golden(found)


def test_by_fixed_rules_there_is_a_verdict_on_recall_and_none_on_cost(golden: Sentences) -> None:
    rules: dict[str, Any] = {"fixed_rules": True, "model": "rules"}
    canopy = trials("canopy", 0.5, recall=0.9, **rules)
    found = verdicts(trials("baseline", **rules), canopy)["canopy"]
    golden(found)
    assert "tokens" not in found


def test_too_few_pairs_are_no_verdict(golden: Sentences) -> None:
    few = [trial for trial in trials("canopy", 0.5) if trial.task_id not in ("t0", "t1", "t2")]
    found = verdicts(BASELINE, few)["canopy"]
    golden(found)
    enough = [trial for trial in trials("canopy", 0.5) if trial.task_id not in ("t0", "t1")]
    found = verdicts(BASELINE, enough)["canopy"]
    assert found.startswith("helps: ")
    golden(found)


def test_another_metric_and_margin_can_be_named() -> None:
    typed = {"primary": "wall_seconds", "margin": 0.5}
    settings = {name: {"value": value, "source": "command line"} for name, value in typed.items()}
    found = verdicts(BASELINE, trials("canopy", wall_seconds=13.0), settings=settings)["canopy"]
    assert found.startswith("makes no difference: ")
    assert "Wall time: " in found


def test_a_metric_that_nobody_knows_any_more_is_said(golden: Sentences) -> None:
    settings = {"primary": {"value": "happiness", "source": "command line"}}
    found = verdicts(BASELINE, trials("canopy"), settings=settings)["canopy"]
    golden(found)


def test_the_quality_can_be_named(golden: Sentences) -> None:
    named = {"quality": {"value": "right_answer", "source": "command line"}}
    right: dict[str, Any] = {"scores": {"file_recall": 0.1, "files_all_found": True}}
    said = verdicts(trials("baseline", **right), trials("canopy", 0.7, **right), settings=named)
    golden(said["canopy"])
    named = {"quality": {"value": "success_rate", "source": "command line"}}
    said = verdicts(BASELINE, trials("canopy", 0.7, recall=0.1), settings=named)
    assert "Success rate" in said["canopy"]
    golden(said["canopy"])
    named = {"quality": {"value": "joy", "source": "command line"}}
    said = verdicts(BASELINE, trials("canopy", 0.7), settings=named)
    golden(said["canopy"])


@pytest.mark.parametrize(
    ("delays", "begins"), [((1.0, 1.0, 1.0), "helps: "), ((0.5, 1.0, 1.6), "cannot tell yet: ")]
)
def test_times_of_agents_that_run_together_are_compared_over_swarms(
    delays: tuple[float, ...], begins: str, golden: Sentences
) -> None:
    settings = {"primary": {"value": "wall_seconds", "source": "command line"}}
    canopy = [
        trial.model_copy(
            update={
                "wall_seconds": 11 * 0.7 * delays[trial.run - 1] * WOBBLE[int(trial.case[1:])],
                "agent": int(trial.case[1:]) + 1,
            }
        )
        for trial in trials("canopy")
    ]
    baseline = [t.model_copy(update={"agent": int(t.case[1:]) + 1}) for t in trials("baseline")]
    swarm: dict[str, Any] = {"agents": 12, "concurrency": 4, "settings": settings}
    together = verdicts(baseline, canopy, **swarm)["canopy"]
    assert together.startswith(begins)
    golden(together)
    apart = verdicts(baseline, canopy, **{**swarm, "concurrency": 1})["canopy"]
    assert apart.startswith("helps: ")
    assert "swarms" not in apart


def test_a_single_swarm_shows_nothing_of_times(golden: Sentences) -> None:
    settings = {"primary": {"value": "wall_seconds", "source": "command line"}}
    once = [
        [t for t in trials(mode, wall_seconds=seconds) if t.run == 1]
        for mode, seconds in (("baseline", 10.0), ("canopy", 5.0))
    ]
    found = verdicts(*once, settings=settings, agents=12, concurrency=4, runs=1)["canopy"]
    golden(found)


def test_what_neither_mode_found_shows_no_equality(golden: Sentences) -> None:
    modes = (trials("baseline", recall=0.0), trials("canopy", 0.7, recall=0.0))
    nothing = [
        trial.model_copy(update={"scores": {"file_recall": 0.0}})
        for mode in modes
        for trial in mode
    ]
    said = verdicts(nothing)["canopy"]
    golden(said)


def test_what_a_constant_answer_finds_too_shows_neither_equality_nor_a_gain(
    golden: Sentences,
) -> None:
    """A third of the tasks ask for one file."""
    asked = [task | {"key": {"files": ["0.py"]}} if n < 4 else task for n, task in enumerate(TASKS)]

    def said(reference: float, own: float) -> str:
        found = trials("baseline", 1.0, reference), trials("canopy", 0.7, own)
        return verdicts(*found, tasks=asked)["canopy"]

    for reference in (0.4, 0.1):
        golden(said(reference, 0.38))
    assert said(0.9, 0.9).startswith("helps")
    assert said(0.4, 0.9).startswith("helps")
    assert said(0.9, 0.3).startswith("is a trade-off")


@pytest.mark.parametrize(
    ("names", "begins"), [(1, "helps: "), (6, "spends less, answers unclear: ")]
)
def test_whoever_names_one_file_is_held_against_a_list_of_one(names: int, begins: str) -> None:
    """The tasks ask for six files, each twice."""
    asked = [{**task, "key": {"files": [f"{n % 6}.py"]}} for n, task in enumerate(TASKS)]
    right: dict[str, Any] = {"scores": {"file_recall": 1.0, "file_precision": 1 / names}}
    reference = trials("baseline", recall=0.3, wobble=-1)
    assert verdicts(reference, trials("canopy", 0.7, **right), tasks=asked)["canopy"].startswith(
        begins
    )


def test_whoever_finds_nothing_does_not_help_where_the_reference_finds_hardly_anything(
    golden: Sentences,
) -> None:
    said = verdicts(trials("baseline", recall=0.05), trials("canopy", 0.1, recall=0.0))["canopy"]
    golden(said)


def test_tasks_that_nobody_judges_are_no_saving(golden: Sentences) -> None:
    """The mode gives up in the five tasks without a key."""
    tasks = [*TASKS[:7], *({**task, "key": None} for task in TASKS[7:])]
    unjudged = {task["id"] for task in TASKS[7:]}
    gave_up = [
        trial.model_copy(update={"effective_tokens": 10, "scores": None})
        if trial.task_id in unjudged
        else trial
        for trial in trials("canopy")
    ]
    said = verdicts(BASELINE, gave_up, tasks=tasks)["canopy"]
    golden(said)


@pytest.mark.parametrize("apart", [{"key": None}, {"tags": ["done-already"]}])
def test_a_saving_must_stand_where_answers_are_judged(
    apart: dict[str, Any], golden: Sentences
) -> None:
    """The mode gives up in the two tasks that are judged by nobody, or stand apart."""
    tasks = [*TASKS[:10], *({**task, **apart} for task in TASKS[10:])]
    unjudged = {task["id"] for task in TASKS[10:]}

    def said(ratio: float, given_up: float) -> str:
        canopy = trials("canopy", ratio, wobble=-1)
        gave_up = [
            trial.model_copy(update={"effective_tokens": round(1000 * given_up)})
            if trial.task_id in unjudged
            else trial
            for trial in canopy
        ]
        return verdicts(BASELINE, gave_up, tasks=tasks)["canopy"]

    golden(said(0.95, 6.0))
    assert said(0.7, 7.0).startswith("helps: ")
    assert said(0.95, 6.0).startswith("cannot tell yet: ")


def test_tasks_whose_quality_is_not_compared_are_named(golden: Sentences) -> None:
    def without(records: list[TrialRecord]) -> list[TrialRecord]:
        unscored = {"t3", "t8"}
        return [
            trial.model_copy(update={"scores": None}) if trial.task_id in unscored else trial
            for trial in records
        ]

    canopy = without(trials("canopy", 0.7))
    said = verdicts(without(BASELINE), canopy)["canopy"]
    assert said.startswith("helps")
    golden(said)
    golden(verdicts(BASELINE, canopy)["canopy"])


def test_a_bound_with_one_side_is_said_where_the_interval_does_not_show_it(
    golden: Sentences,
) -> None:
    finds = [0.7 + (0.2 if n % 2 else -0.2) for n in range(12)]
    own = [
        trial.model_copy(
            update={"scores": {"file_recall": finds[int((trial.task_id or "t0")[1:])]}}
        )
        for trial in trials("canopy", 0.7)
    ]
    said = verdicts(
        BASELINE, own, settings={"quality_margin": {"value": 0.13, "source": "command line"}}
    )["canopy"]
    golden(said)


def test_a_tool_that_no_agent_used_gains_nothing(golden: Sentences) -> None:
    unused: dict[str, Any] = {"retrieval": "unused", "mcp_calls": 0}
    said = verdicts(BASELINE, trials("canopy", 0.7, **unused))["canopy"]
    assert said.startswith("no verdict: ")
    golden(said)
    assert verdicts(BASELINE, trials("canopy", 1.4, **unused))["canopy"].startswith("hurts")


SAME = {"answers": 1, "different": ["x"]}
NOTHING: dict[str, dict[str, Any]] = {
    "empty": {"tool_answers": {"mcp__canopy__find": {"answers": 1, "empty": 1}}},
    "errors": {"tool_answers": {"mcp__canopy__find": {"answers": 1, "errors": 1}}},
    "fixed": {"tool_answers": {"mcp__canopy__find": SAME}},
    "one text": {"answer_digest": "d"},
}


@pytest.mark.parametrize("name", NOTHING)
def test_without_evidence_no_gain_is_claimed_and_a_loss_stays(name: str) -> None:
    def answered(ratio: float) -> str:
        own = [
            trial.model_copy(update={"tool_answers": with_question(trial)})
            for trial in trials("canopy", ratio, **NOTHING[name])
        ]
        return verdicts(BASELINE, own)["canopy"]

    assert answered(0.7).startswith("no verdict: ")
    assert answered(1.4).startswith("hurts")


def test_what_leaves_no_evidence_is_said_once() -> None:
    void = trials("canopy", 0.7, retrieval="unused", mcp_calls=0)
    report = summarise(make_session(*BASELINE, *void, tasks=TASKS, runs=3))
    standing = report.headline.standings[-1]
    answer = extend_answer(standing)
    assert answer.figures == "Not used in 36 of 36 trials."
    assert not answer.caveats


def test_who_has_no_verdict_is_sent_to_no_other_code_before_it_is_known_what_is_wrong() -> None:
    def follows(**changes: Any) -> Step | None:
        own = trials("canopy", 0.7, **changes)
        session = make_session(*BASELINE, *own, tasks=TASKS, runs=3, suite="demo")
        return extend_answer(summarise(session).headline.standings[-1]).next

    assert follows(retrieval="unused", mcp_calls=0) == DOCTOR
    other = follows()
    assert other
    assert other != DOCTOR


def with_question(trial: TrialRecord) -> dict[str, Any] | None:
    """Let each task ask a question of its own."""
    asked = {"questions": (trial.task_id,)}
    own = trial.tool_answers or {}
    return {
        tool: answers.model_copy(update=asked) if len(answers.different) == 1 else answers
        for tool, answers in own.items()
    }


def test_a_reference_that_reached_the_tool_shows_no_gain(golden: Sentences) -> None:
    def reaching(number: int) -> list[TrialRecord]:
        evidence = (
            BASELINE[0]
            .model_validate(
                {**dict(BASELINE[0]), "evidence": {"outside": ["It started canopy-mcp."]}}
            )
            .evidence
        )
        return [
            trial.model_copy(update={"evidence": evidence} if at < number else {})
            for at, trial in enumerate(BASELINE)
        ]

    said = verdicts(reaching(4), trials("canopy", 0.7))["canopy"]
    assert said.startswith("no verdict: ")
    golden(said)
    assert verdicts(reaching(3), trials("canopy", 0.7))["canopy"].startswith("helps")


def test_tasks_that_an_interrupted_session_never_reached_are_missing(golden: Sentences) -> None:
    some = {task["id"] for task in TASKS[:7]}
    modes = (BASELINE, trials("canopy", 0.7))
    reached = [[trial for trial in mode if trial.task_id in some] for mode in modes]
    said = verdicts(*reached, all_tasks=True, agents=12)["canopy"]
    golden(said)


@pytest.mark.parametrize(
    ("primary", "typically"),
    [
        ("cost", "It cost $0.37 per task, the baseline $0.50 ("),
        ("wall_seconds", "It took 9 s per task, the baseline 12 s ("),
    ],
)
def test_typical_values_have_their_unit(primary: str, typically: str) -> None:
    settings = {"primary": {"value": primary, "source": "command line"}}
    sides = (
        trials("baseline", cost=0.5, wall_seconds=12.0),
        trials("canopy", cost=0.37, wall_seconds=9.0),
    )
    assert typically in verdicts(*sides, settings=settings)["canopy"]


CONSTANT: dict[str, Any] = {"answer_digest": "d"}
"""Of a text that is the same for every task."""


def test_a_loss_stays_one_where_nothing_is_evidence_of_a_gain(golden: Sentences) -> None:
    gave_up = trials("canopy", 0.5, scores={"file_recall": 0.0}, **CONSTANT)
    said = verdicts(BASELINE, gave_up)["canopy"]
    assert said.startswith("hurts: ")
    golden(said)
    assert verdicts(BASELINE, trials("canopy", 0.5, **CONSTANT))["canopy"].startswith("no verdict")
    dearer = verdicts(BASELINE, trials("canopy", 1.5, recall=0.95, **CONSTANT))["canopy"]
    assert dearer.startswith("hurts: ")


def test_tasks_that_nobody_can_judge_are_named_with_the_reason(golden: Sentences) -> None:
    tasks = [task | {"key": {"facts": [task["id"]]}} for task in TASKS]
    why = "each fact of the key stands in the question"

    def with_facts(mode: str, share: float) -> list[TrialRecord]:
        return [
            trial.model_copy(
                update={"scores": {"fact_share": None}, "missing_scores": {"fact_share": why}}
                if int(trial.task_key[1:]) < 9
                else {"scores": {"fact_share": share, "fact_share_elsewhere": 0.0}}
            )
            for trial in trials(mode, 0.7 if mode == "canopy" else 1.0)
        ]

    said = verdicts(with_facts("baseline", 1.0), with_facts("canopy", 0.0), tasks=tasks)["canopy"]
    golden(said)
    assert "without an interval" not in said


def test_agents_that_get_some_tasks_are_said_to(golden: Sentences) -> None:
    def some(of_mode: list[TrialRecord]) -> list[TrialRecord]:
        return [trial for trial in of_mode if trial.run == 1][:8]

    said = verdicts(some(BASELINE), some(trials("canopy", 0.7)), agents=8, runs=1)["canopy"]
    assert " 8 of 12 tasks × 1 run." in said
