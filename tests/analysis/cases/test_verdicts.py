"""The verdict on arms, on ratios and on scores."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import case_document
from swarm_bench.core.metric import Better, Metric, Metrics, Style
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.reports.markdown import render

WORDS = Metric(
    key="words", title="Words", unit="words", style=Style.AVERAGE, definition="of an answer.",
    better=Better.LOWER, compared=True, read=lambda record: record.figures.get("words"),
)  # fmt: skip
RIGHT = Metric(
    key="right", title="Accuracy", unit="0 to 1", style=Style.FRACTION, definition="is right.",
    better=Better.HIGHER, relative=False, read=lambda record: record.figures.get("right"),
)  # fmt: skip
ALL = (100,) * 8


def summary(metric: str, *figures: Sequence[float | None], **changes: Any) -> str:
    """Compare arms by a figure of each case, of which the first arm is the reference."""
    names = "abcd"[: len(figures)]
    cases = tuple(Case(id=f"c{n}", title="c") for n in range(len(figures[0])))
    experiment = CaseExperiment(
        concurrency=1, session="s", created_at=datetime.now(UTC), benchmark="toy", seed=0, runs=1,
        arms=tuple(names), cases=cases, order=(tuple(names),), primary=metric,
    ).model_copy(update=changes)  # fmt: skip
    records = [
        CaseRecord(
            arm=arm, case=f"c{n}", number=n + 1, run=1, session="s", trial=f"{arm}{n}", attempt=1,
            status=Status.COMPLETED, cause=Cause.FINISHED, figures={metric: value},
        )
        for arm, values in zip(names, figures, strict=True)
        for n, value in enumerate(values)
    ]  # fmt: skip
    metrics = Metrics((WORDS, RIGHT))
    return render(
        case_document(CaseSession(experiment=experiment, records=records, metrics=metrics))
    )


def verdict(metric: str, *figures: Sequence[float | None], **changes: Any) -> str:
    """Return the sentence on the last arm."""
    lines = summary(metric, *figures, **changes).splitlines()
    (line,) = [line for line in lines if line.startswith(f"- **{'abcd'[len(figures) - 1]}**")]
    return line[len("- **b** ") :].removeprefix("is ").removeprefix("has ")


def test_an_arm_is_better_or_worse_by_what_was_named() -> None:
    assert verdict("words", ALL, (70, 72, 69, 70, 71, 68, 70, 70)) == (
        "**better**: 30 % less words (95 % interval 29 to 31 % less); 8 cases × 1 run."
    )
    assert verdict("words", ALL, (70, 72, 69, 70, 71, 68, 70, 0)).endswith(
        "7 cases × 1 run. 1 case has no words above 0 in one of the two arms (c7)."
    )
    assert verdict("words", ALL, (140, 150, 130, 140, 145, 150, 139, 141)).startswith(
        "**worse**: 42 % more words"
    )
    assert verdict("words", ALL, (100, 101, 99, 100, 102, 98, 100, 100)).startswith(
        "**equivalent**: "
    )
    unclear = (50, 200, 60, 180, 100, 150, 70, 130)
    assert verdict("words", ALL, unclear).startswith("**inconclusive**: ")
    assert "takes about " in verdict("words", ALL, unclear)
    assert verdict("words", ALL, (70, 72, 69, 70, 71, 0, 0, 70)) == (
        "**no verdict**: 6 of 8 cases have words above 0 in both arms, and a verdict needs 80 %."
    )


HALF = (0.5, 0.4, 0.6, 0.5, 0.3, 0.7, 0.5, 0.5)


@pytest.mark.parametrize(
    ("own", "begins"),
    [
        ([0.8, 0.7, 0.8, 0.9, 0.6, 0.9, 0.8, 0.9], "better: accuracy 0.80 against 0.50 (differenc"),
        ([0.1, 0.0, 0.3, 0.2, 0.0, 0.3, 0.2, 0.1], "worse: accuracy 0.15 against 0.50 (differenc"),
        ([0.52, 0.41, 0.58, 0.5, 0.31, 0.69, 0.5, 0.51], "equivalent: accuracy 0.50 against 0.50"),
        ([1.0, 0.0, 0.9, 0.1, 0.7, 0.2, 0.8, 0.3], "inconclusive: accuracy 0.50 against 0.50 (d"),
        (
            HALF,
            "inconclusive: accuracy 0.50 against 0.50 (difference +0.00, 95 % interval +0.00 to",
        ),
        ([0.8] * 4 + [None] * 4, "no verdict: 4 of 8 cases have accuracy in both arms, and a ver"),
    ],
)
def test_scores_are_compared_as_differences(own: Sequence[float | None], begins: str) -> None:
    assert verdict("right", HALF, own).replace("**", "").startswith(begins)


def test_equal_scores_of_few_cases_show_nothing_and_of_many_that_they_are_equal() -> None:
    assert "takes at least 29." in verdict("right", HALF, HALF)
    assert verdict("right", HALF * 4, HALF * 4).startswith("**equivalent**")


def test_an_arm_may_differ_beyond_noise_by_less_than_the_margin() -> None:
    own = [value + 0.03 + 0.001 * n for n, value in enumerate(HALF)]
    differs = verdict("right", HALF, own)
    assert differs.startswith("**equivalent**")
    assert differs.endswith("It differs beyond noise, by less than the margin.")
    assert "beyond noise" not in verdict("right", HALF * 4, HALF * 4)


def test_cases_of_one_group_are_no_independent_evidence() -> None:
    own = [value + 0.2 + 0.01 * n for n, value in enumerate(HALF)] * 2
    assert verdict("right", HALF * 2, own).startswith("**better**")
    cases = tuple(Case(id=f"c{n}", title="c", group=f"g{n % 5}") for n in range(16))
    grouped = verdict("right", HALF * 2, own, cases=cases)
    assert grouped.startswith("**inconclusive**")
    assert grouped.endswith(
        "16 cases, worth 4.9, × 1 run. With fewer than 6 groups nothing can be shown."
    )


def test_several_arms_are_compared_at_a_stricter_level() -> None:
    own = (92, 97, 99, 95, 93, 102, 91, 96)
    assert verdict("words", ALL, own, margin=0.02).startswith("**better**: 4 % less words (95 %")
    others = (ALL, [100, 130, 80, 90, 110, 85, 120, 99], [97, 120, 80, 100, 130, 85, 99, 100])
    assert "95 % interval, adjusted for all arms, " in verdict("words", *others, own, margin=0.02)


def test_a_metric_that_this_version_does_not_have_gives_no_verdict() -> None:
    assert "**b**" not in summary("gone", ALL, ALL)


def test_what_is_named_beforehand_is_shown_and_what_was_changed_is_said() -> None:
    base = {"margin": 0.1}
    lines = summary("right", HALF, HALF, **base)
    assert "Named beforehand" not in lines
    experiment = CaseExperiment(
        concurrency=1, session="s", created_at=datetime.now(UTC), benchmark="toy", seed=0, runs=1,
        arms=("a", "b"), cases=tuple(Case(id=f"c{n}", title="c") for n in range(8)),
        order=(("a", "b"),), primary="right",
    ).with_beforehand()  # fmt: skip
    named = experiment.beforehand
    assert named
    assert named.is_whole
    shown = summary("right", HALF, HALF, beforehand=named)
    assert f"**Named beforehand:** right, margin 0.1 (sha256 {named.sha256[:12]})" in shown
    assert "Exploratory: these" not in shown
    chosen = summary("words", ALL, ALL, beforehand=named)
    assert "Exploratory: these verdicts are on words with a margin of 0.1; named" in chosen
    forged = named.model_copy(update={"primary": "words"})
    assert "its checksum in experiment.json does not fit" in summary(
        "words", ALL, ALL, beforehand=forged
    )
    fewer = named.model_copy(update={"cases": ("c0", "c1")}).sealed()
    assert "extended after it began (8 cases for 2)" in summary(
        "right", HALF, HALF, beforehand=fewer
    )
