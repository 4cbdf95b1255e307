from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.scoring.texts.code_bleu import GRAMMARS, code_bleu, language_of
from tests.scoring.texts.golden_values import TOLERANCE, golden_values

FUNCTION = (
    "function add(uint256 a, uint256 b) internal pure returns (uint256) {\n  return a + b;\n}"
)
CODE = st.text(alphabet="ab(){}[];=.,'\"/*` \n1+-<>$\ud800é", max_size=80)


@pytest.mark.parametrize("pair", golden_values("fim_scores"))
def test_code_bleu_with_javascripts_grammar(pair: dict[str, Any]) -> None:
    score = code_bleu(pair["scored_guess"], pair["scored_middle"], "javascript")
    assert score == pytest.approx(pair["codebleu"], abs=TOLERANCE)


def test_solidity_has_a_grammar_of_its_own() -> None:
    assert code_bleu(FUNCTION, FUNCTION, "solidity") == 1.0
    renamed = FUNCTION.replace("add", "sum").replace("a + b", "a - b")
    without_types = FUNCTION.replace("uint256 ", "")
    score, lower = (code_bleu(text, FUNCTION, "solidity") for text in (renamed, without_types))
    assert score is not None
    assert lower is not None
    assert 0.5 < lower < score < 1


def test_names_and_comments_have_no_shape() -> None:
    plain = "if (a) { b(); }"
    assert code_bleu(plain, "if (c) { d(); }", "javascript") > 0.5  # type: ignore[operator]
    assert code_bleu("a(b)", "c(d)", "javascript") == 0.5
    assert code_bleu("a(b) // why", "/* how */ c(d)", "javascript") == 0.5
    assert code_bleu("x", "f(x)", "javascript") == 0.0


def test_what_no_parser_repairs_in_time_has_no_shape() -> None:
    broken, code = "-," * 10_000, "a(b)"
    assert code_bleu(broken, code, "javascript") == 0.0
    assert code_bleu(code, broken, "javascript") is None


def test_a_language_without_a_grammar_has_no_figure() -> None:
    assert code_bleu("a", "a", "cobol") is None


def test_the_suffix_of_a_file_names_its_language() -> None:
    paths = ("a/Token.sol", "b.PY", "c.test.tsx", "d.mjs", "e.rs", "f.go", "g.ts", "Makefile", "")
    languages = [language_of(path) for path in paths]
    assert languages == [
        *("solidity", "python", "tsx", "javascript", "rust", "go", "typescript"),
        *(None, None),
    ]
    assert set(languages) == {*GRAMMARS, None}


@pytest.mark.parametrize("language", GRAMMARS)
@given(guess=CODE, truth=CODE)
def test_it_is_a_share_whatever_the_texts_are(language: str, guess: str, truth: str) -> None:
    score = code_bleu(guess, truth, language)
    assert score is not None
    assert 0 <= score <= 1


@pytest.mark.parametrize("language", GRAMMARS)
def test_trees_may_be_deeper_than_python_recurses(language: str) -> None:
    deep = "(" * 5000 + "a" + ")" * 5000
    assert code_bleu(deep, deep, language) is not None
