"""What fixed rules spent is never a headline."""

from collections.abc import Callable
from typing import Any

import pytest

from swarm_bench.analysis.documents.blocks import RULES_TITLE
from swarm_bench.analysis.documents.trials import make_page
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.ratios import Ratios
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.golden import Sentences
from tests.builders.reports import render, summarise

Trial = Callable[..., TrialRecord]
Session = Callable[..., SessionData]

TIMES = ["wall_seconds", "duration_s"]
BY_RULES: list[dict[str, Any]] = [
    {"fixed_rules": True, "model": "another name"},
    {"rehearsal": True, "model": "rehearsal"},
    {"model": "rules"},  # as older sessions have it
]


def keys(ratios: Ratios | None) -> list[str]:
    return [row.metric.key for row in ratios.rows] if ratios else []


def compared(trial: Trial, session: Session, **changes: Any) -> Report:
    modes = ("baseline", "told", "canopy")
    return summarise(session(*(trial(mode, **changes) for mode in modes)))


@pytest.mark.parametrize("changes", BY_RULES)
def test_what_fixed_rules_spent_is_no_headline(
    changes: dict[str, Any], trial: Trial, session: Session
) -> None:
    report = compared(trial, session, **changes)
    assert keys(report.headline.ratios) == TIMES
    spent = report.spent_by_rules
    assert spent is not None
    assert set(keys(spent.ratios)) >= {"num_turns", "total_tokens", "effective_tokens"}
    assert not set(keys(spent.ratios)) & set(TIMES)


@pytest.mark.parametrize("changes", BY_RULES)
def test_the_split_by_controls_follows_the_headline(
    changes: dict[str, Any], trial: Trial, session: Session
) -> None:
    report = compared(trial, session, **changes)
    (split,) = report.controls[0].splits
    assert [metric.key for metric, _ in split.rows] == TIMES
    assert report.spent_by_rules is not None
    (spent,) = report.spent_by_rules.controls[0].splits
    assert [metric.key for metric, _ in spent.rows] == keys(report.spent_by_rules.ratios)


def test_what_a_model_spent_is_one_with_a_word_on_correctness(
    trial: Trial, session: Session, golden: Sentences
) -> None:
    report = compared(trial, session, model="a-model")
    assert report.spent_by_rules is None
    assert keys(report.headline.ratios)[:2] == TIMES
    assert {"total_tokens", "cost"} < set(keys(report.headline.ratios))
    golden(report.headline.remark)


def test_without_a_verdict_nothing_is_said_of_spending(trial: Trial, session: Session) -> None:
    touched = trial(retrieval="contaminated", fixed_rules=True)
    report = summarise(session(touched, trial("canopy", fixed_rules=True)))
    assert report.spent_by_rules is None
    assert report.headline.remark == ""


def test_its_section_stands_below_the_headline(trial: Trial, session: Session) -> None:
    text = render(compared(trial, session, fixed_rules=True))
    parts = {part.partition("\n")[0]: part for part in text.split("\n## ")}
    titles = list(parts)
    assert titles.index("Headline") < titles.index("Effects") < titles.index(RULES_TITLE)
    spent = parts[RULES_TITLE].splitlines()
    assert "no figures of a model" in parts[RULES_TITLE]
    assert "placebo" in parts[RULES_TITLE]
    banner = next(number for number, line in enumerate(spent) if line.startswith("> "))
    assert banner < min(number for number, line in enumerate(spent) if line.startswith("|"))
    assert "| Effective tokens" not in parts["Headline"]
    assert "| Effective tokens" in parts[RULES_TITLE]


@pytest.mark.parametrize("changes", BY_RULES)
def test_nobody_sees_dollars_where_nobody_is_billed(
    changes: dict[str, Any], trial: Trial, session: Session
) -> None:
    """The records have them, as do exports; a verdict on them may be asked for."""
    report = compared(trial, session, **changes)
    assert any(it.cost for it in report.trials)
    text = render(report)
    assert "$" not in text
    assert "Cost" not in text
    assert not [
        name for name, _ in make_page(METRICS, report.trials[0], None).facts if "Cost" in name
    ]
