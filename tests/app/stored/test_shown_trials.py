"""What a page shows of single trials."""

from collections.abc import Mapping
from typing import Any

import pytest

from swarm_bench.analysis.documents.matrix import list_missing_scores, list_remarks
from swarm_bench.app.stored.agent_trials import find_cited, mark_cited
from swarm_bench.app.stored.session import open_session
from swarm_bench.app.stored.transcripts import show_trial
from swarm_bench.core.report.exported import ExportedTrial
from swarm_bench.core.report.page import ShownTrial
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.treatment.conversation import Conversation
from tests.builders.golden import GOLDEN
from tests.builders.pages import make_calls
from tests.builders.pages import make_trial as make_shown
from tests.builders.sessions import make_trial


def read(name: str) -> dict[str, ShownTrial]:
    """The trials of the first case of a session."""
    session = open_session(GOLDEN / "sessions" / name)
    page = session.build_page(session.reanalyse({}).document)
    return {trial.name: trial for trial in next(iter(page.tasks)).trials}


def figures(trial: ShownTrial) -> Mapping[str, Any]:
    return dict(trial.figures)


def test_a_trial_of_a_model_has_what_its_tests_came_to() -> None:
    trials = read("apps")
    right, wrong = trials["reference, run 1"], trials["copy, run 1"]
    assert figures(right)["passed"] == "yes"
    assert figures(right)["end"] == "passed"
    assert figures(wrong)["passed"] == "no"
    assert set(figures(wrong)["tests"].split(", ")) <= {"0", "-1", "-2"}
    # An estimate from several answers says nothing of one, and a check that fails is not news.
    assert not {"pass@1", "pass@10", "pass@100", "Passed", "Timed out"} & {*figures(right)}
    assert (wrong.arm, wrong.run) == ("copy", 1)


def test_a_trial_of_a_search_has_the_rank_of_the_first_right_file() -> None:
    trials = read("retrieve")
    assert {figures(trial)["rank of the first right file"] for trial in trials.values()} == {"1"}
    assert all(trial.answer for trial in trials.values())


def test_what_a_scorer_did_not_say_is_said() -> None:
    lines = (GOLDEN / "sessions" / "toy" / "metrics.jsonl").read_text().splitlines()
    records = [CaseRecord.from_json(line) for line in lines]
    failed = next(record for record in records if record.score_failures)
    (remark,) = list_remarks(failed)
    assert remark == f"The scorer sulking failed: RuntimeError: not today, {failed.case}."
    reasons = {"a": "no key", "b": "no key", "c": "too late"}
    missing = failed.model_copy(update={"missing_scores": reasons})
    assert [*list_missing_scores(missing)] == [
        "Without a score (a, b): no key.",
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


@pytest.mark.parametrize(
    ("answer", "texts", "last"),
    [
        (None, {1: "first", 3: "I give up.", 4: "Truly."}, "I give up.\n\nTruly."),
        (None, {1: "first", 2: "with the last call"}, None),
        ("an answer", {3: "Done."}, None),
    ],
)
def test_what_was_said_after_the_last_call_is_shown_without_an_answer(
    answer: str | None, texts: dict[int, str], last: str | None
) -> None:
    conversation = Conversation(calls=make_calls("one", "two"), texts=texts)
    trial = ExportedTrial(row={}, answer=answer, conversation=conversation)
    assert show_trial(trial, make_shown("baseline, run 1", ())).last == last
