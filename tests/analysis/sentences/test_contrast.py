"""Figures of two arms in words."""

from dataclasses import replace

from swarm_bench.analysis.sentences.contrast import (
    BEYOND_CHANCE,
    Contrast,
    describe_figure,
    describe_sides,
    describe_sureness,
)
from swarm_bench.analysis.sentences.evidence import describe_decision
from swarm_bench.analysis.statistics.formulas import ALPHA
from swarm_bench.analysis.statistics.pairing import Cases, Pairs
from swarm_bench.analysis.statistics.verdict_rule import (
    Change,
    Quality,
    classify_quality,
    classify_score,
)
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.report.document import Value
from swarm_bench.reports.figures import format_figure
from tests.builders.golden import Sentences

RECALL = Metric(
    key="recall", title="Recall", unit="0 to 1", style=Style.FRACTION, definition="of files.",
    better=Better.HIGHER, relative=False,
)  # fmt: skip


def contrast(*differences: float, shown: Change, **changes: object) -> Contrast:
    cases = [f"t{n}" for n in range(len(differences))]
    pairs = Pairs(
        relative=False,
        arm_values=dict(zip(cases, (0.5 + it for it in differences), strict=True)),
        reference_values=dict.fromkeys(cases, 0.5),
        unpaired=(),
        zeros=(),
    )
    return replace(
        Contrast(metric=RECALL, pairs=pairs, change=shown, margin=0.1),
        **changes,  # type: ignore[arg-type]
    )


def test_what_excludes_only_a_loss_does_not_say_that_no_gain_matters() -> None:
    gains = [0.4, -0.05, 0.3, 0.2, -0.1, 0.4, 0.3, -0.05] * 4
    assert "10 points apart" in describe_sureness(contrast(*gains, shown=Change.SAME))
    assert (
        describe_sureness(contrast(*gains, shown=Change.SAME, one_sided=True)) == "surely no lower"
    )
    some = [0.1, -0.2, 0.1, 0.05, -0.1, 0.1, 0.0, 0.05] * 4
    assert describe_sureness(contrast(*some, shown=Change.SAME, one_sided=True)).startswith(
        "surely at most "
    )


def test_a_share_is_rounded_as_tables_round_it() -> None:
    for share in (0.925, 0.625, 0.675):
        own = replace(contrast(0.0, shown=Change.UNCLEAR).pairs, arm_values={"t0": share})
        line = describe_sides(contrast(shown=Change.UNCLEAR, pairs=own), "bm25")
        table = format_figure(Value(scale=Style.FRACTION, value=share))
        assert f"{float(table) * 100:.0f} %" in line


def test_equal_differences_have_no_range() -> None:
    equal = contrast(*[0.3] * 12, shown=Change.HIGHER)
    assert describe_sureness(equal) == "30 points higher in every task, beyond chance"
    assert "in every task" in describe_decision(equal)
    assert "to" not in describe_sureness(equal).split()


def test_where_interval_and_test_disagree_both_are_told(golden: Sentences) -> None:
    differences = [-0.2, 0.3, 0.0, 0.3, 0.3, 0.2, 0.1, 0.2]
    unclear = contrast(*differences, shown=Change.UNCLEAR)
    assert classify_score(unclear.effect, 0.1) is Change.UNCLEAR
    assert unclear.bounds is not None
    assert unclear.bounds[0] > 0
    assert unclear.effect.sign_flip_p > ALPHA
    assert "chance" not in describe_sureness(unclear)
    golden(describe_sureness(unclear), describe_decision(unclear))


def test_what_is_shown_at_every_look_is_not_called_too_little() -> None:
    cases = [f"t{n}" for n in range(20)]
    pairs = Pairs(
        relative=False,
        arm_values=dict(zip(cases, [1.0] * 10 + [0.6] * 10, strict=True)),
        reference_values=dict.fromkeys(cases, 0.4),
        unpaired=(),
        zeros=(),
        planned=Cases(ids=cases, at_every_look=True),
    )
    assert classify_quality(pairs.effect, 0.1) is Quality.BETTER
    better = contrast(shown=Change.HIGHER, pairs=pairs, one_sided=True)
    assert "too few" not in describe_sureness(better)
    assert BEYOND_CHANCE in describe_sureness(better)
    assert "interval" in describe_decision(better)


def test_of_one_there_is_no_plural() -> None:
    for key, one in {"effective_tokens": "token", "tool_calls": "tool call"}.items():
        assert describe_figure(METRICS[key], 1.0) == f"used 1 {one} per case"
        assert describe_figure(METRICS[key], 11.0) == f"used 11 {one}s per case"
