"""A scorer that fails is a value on the record; the others go on."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from swarm_bench.core.ports import Score, ScoreContext, Scorer
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.engine.caps import OTHER_NAMES
from swarm_bench.engine.scoring import LONGEST_FAILURE, MOST_FAILURES, ScoringResult, score
from swarm_bench.scoring.form import Length
from swarm_bench.scoring.references import References
from swarm_bench.testing.contracts import check_scorer
from tests.builders.golden import Sentences

CONTEXT = ScoreContext(text="See a/b.py.\nAnd Makefile.", workspace="/w", files=frozenset())
KEY = "sk-a-secret-0123456789"


@dataclass(kw_only=True)
class Canned:
    """Gives what it is told to."""

    give: Callable[[], Any]
    name: str = "canned"
    keys: Any = ("tone",)
    version: int = 1

    def score(self, context: ScoreContext) -> Mapping[str, Score]:
        scores: Mapping[str, Score] = self.give()
        return scores


def raising(error: BaseException) -> Callable[[], Any]:
    def give() -> Any:
        raise error

    return give


FAILING: dict[str, tuple[Canned, str]] = {
    "raises": (Canned(give=raising(KeyError("a"))), "KeyError: 'a'"),
    "exits": (Canned(give=raising(SystemExit(3))), "SystemExit: 3"),
    "no mapping": (Canned(give=lambda: 5), "it gave no mapping: int"),
    "not stated": (Canned(give=lambda: {"tune": 1}), "it gave 'tune', which it does not state"),
    "nan": (Canned(give=lambda: {"tone": math.nan}), "tone is not finite"),
    "infinite": (Canned(give=lambda: {"tone": -math.inf}), "tone is not finite"),
    "a list": (Canned(give=lambda: {"tone": [1]}), "tone is a list, which is no number"),
    "large": (Canned(give=lambda: {"tone": 10**5000}), "tone is a whole number of more than"),
    "long": (Canned(give=lambda: {"tone": "x" * 201}), "tone is a text of more than 200"),
}
REFUSED: dict[str, tuple[Canned, str]] = {
    "another figure": (
        Canned(give=dict, keys=("cost",)),
        "its key 'cost' is that of another figure of the record",
    ),
    "ours to give": (Canned(give=dict, keys=("unscored_characters",)), "another figure"),
    "the place of others": (Canned(give=dict, keys=("scores",)), "another figure"),
    "another scorer's": (
        Canned(give=lambda: {"references": 7}, keys=("references",)),
        "its key 'references' is that of another scorer",
    ),
    "none": (Canned(give=dict, keys=()), "it states 0 keys"),
    "too many": (Canned(give=dict, keys=tuple(map(str, range(101)))), "it states 101 keys"),
    "no tuple": (Canned(give=dict, keys="tone"), "its keys are not a tuple of names"),
    "no names": (Canned(give=dict, keys=(1,)), "its keys are not a tuple of names"),
    "a long one": (Canned(give=dict, keys=("k" * 201,)), "it states a key of 201 characters"),
    "no keys at all": (Canned(give=dict, keys=None), "TypeError: "),
}


def scored(*scorers: Scorer) -> ScoringResult:
    return score((References(), *scorers, Length()), CONTEXT, secrets=(KEY,), record=TrialRecord)


def test_scores_without_a_key_in_the_record_have_a_place_of_their_own() -> None:
    scores = {"tone": 0.5, "polite": True, "label": "warm", "words": 3, "missing": None}
    result = scored(Canned(give=lambda: scores, keys=(*scores, "absent")))
    assert result.scores == {**scores, "absent": None}
    assert vars(result.own_scores).items() >= {"references": 1, "result_lines": 2}.items()
    assert result.failures is None


@pytest.mark.parametrize("case", FAILING)
def test_what_a_scorer_that_failed_states_is_missing_and_the_others_go_on(
    case: str, golden: Sentences
) -> None:
    scorer, why = FAILING[case]
    result = scored(scorer)
    assert result.scores == {"tone": None}
    assert result.failures is not None
    assert why in result.failures["canned"]
    assert vars(result.own_scores).items() >= {"references": 1, "result_lines": 2}.items()
    golden(*result.troubles)


@pytest.mark.parametrize("case", REFUSED)
def test_a_statement_that_cannot_be_is_a_failure_and_has_no_place(case: str) -> None:
    scorer, why = REFUSED[case]
    result = scored(scorer)
    assert result.scores is None
    assert result.failures is not None
    assert why in result.failures["canned"]
    assert vars(result.own_scores).items() >= {"references": 1, "result_lines": 2}.items()


@pytest.mark.parametrize("value", ["many", True, 1.5, "3"])
def test_a_key_of_the_record_keeps_its_type(value: Score, golden: Sentences) -> None:
    result = scored(Canned(give=lambda: {"headings": value}, keys=("headings", "bullets")))
    assert result.failures is not None
    golden(result.failures["canned"])
    assert vars(result.own_scores).items() >= {"headings": None, "bullets": None}.items()
    assert result.scores is None


def test_a_failure_is_short_and_has_no_secret_in_it_nor_half_of_one() -> None:
    words = "x" * (LONGEST_FAILURE - len("ValueError: ") - 10) + KEY + "\n" * 9 + "y" * 10**6
    result = scored(Canned(give=raising(ValueError(words))))
    assert result.failures is not None
    assert len(result.failures["canned"]) <= LONGEST_FAILURE
    assert "sk-a" not in result.failures["canned"]
    label = scored(Canned(give=lambda: {"tone": KEY}))
    assert label.scores == {"tone": "(not stored)"}


def test_so_many_failures_are_named_and_the_others_counted() -> None:
    many = [
        Canned(give=raising(ValueError()), name=f"s{number}", keys=(f"k{number}",))
        for number in range(MOST_FAILURES + 3)
    ]
    result = scored(*many)
    assert result.failures is not None
    assert len(result.failures) == MOST_FAILURES + 1
    assert result.failures[OTHER_NAMES] == "3 more scorers failed"


@pytest.mark.parametrize("case", sorted({*FAILING, *REFUSED} - {"another scorer's", "exits"}))
def test_the_contract_finds_it_while_the_scorer_is_written(case: str) -> None:
    scorer, _ = {**FAILING, **REFUSED}[case]
    with pytest.raises((AssertionError, KeyError, TypeError)):
        check_scorer(scorer)
