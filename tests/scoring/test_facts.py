import time

import pytest

from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.core.session.tasks import AnswerKey
from swarm_bench.scoring import facts
from swarm_bench.scoring.facts import Facts


def share(text: str, *patterns: str) -> Score | Missing:
    context = ScoreContext(
        text=text, workspace="", files=frozenset(), key=AnswerKey(facts=patterns)
    )
    return dict(Facts().score(context))["fact_share"]


@pytest.mark.parametrize(
    ("text", "patterns", "expected"),
    [
        ("It retries THREE times.", (r"three times", r"\b3\b"), 0.5),
        ("It retries 3 times.", (r"\b3\b",), 1.0),
        ("Nothing of it.", (r"three",), 0.0),
        ("", (".*",), 0.0),
    ],
)
def test_the_share_of_the_facts(text: str, patterns: tuple[str, ...], expected: float) -> None:
    assert share(text, *patterns) == expected


def test_a_pattern_that_takes_for_ever_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "SECONDS", 0.3)
    begin = time.monotonic()
    result = share("a" * 5000 + "!", r"(a|aa)+$", "b")
    assert time.monotonic() - begin < 3
    assert isinstance(result, Missing)
    assert "took longer" in result.why


def test_without_facts_it_is_missing() -> None:
    assert share("It does.") == Missing("the key has no facts")
