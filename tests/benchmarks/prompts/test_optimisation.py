"""Rounds of prompts, of records that are made up."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

import pytest

from swarm_bench.benchmarks.cases.passing import PASSED
from swarm_bench.benchmarks.cases.role import RowCase, Tools
from swarm_bench.benchmarks.prompts.common import (
    CHECKS,
    QUALITY,
    Checks,
    Prompted,
    Task,
    TaskWithTests,
)
from swarm_bench.benchmarks.prompts.evaluation import PromptEvaluation
from swarm_bench.benchmarks.prompts.optimisation import (
    HELD_OUT,
    SUGGESTION,
    TRAINING,
    PromptOptimisation,
    drop_fence,
    shorten_prompt,
)
from swarm_bench.core.errors import ModelFailed, UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion
from swarm_bench.core.session.models import Arm, ModelRecord
from swarm_bench.core.status import CONSEQUENCES, Cause

MODEL = Arm(name="m", model="m", against="m")


class Judge:
    """Writes a prompt, or says nothing where a request has what it must not."""

    def __init__(self, silent_on: str = "\0") -> None:
        self.asked, self._silent_on = list[str](), silent_on

    async def ask(self, ask: Ask) -> Completion | None:
        self.asked.append(ask.texts[-1])
        if self._silent_on in ask.texts[-1]:
            return None
        usage = Usage(input=1, cache_read=0, cache_create=0, output=1)
        return Completion(text=f"Prompt {len(self.asked)}.", finish="stop", usage=usage)


def cases(own: PromptOptimisation, number: int = 18) -> dict[str, RowCase]:
    rows = [
        TaskWithTests(id=f"t{n:02}", prompt=f"Task {n:02}.", unitTests="assert True")
        for n in range(number)
    ]
    return {case.id: case for case in own.cases(rows)}


def record(arm: str, case: RowCase, *, run: int = 1, cause: Cause = Cause.FINISHED,
           scores: Mapping[str, Any] | None = None) -> ModelRecord:  # fmt: skip
    return ModelRecord(
        arm=arm, case=case.id, number=1, run=run, session="s", attempt=1, answer=f"of {case.id}",
        trial=f"{arm}-{case.id}-{run}", status=CONSEQUENCES[cause].status, cause=cause,
        scores=None if scores is None else {SUGGESTION: None, QUALITY: 0.5, **scores},
    )  # fmt: skip


async def added(
    own: PromptOptimisation,
    arms: Sequence[Arm],
    score: Callable[[str, int], ModelRecord],
    judge: Judge | None = None,
) -> list[str]:
    every = cases(own)
    records = [score(arm.name, n) for arm in arms for n in range(len(every))]
    tools = Tools(environment=None, judge=judge or Judge())
    return [arm.name for arm in await own.next_arms(arms, records, tools, every)]


@pytest.mark.parametrize("share", [0.1, 0.25, 1 / 3, 0.5, 0.7])
@pytest.mark.parametrize("number", [7, 10, 18, 30, 99])
def test_so_many_are_held_out_as_the_share_says(share: float, number: int) -> None:
    own = PromptOptimisation(heldOut=share)
    parts = [case.part for case in cases(own, number).values()]
    assert parts.count(HELD_OUT) == ceil(round(number * share, 6))
    assert (own.refused([*cases(own, number).values()]) is None) == (
        6 <= parts.count(HELD_OUT) < number
    )


def test_the_part_of_a_case_does_not_depend_on_the_order_of_rows() -> None:
    own = PromptOptimisation()
    rows = [TaskWithTests(id=f"t{n}", prompt=f"{n}", unitTests="assert True") for n in range(30)]
    parts = [{it.id: it.part for it in own.cases(order)} for order in (rows, rows[::-1])]
    assert parts[0] == parts[1]


@pytest.mark.anyio
async def test_only_trials_with_an_answer_that_is_missing_stop_the_rounds() -> None:
    own = PromptOptimisation(maxImprovementRuns=2)
    every = [*cases(own).values()]
    training = [n for n, case in enumerate(every) if case.part == TRAINING]
    held_out = [n for n, case in enumerate(every) if case.part == HELD_OUT]

    def losing(lost: Sequence[int], cause: Cause) -> Callable[[str, int], ModelRecord]:
        return lambda arm, n: (
            record(arm, every[n], cause=cause)
            if n in lost
            else record(arm, every[n], scores={PASSED: False})
        )

    assert await added(own, [MODEL], losing([], Cause.FINISHED)) == ["m round 1"]
    assert await added(own, [MODEL], losing(training[:1], Cause.PROVIDER_FAILED)) == []
    assert await added(own, [MODEL], losing(training, Cause.FINISHED)) == []
    assert await added(own, [MODEL], losing(training[:3], Cause.TIMEOUT)) == ["m round 1"]
    assert await added(own, [MODEL], losing(held_out, Cause.PROVIDER_FAILED)) == ["m round 1"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("passing", "quality", "goes_on"),
    [(1, 0.8, False), (1, 0.79, True), (1, None, True), (0.75, 1, True), (0, 0, True)],
)
async def test_it_ends_at_both_thresholds(
    passing: float, quality: float | None, goes_on: bool
) -> None:
    own = PromptOptimisation(maxImprovementRuns=1)
    every = [*cases(own).values()]
    training = [case.id for case in every if case.part == TRAINING]

    def score(arm: str, n: int) -> ModelRecord:
        part = training.index(every[n].id) if every[n].id in training else 99
        scores = {PASSED: part < passing * len(training), QUALITY: quality}
        return record(arm, every[n], scores=scores)

    assert bool(await added(own, [MODEL], score)) == goes_on


@pytest.mark.anyio
async def test_marks_that_are_missing_are_no_worse_than_others() -> None:
    """Of rounds that pass alike, the first has no marks, and the others have some."""
    own = PromptOptimisation(maxImprovementRuns=5)
    every = [*cases(own).values()]
    rounds = [Arm(name=f"m round {it}", model="m", against="m") for it in (1, 2)]

    def score(arm: str, n: int) -> ModelRecord:
        return record(arm, every[n], scores={PASSED: False, QUALITY: marks[arm]})

    marks: dict[str, float | None] = {"m": None, "m round 1": 0.5, "m round 2": 0.5}
    assert await added(own, [MODEL, *rounds], score) == []
    marks["m"] = 0.4  # then the first round is a gain
    assert await added(own, [MODEL, *rounds], score) == ["m round 3"]


@pytest.mark.anyio
async def test_arms_of_one_model_have_rounds_of_their_own_and_one_failure_keeps_the_others() -> (
    None
):
    own = PromptOptimisation(maxImprovementRuns=2)
    every = [*cases(own).values()]
    vary = [
        Arm(name=f"m systemPrompt={it}", model="m", properties={"systemPrompt": f"Prompt of {it}."})
        for it in ("a", "b")
    ]
    arms = own.arms([*vary, Arm(name="n", model="n")])
    assert [arm.against for arm in arms] == [arm.name for arm in arms]
    judge = Judge(silent_on="Prompt of a.")

    def score(arm: str, n: int) -> ModelRecord:
        return record(arm, every[n], scores={PASSED: False})

    names = await added(own, arms, score, judge)
    assert names == ["m systemPrompt=b round 1", "n round 1"]
    assert len(judge.asked) == 3
    with pytest.raises(ModelFailed):
        await added(own, arms[:1], score, judge)


@pytest.mark.anyio
@pytest.mark.parametrize(("number", "failed", "passed"), [(12, 6, 0), (9, 4, 2), (2, 2, 4)])
async def test_a_request_shows_what_went_badly_and_well(
    number: int, failed: int, passed: int
) -> None:
    own = PromptOptimisation(maxImprovementRuns=2, systemPrompt="Be brief.")
    every = [*cases(own).values()]
    training = [case.id for case in every if case.part == TRAINING]

    def score(arm: str, n: int) -> ModelRecord:
        fails = every[n].id in training[:number]
        return record(arm, every[n], scores={PASSED: not fails, SUGGESTION: f"On {every[n].id}."})

    judge = Judge()
    second = Arm(name="m round 1", model="m", against="m", properties={"systemPrompt": "Be long."})
    await added(own, [MODEL, second], score, judge)
    (request,) = judge.asked
    shown, others = request.split("Of other answers:")
    assert shown.count("Its tests failed.") == failed
    assert shown.count("Its tests passed.") == passed
    assert others.count("A suggestion on it") == 6
    assert "The prompt:\nBe brief." in shown
    assert "did no better:\nBe long." in shown
    suggested = [case.id for case in every if f"On {case.id}." in request]
    assert suggested == training


def test_without_rounds_models_are_held_against_each_other() -> None:
    models = [Arm(name="m", model="m"), Arm(name="n", model="n")]
    assert PromptOptimisation().arms(models) == models


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [
        ("Short.", 6, "Short."),
        ("One. Two. Three", 12, "One. Two."),
        ("Use e.g. 3.5 of it! Then more", 22, "Use e.g. 3.5 of it!"),
        ("- one\n- two\n- three", 13, "- one\n- two"),
        ("no end of a sentence", 10, "no end of"),
        ("x" * 30, 10, "x" * 10),
        ("一。二。三三三", 5, "一。二。"),
    ],
)
def test_a_prompt_is_cut_at_a_sentence(text: str, length: int, expected: str) -> None:
    assert shorten_prompt(text, length) == expected


def test_a_prompt_of_vary_is_one_more_arm() -> None:
    own = PromptEvaluation()
    typed = {"temperature": 0.5, "systemPrompt": "Be brief."}
    model = Arm(name="m temperature=0.5 systemPrompt=a b.md", model="m", properties=typed)
    none, varied = own.arms([model])
    assert (none.name, none.properties) == (
        "m temperature=0.5 none",
        {"temperature": 0.5, "texts": []},
    )
    assert (varied.name, varied.against) == (model.name, none.name)
    assert varied.properties == {**typed, "texts": []}
    plain = Arm(name="m", model="m")
    assert [it.against for it in own.arms([plain])] == [None]


@pytest.mark.parametrize(
    ("own", "name"), [(PromptEvaluation(), "combined"), (PromptOptimisation(), "maxPromptLength")]
)
def test_what_no_arm_has_of_its_own_is_not_varied(own: Prompted, name: str) -> None:
    model = Arm(name=f"m {name}=1", model="m", properties={name: 1})
    with pytest.raises(UsageError, match=f"--vary {name}"):
        own.arms([model])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```text\nBe brief.\n```", "Be brief."),
        ("````\n```\nx\n```\n````", "```\nx\n```"),
        ("Here:\n```\nBe brief.\n```", "Here:\n```\nBe brief.\n```"),
        ("```\na\n```\nor\n```\nb\n```", "```\na\n```\nor\n```\nb\n```"),
        ("```", "```"),
        ("`" * 100_000, "`" * 100_000),
    ],
)
def test_a_prompt_that_is_a_block_of_code_is_what_stands_in_it(text: str, expected: str) -> None:
    assert drop_fence(text) == expected


@pytest.mark.anyio
@pytest.mark.parametrize("own", [PromptEvaluation(), PromptOptimisation()])
async def test_no_answer_is_wrong_and_nobody_judges_it(own: Prompted) -> None:
    row = Task(
        id="t", prompt="?", checks=Checks.model_validate({"contains": ["def"], "not": ["print"]})
    )
    judge, case = Judge(), RowCase(id="t", row=row, part=TRAINING)
    scores = await own.score_none(case, Tools(environment=None, judge=judge))
    assert scores
    assert (scores[PASSED], scores[CHECKS], scores[QUALITY]) == (None, 0, None)
    assert judge.asked == []


def test_figures_of_a_part_are_of_no_other_trial() -> None:
    own, every = PromptOptimisation, [*cases(PromptOptimisation()).values()]
    for case in every:
        trial = record("m", case, scores={PASSED: True, CHECKS: 1.0})
        trial = trial.model_copy(update={"part": case.part})
        figures = {it.key: it.read(trial) for it in own.metrics() if it.read}
        assert {it.key for it in own.metrics() if it.part != case.part} == {
            key for key, value in figures.items() if value is None
        }
