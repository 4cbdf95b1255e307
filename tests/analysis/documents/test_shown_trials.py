"""What is said of single trials, and of the files that their answers name."""

from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.analysis.documents.shown_trials import (
    find_cited,
    list_missing_scores,
    list_remarks,
    mark_cited,
)
from swarm_bench.benchmarks.cases.passing import COMMON_METRICS
from swarm_bench.core.metric import Metrics
from swarm_bench.core.session.cases import CaseRecord
from tests.builders.golden import GOLDEN
from tests.builders.pages import make_trial as make_shown
from tests.builders.sessions import make_trial


def test_what_a_scorer_did_not_say_is_said() -> None:
    lines = (GOLDEN / "sessions" / "toy" / "metrics.jsonl").read_text().splitlines()
    records = [CaseRecord.from_json(line) for line in lines]
    failed = next(record for record in records if record.score_failures)
    (remark,) = list_remarks(failed)
    assert remark == f"The scorer sulking failed: RuntimeError: not today, {failed.case}."
    reasons = {"a": "no key", "b": "no key", "c": "too late"}
    missing = failed.model_copy(update={"missing_scores": reasons})
    named = replace(COMMON_METRICS[0], key="a", title="Alpha")
    assert [*list_missing_scores(missing, Metrics((named,)))] == [
        "Without a score (Alpha, b): no key.",
        "Without a score (c): too late.",
    ]


def cite(answer: str, citations: int, invented: int) -> Any:
    scores = {"citations": citations, "citations_invented": invented}
    record = make_trial(scores=scores)
    return make_shown("baseline, run 1", ()), find_cited(record, answer)


def marks(*trials: Any) -> list[tuple[tuple[str, bool | None], ...]]:
    return [trial.cited for trial in mark_cited(trials)]


def test_files_of_an_answer_that_invents_none_exist() -> None:
    answer = "See `src/app.py:3`, `src/app.py:9` and src/other.py."
    assert marks(cite(answer, 3, 0)) == [(("src/app.py", True), ("src/other.py", True))]


def test_all_others_are_invented_where_the_counts_agree() -> None:
    known = cite("`src/app.py`", 1, 0)
    mixed = cite("`src/app.py` and `src/ghost.py:4`", 2, 1)
    assert marks(known, mixed)[1] == (("src/app.py", True), ("src/ghost.py", False))
    assert marks(cite("`a/b.py`, `c/d.py`", 2, 2)) == [(("a/b.py", False), ("c/d.py", False))]


def test_what_cannot_be_known_has_no_mark() -> None:
    assert marks(cite("`src/app.py` and `src/ghost.py`", 2, 1)) == [
        (("src/app.py", None), ("src/ghost.py", None))
    ]
    # The scorer, which knew the files of the repository, read the answer otherwise.
    assert marks(cite("`src/app.py`", 2, 0)) == [()]


@pytest.mark.parametrize("scores", [None, {}, {"citations": None}, {"citations": 0}])
def test_without_counts_nothing_is_shown(scores: Any) -> None:
    assert find_cited(make_trial(scores=scores), "`src/app.py`") is None
