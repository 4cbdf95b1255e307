from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.scoring.texts.bleu import (
    bleu_counts,
    corpus_bleu,
    docstring_bleu,
    nist_tokens,
    sentence_bleu,
)
from tests.scoring.texts.golden_values import TOLERANCE, golden_values

CORPORA = golden_values("corpus_bleu")
PAIRS = golden_values("fim_scores")
DOCSTRINGS = golden_values("docstring_bleu")
EVEN = (0.25, 0.25, 0.25, 0.25)
WEIGHTS = {0: (1.0,), 1: (1.0,), 2: (0.5, 0.5), 3: (0.33, 0.33, 0.33, 0.0)}
"""By the lines of the reference, as CompChomper has them; `EVEN` for more."""
TEXTS = st.text(max_size=60) | st.text(alphabet="ab.,- 1\n_&;", max_size=60)


def sums(pairs: list[tuple[str, str]]) -> list[int]:
    return [sum(column) for column in zip(*(bleu_counts(*pair) for pair in pairs), strict=True)]


@pytest.mark.parametrize("corpus", CORPORA)
def test_tokens_and_bleu_of_a_corpus(corpus: dict[str, Any]) -> None:
    assert [nist_tokens(text) for text in corpus["predictions"]] == corpus["tokens"]
    counts = sums(list(zip(corpus["predictions"], corpus["references"], strict=True)))
    assert counts[8:] == [
        corpus["smooth"]["translation_length"],
        corpus["smooth"]["reference_length"],
    ]
    assert corpus_bleu(counts) == pytest.approx(corpus["smooth"]["bleu"], abs=TOLERANCE)


def test_all_golden_values_are_here() -> None:
    assert (len(CORPORA), len(PAIRS), len(DOCSTRINGS["items"])) == (7, 57, 6)


@pytest.mark.parametrize("pair", PAIRS)
def test_bleu_of_a_hole(pair: dict[str, Any]) -> None:
    truth, guess = pair["scored_middle"], pair["scored_guess"]
    weights = WEIGHTS.get(len(truth.splitlines()), EVEN)
    bleu = sentence_bleu(guess.split(), truth.split(), weights)
    assert bleu == pytest.approx(pair["bleu"], abs=TOLERANCE)


def test_bleu_of_documentation() -> None:
    scores = [docstring_bleu(row["prediction"], row["reference"]) for row in DOCSTRINGS["items"]]
    for score, row in zip(scores, DOCSTRINGS["items"], strict=True):
        assert score == pytest.approx(row["score"] / 100, abs=TOLERANCE)
    assert sum(scores) / len(scores) == pytest.approx(DOCSTRINGS["corpus"] / 100, abs=TOLERANCE)


def test_documentation_ends_at_a_tab() -> None:
    assert docstring_bleu("Open a file.\tNever", " open A file. ") == 1.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a-\nb<skipped>c", ["abc"]),
        ("don't x_y", ["don't", "x", "_", "y"]),
        ("1.5, 2,5. 10-20 a-b .5", ["1.5", ",", "2,5", ".", "10", "-", "20", "a-b", ".", "5"]),
        ("&quot;&lt;&amp;gt;", ['"', "<", ">"]),
    ],
)
def test_tokens_as_nist_has_them(text: str, tokens: list[str]) -> None:
    assert nist_tokens(text) == tokens


def test_answers_without_a_token_have_no_bleu_and_no_reference_gives_none() -> None:
    assert corpus_bleu(bleu_counts("", "a b")) == 0.0
    assert corpus_bleu(bleu_counts("a b", " ")) is None
    assert sentence_bleu([], [], (1.0,)) == 0.0


@given(guess=TEXTS, truth=TEXTS)
def test_scores_are_shares_whatever_the_texts_are(guess: str, truth: str) -> None:
    counts = bleu_counts(guess, truth)
    assert len(counts) == 10
    bleu = corpus_bleu(counts)
    assert 0 <= docstring_bleu(guess, truth) <= 1
    assert 0 <= sentence_bleu(guess.split(), truth.split(), EVEN) <= 1
    assert (bleu is None) == (not nist_tokens(truth))
    assert bleu is None or 0 <= bleu <= 1


@given(text=TEXTS)
def test_a_text_is_equal_to_itself(text: str) -> None:
    assert docstring_bleu(text, text) == 1.0
    assert corpus_bleu(bleu_counts(text, text)) in (1.0, None)
    assert sentence_bleu(text.split(), text.split(), (1.0,)) == float(bool(text.split()))
