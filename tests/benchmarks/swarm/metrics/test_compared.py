"""A metric of a package that asks to be compared."""

from dataclasses import replace
from typing import cast

import pytest

from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.metric import Better, How, Metric, Metrics, Row, Style, fault
from swarm_bench.core.report.ratios import Ratios
from swarm_bench.core.report.report import Report
from tests.builders.reports import calibration, summarise
from tests.builders.sessions import make_session, make_trial

SUBAGENTS = Metric(
    key="subagents",
    title="Sub-agents",
    unit="sub-agents",
    style=Style.WHOLE,
    definition="Sub-agents that the agent started.",
    read=lambda trial: trial.subagents,
    compared=True,
)


def reported(metric: Metric, model: str = "sonnet") -> Report:
    figures = {"baseline": 2, "placebo": 4, "canopy": 6}
    trials = [make_trial(mode, subagents=number, model=model) for mode, number in figures.items()]
    return summarise(make_session(*trials), metrics=Metrics((*METRICS, metric)))


def estimates(ratios: Ratios | None) -> dict[str, list[float]]:
    rows = ratios.rows if ratios else ()
    return {row.metric.key: [ratio.estimate for ratio in row.ratios if ratio] for row in rows}


def doubts(report: Report) -> str:
    (standing,) = [standing for standing in report.headline.standings if standing.mode == "canopy"]
    return "; ".join(standing.qualifications)


def test_it_is_a_ratio_of_the_headline() -> None:
    assert estimates(reported(SUBAGENTS).headline.ratios)["subagents"] == pytest.approx([3.0])
    assert "subagents" not in estimates(
        reported(replace(SUBAGENTS, compared=False)).headline.ratios
    )


def test_what_fixed_rules_spent_of_it_is_no_headline() -> None:
    report = reported(replace(SUBAGENTS, spent=True), model="rules")
    assert "subagents" not in estimates(report.headline.ratios)
    assert report.spent_by_rules is not None
    assert estimates(report.spent_by_rules.ratios)["subagents"] == pytest.approx([3.0])


def test_a_placebo_raises_doubts_only_where_less_is_better() -> None:
    assert "Sub-agents" in doubts(reported(replace(SUBAGENTS, better=Better.LOWER)))
    assert "Sub-agents" not in doubts(reported(replace(SUBAGENTS, better=Better.HIGHER)))
    assert "Sub-agents" not in doubts(reported(SUBAGENTS))


def test_a_calibration_says_its_noise() -> None:
    data = make_session(
        *(
            make_trial(mode, run=run, subagents=2)
            for mode in ("canopy", "placebo")
            for run in (1, 2)
        )
    )
    found = calibration(data, metrics=Metrics((*METRICS, SUBAGENTS)))
    assert [row.still for row in found.rows if row.metric is SUBAGENTS] == [True]
    assert "sub-agents" in found.answers[0].evidence


@pytest.mark.parametrize(
    ("metric", "clause"),
    [
        (replace(SUBAGENTS, relative=False), None),
        (replace(SUBAGENTS, read=None), "is compared, and reads no trial"),
        (replace(SUBAGENTS, title="two\nlines"), "needs a key and a title of one line each"),
        (
            replace(SUBAGENTS, style=cast(Style, "percents")),
            "has the style 'percents', which is none of Style.SECONDS, Style.WHOLE, Style.AVERAGE, "
            "Style.PERCENT, Style.DOLLARS, Style.FRACTION, Style.CENTS, Style.MILLISECONDS",
        ),
        (
            replace(SUBAGENTS, better=cast(Better, "higher")),
            "has the better 'higher', which is none of Better.LOWER, Better.HIGHER",
        ),
        (
            replace(SUBAGENTS, row=Row(table="A", how=cast(How, "sum"))),
            "has the how 'sum', which is none of How.TOTAL, How.LARGEST, How.MEDIAN, How.MEAN, "
            "How.TASK_MEAN, How.WHOLE_MEAN, How.SHARE, How.NUMBER",
        ),
        (SUBAGENTS, None),
        (replace(SUBAGENTS, row=Row(table="Answers", how=How.MEAN)), None),
    ],
)
def test_what_cannot_be_shown_is_a_fault(metric: Metric, clause: str | None) -> None:
    assert fault(metric) == clause
