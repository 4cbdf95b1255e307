"""Answers that do not depend on the question."""

from collections.abc import Mapping
from typing import Any

import pytest

from swarm_bench.analysis.caveats.missing_figures import (
    find_same_names,
    find_same_text,
    find_single_lines,
)
from swarm_bench.analysis.caveats.no_verdict import find_caveats
from swarm_bench.analysis.selection import Selection
from swarm_bench.benchmarks.swarm.metrics.answers import is_right
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.ports import Missing
from swarm_bench.source.key_measures import compute_measures
from tests.builders.keyed import TASKS
from tests.builders.reports import summarise
from tests.builders.sessions import make_session, make_trial

FILES = [f"{number}.py" for number in range(30)]
Keys = Mapping[str, tuple[str, ...]]


def said(keys: Keys, answers: Mapping[str, list[str]]) -> bool:
    """Tell whether a mode is said to name the same files, with these keys and answers by task."""
    tasks = [
        {"id": id, "title": id, "prompt": id, "key": {"files": files}} for id, files in keys.items()
    ]
    trials = []
    for id, files in keys.items():
        measures = compute_measures("file", answers[id], files, others(keys, id))
        scores = {key: None if isinstance(it, Missing) else it for key, it in measures.items()}
        trials.append(make_trial(task_id=id, scores=scores))
    selection = Selection(make_session(*trials, tasks=tasks), METRICS)
    return any(caveat.is_void for caveat in find_caveats(selection, "baseline", find_same_names))


def others(keys: Keys, id: str) -> list[tuple[tuple[str, ...], float]]:
    return [(files, 1.0) for other, files in keys.items() if other != id]


THREE = {f"t{n}": (FILES[n % 3],) for n in range(30)}
EIGHT = {f"t{n}": (FILES[n],) for n in range(8)}
SHARED = {f"t{n}": ("0.py", FILES[n]) for n in range(1, 13)}
ONE = dict.fromkeys(EIGHT, ("0.py",))


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (THREE, lambda n: FILES[:3]),
        (THREE, lambda n: [FILES[20 + n % 7], *reversed(FILES[:3])]),
        (THREE, lambda n: [FILES[n // 3 % 3], FILES[(n // 3 + 1) % 3], f"{n}.md"]),
        (EIGHT, lambda n: FILES[:6]),
    ],
    ids=["the same", "one more, and in another order", "one left out", "six of eight"],
)
def test_a_list_that_hardly_depends_on_the_question(keys: Keys, names: Any) -> None:
    assert said(keys, {id: names(int(id[1:])) for id in keys})


@pytest.mark.parametrize("quality", ["file_recall", "file_f1", "right_answer"])
def test_it_is_said_whatever_quality_was_named(quality: str) -> None:
    alike = {"file_recall": 0.5, "file_recall_elsewhere": 0.5, "file_f1": 0.5}
    alike["files_all_found"] = False
    data = make_session(
        *(
            make_trial(mode, task_id=TASKS[0]["id"], scores=alike)
            for mode in ("baseline", "canopy")
        ),
        tasks=TASKS,
        settings={"quality": {"value": quality, "source": "command line"}},
    )
    assert find_caveats(Selection(data, METRICS), "canopy", find_same_names)


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (THREE, lambda n: [FILES[n % 3]]),
        (THREE, lambda n: ["README.md", FILES[n % 3], FILES[20 + n % 3]]),
        (EIGHT, lambda n: [*FILES[n:], *FILES[:n]][:6]),
        (SHARED, lambda n: ["0.py", FILES[n]]),
        (SHARED, lambda n: ["0.py"]),
        (ONE, lambda n: ["0.py"]),
        (EIGHT, lambda n: ["README.md"]),
    ],
    ids=[
        "one of three",
        "with others",
        "with five of the others",
        "keys share a file",
        "only what keys share",
        "keys are equal",
        "nothing",
    ],
)
def test_answers_to_their_questions(keys: Keys, names: Any) -> None:
    assert not said(keys, {id: names(int(id[1:])) for id in keys})


@pytest.mark.parametrize(
    ("scores", "right"),
    [
        ({"fact_share": 1.0}, True),
        ({"fact_share": 0.5}, False),
        ({"fact_share": 0.9, "fact_share_elsewhere": 0.1}, True),
        ({"fact_share": 0.8, "fact_share_elsewhere": 0.1}, False),
        ({"fact_share": 0.4, "fact_share_elsewhere": 0.6}, False),
        ({"fact_share": 0.0, "fact_share_elsewhere": 1.0}, False),
        ({"fact_share": 1.0, "fact_share_elsewhere": None}, True),
        ({"fact_share": None, "fact_share_elsewhere": None}, None),
    ],
)
def test_an_answer_that_says_everything_is_not_right(
    scores: dict[str, float | None], right: bool | None
) -> None:
    assert is_right(make_trial(scores=scores)) is right


def test_why_no_answer_has_a_share_of_facts_is_said() -> None:
    tasks = [task | {"key": {"facts": [task["id"]]}} for task in TASKS]
    why = "each fact of the key stands in the question"
    trial = make_trial(task_id="a", scores={"fact_share": None}, missing_scores={"fact_share": why})
    report = summarise(make_session(trial, tasks=tasks))
    assert why in report.headline.remark
    assert "rescore" not in report.headline.remark


@pytest.mark.parametrize(
    ("elsewhere", "is_said"), [({}, True), ({"fact_share_elsewhere": 0}, False)]
)
def test_facts_of_an_earlier_version_are_said_to_be_of_it(
    elsewhere: dict[str, float], is_said: bool
) -> None:
    tasks = [task | {"key": {"facts": [task["id"]]}} for task in TASKS]
    trial = make_trial(task_id="a", scores={"fact_share": 1.0, **elsewhere})
    remark = summarise(make_session(trial, tasks=tasks)).headline.remark
    assert ("by an earlier version" in remark) is is_said


def test_more_answers_of_a_single_line_are_said_of_the_mode_that_has_them() -> None:
    def said(baseline: int, canopy: int) -> list[bool]:
        lines = {"baseline": baseline, "canopy": canopy}
        records = [make_trial(mode, result_lines=number) for mode, number in lines.items()]
        selection = Selection(make_session(*records), METRICS)
        return [bool(find_caveats(selection, mode, find_single_lines)) for mode in lines]

    assert said(1, 20) == [True, False]
    assert said(20, 1) == [False, True]
    assert said(1, 1) == [False, False]


def test_that_every_answer_is_the_same_text_is_said_once() -> None:
    alike = {"file_recall": 0.5, "file_recall_elsewhere": 0.5}
    trials = [
        make_trial("canopy", agent=at, task_id=task["id"], scores=alike, answer_digest="d")
        for at, task in enumerate(TASKS, start=1)
    ]
    selection = Selection(make_session(make_trial(task_id="a"), *trials, tasks=TASKS), METRICS)
    assert find_caveats(selection, "canopy", find_same_text)
    assert not find_caveats(selection, "canopy", find_same_names)
