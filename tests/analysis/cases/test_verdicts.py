"""The verdict on arms, on ratios and on scores."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from swarm_bench.analysis.cases.summary import ComparedArms, make_case_document
from swarm_bench.core.metric import Better, Metric, Metrics, Style
from swarm_bench.core.report.document import Document
from swarm_bench.core.session.cases import Case, CaseExperiment, CaseRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.reports.markdown import render
from tests.builders.answers import answer_lines
from tests.builders.cases import case_session
from tests.builders.golden import Sentences, parts

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
    return render(laid_out(metric, *figures, **changes))


def laid_out(metric: str, *figures: Sequence[float | None], **changes: Any) -> Document:
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
    return make_case_document(ComparedArms(experiment=experiment, records=records, metrics=metrics))


def verdict(metric: str, *figures: Sequence[float | None], **changes: Any) -> str:
    """Return the sentence on the last arm."""
    name = "abcd"[len(figures) - 1]
    lines = answer_lines(summary(metric, *figures, **changes), name)
    return re.sub(rf"^- \*\*{name}:? (is )?", "", lines)


def test_an_arm_is_better_or_worse_by_what_was_named(golden: Sentences) -> None:
    golden(verdict("words", ALL, (70, 72, 69, 70, 71, 68, 70, 70)))
    golden(verdict("words", ALL, (70, 72, 69, 70, 71, 68, 70, 0)))
    golden(verdict("words", ALL, (140, 150, 130, 140, 145, 150, 139, 141)))
    assert verdict("words", ALL, (100, 101, 99, 100, 102, 98, 100, 100)).startswith(
        "makes no difference."
    )
    unclear = (50, 200, 60, 180, 100, 150, 70, 130)
    assert verdict("words", ALL, unclear).startswith("cannot tell yet.**")
    assert "takes about " in verdict("words", ALL, unclear)
    golden(verdict("words", ALL, (70, 72, 69, 70, 71, 0, 0, 70)))


HALF = (0.5, 0.4, 0.6, 0.5, 0.3, 0.7, 0.5, 0.5)


@pytest.mark.parametrize(
    ("own", "reached"),
    [
        ([0.8, 0.7, 0.8, 0.9, 0.6, 0.9, 0.8, 0.9], "better"),
        ([0.1, 0.0, 0.3, 0.2, 0.0, 0.3, 0.2, 0.1], "worse"),
        ([0.52, 0.41, 0.58, 0.5, 0.31, 0.69, 0.5, 0.51], "makes no difference"),
        ([1.0, 0.0, 0.9, 0.1, 0.7, 0.2, 0.8, 0.3], "cannot tell yet"),
        (HALF, "cannot tell yet"),
        ([0.8] * 4 + [None] * 4, "no verdict"),
    ],
)
def test_scores_are_compared_as_differences(
    own: Sequence[float | None], reached: str, golden: Sentences
) -> None:
    said = verdict("right", HALF, own)
    assert said.startswith(f"{reached}.**")
    golden(said)


def test_equal_scores_of_few_cases_show_nothing_and_of_many_that_they_are_equal() -> None:
    assert "takes 29 cases." in verdict("right", HALF, HALF)
    assert verdict("right", HALF * 4, HALF * 4).startswith("makes no difference.**")


def test_an_arm_may_differ_beyond_noise_by_less_than_the_margin(golden: Sentences) -> None:
    own = [value + 0.03 + 0.001 * n for n, value in enumerate(HALF)]
    differs = verdict("right", HALF, own)
    assert differs.startswith("makes no difference.**")
    golden(differs)
    assert "beyond noise" not in verdict("right", HALF * 4, HALF * 4)


def test_cases_of_one_group_are_no_independent_evidence(golden: Sentences) -> None:
    own = [value + 0.2 + 0.01 * n for n, value in enumerate(HALF)] * 2
    assert verdict("right", HALF * 2, own).startswith("better.**")
    cases = tuple(Case(id=f"c{n}", title="c", group=f"g{n % 5}") for n in range(16))
    grouped = verdict("right", HALF * 2, own, cases=cases)
    assert grouped.startswith("cannot tell yet.**")
    golden(grouped)


def test_several_arms_are_compared_at_a_stricter_level(golden: Sentences) -> None:
    own = (92, 97, 99, 95, 93, 102, 91, 96)
    golden(verdict("words", ALL, own, margin=0.02))
    others = (ALL, [100, 130, 80, 90, 110, 85, 120, 99], [97, 120, 80, 100, 130, 85, 99, 100])
    golden(verdict("words", *others, own, margin=0.02))


def test_a_metric_that_this_version_does_not_have_gives_no_verdict() -> None:
    assert "**b**" not in summary("gone", ALL, ALL)


def test_what_is_named_beforehand_is_shown_and_what_was_changed_is_said(golden: Sentences) -> None:
    base = {"margin": 0.1}
    lines = summary("right", HALF, HALF, **base)
    assert "Named beforehand" not in lines
    experiment = CaseExperiment(
        concurrency=1, session="s", created_at=datetime.now(UTC), benchmark="toy", seed=0, runs=1,
        arms=("a", "b"), cases=tuple(Case(id=f"c{n}", title="c") for n in range(8)),
        order=(("a", "b"),), primary="right",
    ).preregister()  # fmt: skip
    named = experiment.beforehand
    assert named
    assert named.is_whole
    shown = summary("right", HALF, HALF, beforehand=named)
    (line,) = [line for line in shown.splitlines() if "**Named beforehand:**" in line]
    golden(line)
    assert "Exploratory: these" not in shown
    chosen = summary("words", ALL, ALL, beforehand=named)
    golden(parts(chosen))
    forged = named.model_copy(update={"primary": "words"})
    golden(parts(summary("words", ALL, ALL, beforehand=forged)))
    fewer = named.model_copy(update={"cases": ("c0", "c1")}).add_checksum()
    golden(parts(summary("right", HALF, HALF, beforehand=fewer)))
    grown = laid_out("right", HALF, HALF, beforehand=fewer)
    assert "(8 cases for 2)" in repr(grown.brief), "a terminal says it beside the verdict"
    assert "1 note" not in repr(grown.brief), "and once"
    alone = laid_out("right", HALF, beforehand=fewer)
    assert "(8 cases for 2)" not in repr(alone.brief), "there is no verdict to look for"


def test_a_gain_in_what_an_arm_was_made_from_is_held_against_the_others(
    golden: Sentences,
) -> None:
    """It is shown there; in the other cases it may be as large, and these be too few to tell."""
    made = replace(RIGHT, key="training", read=lambda record: record.figures.get("training"))
    own = replace(RIGHT, made_from="training", compared=True)
    nothing, gained = (0.0,) * 8, (1.0,) * 7 + (0.0,)

    def sentence(held_out: Sequence[float]) -> str:
        session = case_session({"a": nothing, "b": held_out}, metrics=(own, made))
        records = [
            it.model_copy(update={"figures": {**it.figures, "training": value}})
            for arm, values in (("a", nothing), ("b", gained))
            for it, value in zip(
                (it for it in session.records if it.arm == arm), values, strict=True
            )
        ]
        return answer_lines(render(make_case_document(replace(session, records=records))), "b")

    some = (1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    golden(sentence(some), sentence(nothing[:7] + (0.0,)))
