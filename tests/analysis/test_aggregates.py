"""Figures of many records, of groups and of one part: what they come to, and how sure they are."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.analysis.cases.losses import count_missing
from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.analysis.cases.results import compute_results, make_result_section
from swarm_bench.analysis.cases.summary import list_case_warnings
from swarm_bench.analysis.cases.verdicts import answer_cases
from swarm_bench.analysis.diff.cases import make_case_diff
from swarm_bench.analysis.export_table import make_case_table
from swarm_bench.analysis.gate.limits import make_case_gate
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.core.metric import Better, Metric, Metrics, Style, fault
from swarm_bench.core.report.document import Grid
from swarm_bench.core.report.gate import Bound, Kind, Limit, State
from swarm_bench.core.session.cases import Case
from swarm_bench.core.session.experiment import Program
from swarm_bench.core.session.models import Arm, Data, ModelExperiment, ModelRecord
from swarm_bench.core.status import Cause, Status
from swarm_bench.reports.markdown import render
from swarm_bench.scoring.texts.bleu import corpus_bleu
from tests.builders.answers import text_of

SHARE = Metric(
    key="f1", title="F1", unit="0 to 1", style=Style.FRACTION, definition="Of all answers.",
    better=Better.HIGHER, relative=False, compared=True,
    counts=lambda record: record.scores["counts"] if record.scores else None,
    of_counts=lambda sums: 2 * sums[0] / (sums[1] + sums[2]) if sums[1] + sums[2] else None,
)  # fmt: skip
MEAN = Metric(
    key="right", title="Right", unit="0 to 1", style=Style.FRACTION, definition="Of groups.",
    better=Better.HIGHER, relative=False, of_groups="mean", compared=True,
    read=lambda record: record.scores["right"] if record.scores else None,
)  # fmt: skip
SUM = replace(MEAN, key="sum", title="Sum", unit="groups", of_groups="sum", compared=False)
WHOLE = [[1, 1, 1]] * 20
HALF = [[1, 1, 1], [0, 1, 1], [0, 0, 0], [0, 1, 0]] * 5


def session(
    arms: Mapping[str, Sequence[Any]],
    metrics: Sequence[Metric] = (SHARE,),
    *,
    name: str = "s",
    key: str = "counts",
    **shape: Any,
) -> ComparedModels:
    """Make one by the scores of each arm, first those of its first run; `None` for a lost trial.
    `shape`: `runs`, and by case its `groups` and `parts`, and by arm what it is held `against`."""
    runs, groups, parts = (shape.get(it) for it in ("runs", "groups", "parts"))
    runs, against = runs or 1, shape.get("against", {})
    number = len(next(iter(arms.values()))) // runs
    cases = tuple(
        Case(
            id=f"c{at}",
            title="c",
            group=groups[at] if groups else None,
            part=parts[at] if parts else None,
        )
        for at in range(number)
    )
    experiment = ModelExperiment(
        concurrency=1, session=name, created_at=datetime.now(UTC), benchmark="toy", seed=0,
        runs=runs, arms=tuple(arms), cases=cases, order=(tuple(arms),) * runs,
        primary=metrics[0].key, request_timeout=1, data=Data(name="d", sha256="0", rows=number),
        models=tuple(Arm(name=arm, model=arm, against=against.get(arm)) for arm in arms),
    )  # fmt: skip
    experiment.check()
    records = [
        ModelRecord(
            arm=arm, case=f"c{at % number}", number=at % number + 1, run=at // number + 1,
            session=name, attempt=1, trial=f"{arm}-{at}", part=cases[at % number].part,
            status=Status.HARNESS_FAILED if score is None else Status.COMPLETED,
            cause=Cause.PROVIDER_FAILED if score is None else Cause.FINISHED,
            scores=None if score is None else {key: score},
            finish=None if score is None else "stop",
        )
        for arm, scores in arms.items()
        for at, score in enumerate(scores)
    ]  # fmt: skip
    return ComparedModels(experiment=experiment, records=records, metrics=Metrics(tuple(metrics)))


def figure(
    own: ComparedModels, at: int = 0
) -> tuple[float | None, tuple[float, float] | None, int]:
    first = next(iter(compute_results(own)))
    return first.figures[at].value, first.figures[at].interval, first.figures[at].cases


def verdicts(own: ComparedModels) -> list[str]:
    return [f"{it.subject} {text_of(it)}" for it in answer_cases(own)]


def test_the_figure_is_that_of_the_sums_and_no_mean_of_figures() -> None:
    value, interval, cases = figure(session({"a": HALF}))
    assert value == pytest.approx(2 * 5 / (15 + 10), abs=1e-12)
    assert cases == 20
    assert interval
    assert 0 < interval[0] < 0.4 < interval[1] < 1


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_of_a_mean_the_interval_is_the_known_one(values: list[float]) -> None:
    mean = replace(SHARE, of_counts=lambda sums: sums[0] / sums[1])
    own = session({"a": [[1, 1]] * len(values)}, [mean])
    own = replace(
        own,
        metrics=Metrics((
            replace(mean, counts=lambda record: (values[record.number - 1], 1)),
        )),
    )  # fmt: skip
    value, interval, _ = figure(own)
    known = Effect(differences=tuple(values))
    assert value == pytest.approx(known.estimate, abs=1e-9)
    bounds = known.interval()
    assert bounds
    shown = interval or (value, value)  # none where all are equal
    assert shown == pytest.approx((max(bounds[0], 0), min(bounds[1], 1)), abs=1e-6)


def test_of_several_runs_it_is_the_mean_of_their_figures_also_where_one_lost_cases() -> None:
    first, second = HALF, [*WHOLE[:10], *HALF[:5], *[None] * 5]
    whole, lossy = ([it for it in run if it] for run in (first, second))
    of_runs = [
        2 * sum(it[0] for it in run) / sum(it[1] + it[2] for it in run) for run in (whole, lossy)
    ]
    value, interval, cases = figure(session({"a": [*first, *second]}, runs=2))
    assert value == pytest.approx(fmean(of_runs), abs=1e-12)
    assert cases == 20
    assert interval


def test_sums_without_a_figure_are_missing_and_not_nothing() -> None:
    assert figure(session({"a": [[0, 0, 0]] * 5})) == (None, None, 0)
    # The single case with a positive decides whether there is a figure: anything may be true.
    value, interval, _ = figure(session({"a": [[1, 1, 1], *[[0, 0, 0]] * 9]}))
    assert value == pytest.approx(1.0)
    assert interval == (0.0, 1.0)
    assert figure(session({"a": [[1, 1, 1]]}))[:2] == (1.0, None)


def test_a_figure_of_nothing_has_no_sign() -> None:
    """Nine answers that count nothing, and one that is wrong: the mean of what each case adds is
    nothing but for rounding."""
    precision = replace(SHARE, of_counts=lambda sums: sums[0] / sums[1] if sums[1] else None)
    value, interval, _ = figure(session({"a": [[0, 0, 0]] * 9 + [[0, 1, 0]]}, (precision,)))
    assert (str(value), interval) == ("0.0", (0.0, 1.0))


def test_the_interval_is_over_groups_where_there_are_groups() -> None:
    alone, grouped = (
        figure(session({"a": HALF}, groups=groups))
        for groups in ([None] * 20, [f"g{at // 4}" for at in range(20)])
    )
    assert grouped[0] == alone[0]
    assert grouped[1] != alone[1]
    titles = [
        make_result_section(session({"a": HALF}, groups=groups)).title
        for groups in ([None] * 20, [*["g"] * 4, *[None] * 16])
    ]
    assert titles == [
        "Results (95 % interval over cases)",
        "Results (95 % interval over groups of cases)",
    ]


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        ([1, 1], "it has 2 numbers, and most have 3"),
        ([1, 1, math.nan], "it counts nan, which is no figure"),
        (["x", 1, 1], "ValueError"),
    ],
)
def test_a_trial_with_other_counts_is_missing_and_named(broken: list[Any], clause: str) -> None:
    own = session({"a": WHOLE, "b": HALF})
    metric = replace(
        SHARE,
        counts=lambda record: (
            broken if (record.arm, record.case) == ("b", "c3") else record.scores["counts"]
        ),
    )
    own = replace(own, metrics=Metrics((metric,)))
    of_b = list(compute_results(own))[1].figures[0]
    kept = [counts for at, counts in enumerate(HALF) if at != 3]
    expected = 2 * sum(it[0] for it in kept) / sum(it[1] + it[2] for it in kept)
    assert of_b.value == pytest.approx(expected)
    assert of_b.cases == 19
    assert count_missing(own, "b", metric) == (1, 20)
    assert count_missing(own, "a", metric) == (0, 20)
    (warning,) = list_case_warnings(own)
    assert "f1 failed on 1 of 40 trials" in warning
    assert "c3 of b" in warning
    assert clause in warning


def test_a_figure_whose_author_fails_is_missing_and_named() -> None:
    broken = replace(SHARE, of_counts=lambda sums: 1 / 0)
    own = session({"a": WHOLE, "b": HALF}, [broken])
    assert figure(own) == (None, None, 0)
    assert [
        it for it in list_case_warnings(own) if "failed on b" in it and "ZeroDivisionError" in it
    ]


def test_verdict_gate_and_diff_take_it_as_any_other() -> None:
    own = session({"a": HALF, "b": WHOLE})
    (verdict,) = verdicts(own)
    assert "b is better: It had F1 of 100 %, a 40 % (" in verdict
    for arm, state in (("a", State.VIOLATED), ("b", State.HOLDS)):
        limit = Limit(kind=Kind.MIN, metric="f1", value=0.9, mode=arm)
        assert make_case_gate(own, [limit], Bound.ESTIMATE).state is state
    other = session({"a": WHOLE}, name="t")
    (mode,) = make_case_diff(session({"a": HALF}), other, (__file__, __file__)).modes  # type: ignore[arg-type]
    (row,) = mode.rows
    assert row.before == pytest.approx(0.4)
    assert row.after == pytest.approx(1.0)
    assert "F1" in render(own.document)


def test_what_it_is_made_of_is_exported() -> None:
    table = make_case_table(session({"a": HALF, "b": [None, *WHOLE[1:]]}))
    columns = [column.name for column in table.columns]
    rows = [dict(zip(columns, row, strict=True)) for row in table.rows]
    first, lost = rows[0], rows[20]
    assert [first[f"f1_{at}"] for at in (1, 2, 3)] == [1, 1, 1]
    assert [lost[f"f1_{at}"] for at in (1, 2, 3)] == [None] * 3
    assert "f1_4" not in columns


def test_two_arms_are_compared_by_the_cases_that_both_have() -> None:
    some = [*WHOLE[:8], *[None] * 2, *WHOLE[10:]]
    pairs = session({"a": HALF, "b": some}).pair_arms("b", "a", SHARE)
    common = [counts for at, counts in enumerate(HALF) if at not in (8, 9)]
    expected = 2 * sum(it[0] for it in common) / sum(it[1] + it[2] for it in common)
    assert pairs.reference_mean == pytest.approx(expected, abs=1e-12)
    assert pairs.arm_mean == pytest.approx(1)
    assert len(pairs.unpaired) == 2


GROUPS = ["f"] * 6 + ["g"] * 2 + [None] * 2
RIGHT = [1.0, 0.5, 0.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.0, 0.25]
OF_GROUPS = (0.5, 1.0, 0.0, 0.25)


def test_groups_have_the_same_weight_whatever_their_size() -> None:
    own = session({"a": RIGHT}, [MEAN, SUM], groups=GROUPS, key="right")
    known = Effect(differences=OF_GROUPS).interval()
    assert known
    value, interval, cases = figure(own)
    assert value == pytest.approx(fmean(OF_GROUPS), abs=1e-12)
    assert interval == pytest.approx((max(known[0], 0), min(known[1], 1)), abs=1e-9)
    total, wide, _ = figure(own, 1)
    assert total == pytest.approx(sum(OF_GROUPS), abs=1e-12)
    assert wide == pytest.approx((4 * known[0], 4 * known[1]), abs=1e-9)
    assert cases == 10


def test_a_lost_case_takes_no_weight_from_its_group() -> None:
    own = session({"a": [None, *RIGHT[1:]]}, [MEAN], groups=GROUPS, key="right")
    assert figure(own)[0] == pytest.approx(fmean([0.4, 1.0, 0.0, 0.25]), abs=1e-12)


def test_a_sum_over_several_parts_is_not_made() -> None:
    parts = ["x"] * 8 + ["y"] * 2
    own = session({"a": RIGHT}, [MEAN, SUM], groups=GROUPS, parts=parts, key="right")
    sums = {it.part: it.figures[1].value for it in compute_results(own)}
    assert sums == {None: None, "x": pytest.approx(1.5), "y": pytest.approx(0.25)}
    assert {it.part: it.figures[0].value for it in compute_results(own)}[None] == pytest.approx(
        0.4375
    )


def test_a_metric_of_one_part_is_of_that_part_alone() -> None:
    metric, parts = replace(SHARE, part="held-out"), ["held-out"] * 5 + ["training"] * 15
    lossy = [None, *WHOLE[1:5], *[None] * 15]
    alone = session({"a": HALF, "b": lossy}, [metric], parts=parts)
    assert [(it.arm, it.part) for it in compute_results(alone)] == [("a", None), ("b", None)]
    own = session({"a": HALF, "b": lossy}, [metric, replace(SHARE, key="all")], parts=parts)
    values = {(it.arm, it.part): it.figures[0] for it in compute_results(own)}
    assert values["b", None].value == values["b", "held-out"].value == 1.0
    assert (values["b", "training"].value, values["b", "training"].expected_cases) == (None, 0)
    assert (values["b", None].cases, values["b", None].expected_cases) == (4, 5)
    rows = [line.split("|")[1:] for line in render(own.document).splitlines()]
    cells = {tuple(map(str.strip, it[:2])): it[3].strip() for it in rows if len(it) == 6}
    assert cells["b", "all"] == "1.00 (4 of 5 cases)"
    assert cells["b", "training"] == "-"
    pairs = own.pair_arms("b", "a", metric)
    assert (pairs.total_cases, len(pairs.cases)) == (5, 4)
    assert count_missing(own, "b", metric) == (1, 5)
    assert count_missing(own, "a", metric) == (0, 5)


def test_the_parts_of_older_sessions_are_those_of_their_records() -> None:
    metric, parts = replace(SHARE, part="x"), ["x"] * 5 + ["y"] * 15
    own = session({"a": HALF}, [metric], parts=parts)
    cases = tuple(Case(id=case.id, title=case.title) for case in own.experiment.cases)
    older = replace(own, experiment=own.experiment.model_copy(update={"cases": cases}))
    assert older.select_cases(metric) == own.select_cases(metric)


def test_an_arm_is_held_against_the_arm_that_it_names() -> None:
    arms = {"p none": HALF, "p all": WHOLE, "q none": WHOLE, "q all": WHOLE}
    own = session(arms, against={"q none": "q none", "q all": "q none"})
    assert own.references == {"p all": "p none", "q all": "q none"}
    first, second = verdicts(own)
    assert first.startswith("p all against p none is better: It had F1 of 100 %, p none 40 %")
    assert second.startswith(
        "q all against q none cannot tell yet: It had F1 of 100 %, q none 100 %"
    )
    page = render(own.document)
    assert "q all against q none" in page
    assert "Each arm against its reference" in page


def test_the_summary_has_what_must_be_known_of_who_answered() -> None:
    own = session({"a": HALF, "b": WHOLE})
    programs = {"a": Program(name="a"), "b": Program(name="b", note="learned from a half")}
    experiment = own.experiment.model_copy(update={"programs": programs})
    page = render(replace(own, experiment=experiment).document)
    assert page.count("b learned from a half.") == 1


def test_an_arm_that_names_none_of_the_session_is_refused() -> None:
    with pytest.raises(ValueError, match="no arm x, which others are held against"):
        session({"a": HALF, "b": HALF}, against={"b": "x"})


@pytest.mark.parametrize(
    ("changes", "clause"),
    [
        ({"of_counts": None}, "has one of counts and of_counts, and needs both"),
        ({"of_groups": "mean"}, "has counts and of_groups, of which one makes the figure"),
        ({"of_case": max}, "has counts and of_case, of which one makes the figure"),
        ({"relative": True}, "has counts, and is relative; only differences of such figures are"),
        ({"counts": None, "of_counts": None}, "is compared, and reads no trial"),
    ],
)
def test_what_makes_no_figure_is_refused(changes: dict[str, Any], clause: str) -> None:
    assert fault(SHARE) is None
    assert clause in (fault(replace(SHARE, **changes)) or "")
    assert "is compared, and a sum" in (fault(replace(SUM, compared=True)) or "")


def test_the_answers_of_conala_have_the_bleu_that_is_known() -> None:
    """Of 22 snippets only the first line is read, so that each n-gram of it matches."""
    known = json.loads((Path(__file__).parent / "conala_reference.json").read_text("utf-8"))
    counts, groups = [], []
    for question, read, whole in known["rows"]:
        ngrams = [max(0, read - order) for order in range(4)]
        counts.append([*ngrams, *ngrams, read, whole])
        groups.append(f"q{question}")
    bleu = replace(SHARE, key="bleu", title="BLEU", of_counts=corpus_bleu)
    value, interval, cases = figure(session({"a": counts}, [bleu], groups=groups))
    assert (cases, len(set(groups))) == (500, 364)
    assert value == pytest.approx(known["figure"], abs=1e-9)
    assert interval == pytest.approx(known["interval"], abs=1e-4)


def test_a_sum_of_shares_lies_between_nothing_and_the_number_of_groups() -> None:
    sums = replace(SUM, unit="shares")
    own = session(
        {"a": [1, 1, 0, 0.1]},
        [MEAN, sums],
        key="right",
        groups=["g", "g", "h", "h"],
        parts=["p"] * 4,
    )
    value, interval, _ = figure(own, 1)
    assert value == pytest.approx(1.05)
    assert interval == (0.0, 2.0)


def test_a_sum_of_several_parts_has_its_reason_in_the_gate_and_in_the_table() -> None:
    parts = ["p", "p", "q", "q"]
    own = session({"a": [1, 0, 1, 1]}, [MEAN, SUM], key="right", parts=parts)
    limit = Limit(kind=Kind.MIN, metric="sum", value=1)
    (verdict,) = make_case_gate(own, [limit], Bound.ESTIMATE).verdicts
    assert verdict.state is State.MISSING
    assert verdict.why == (
        "A sum is given by part (results.json has it), and a limit can be on the mean."
    )
    grid, *_ = make_result_section(own).blocks
    assert isinstance(grid, Grid)
    assert [row[-1] == "by part" for row in grid.rows] == [True, False, False]


def test_the_summary_says_what_its_figures_are() -> None:
    text = render(session({"a": HALF}).document)
    assert f"**F1**, 0 to 1: {SHARE.definition}" in text
