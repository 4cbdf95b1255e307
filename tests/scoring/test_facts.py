from collections.abc import Sequence

import pytest

from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.scoring.facts import LOOKED_AT, Facts
from swarm_bench.source import facts


def scores(
    text: str, *patterns: str, prompt: str = "", others: Sequence[tuple[str, ...]] = ()
) -> list[Score | Missing]:
    tasks = (Task(id="o", title="o", prompt="o", key=AnswerKey(facts=facts)) for facts in others)
    context = ScoreContext(
        text=text,
        workspace="",
        files=frozenset(),
        key=AnswerKey(facts=patterns),
        prompt=prompt,
        others=tuple(tasks),
    )
    return [*Facts().score(context).values()]


def share(text: str, *patterns: str) -> Score | Missing:
    return scores(text, *patterns)[0]


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


DUMP = "AuthManager BillingManager CacheManager"


@pytest.mark.parametrize(
    ("text", "expected", "elsewhere"),
    [("AuthManager", 1, 0), ("AuthManager, CacheManager", 0.5, 0.5), (DUMP, 0, 1), ("x", 0, 0)],
)
def test_whoever_says_everything_says_nothing(text: str, expected: float, elsewhere: float) -> None:
    others = [("BillingManager", "AuthManager"), ("CacheManager",)]
    assert scores(text, "AuthManager", others=others) == [expected, elsewhere]


def test_what_stands_in_the_question_is_no_answer() -> None:
    asked = "Which class has to do with the Cache?"
    known = Missing("each fact of the key stands in the question")
    assert scores(asked, "cache", prompt=asked) == [known, known]
    assert scores(asked, "cache", "CacheManager", prompt=asked)[0] == 0
    assert scores("CacheManager", "cache", "CacheManager", prompt=asked)[0] == 1
    assert scores("CacheManager", "CacheManager", prompt=asked, others=[("cache", "x")]) == [1, 0]


SLOW = r"(a|aa)+$"


def test_a_pattern_that_takes_for_ever_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "SECONDS", 0.3)
    result = share("a" * 5000 + "!", SLOW, "b")
    assert isinstance(result, Missing)
    assert "took longer" in result.why


def test_a_pattern_of_another_task_that_takes_for_ever_counts_as_matched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or whoever says everything, behind text that takes for ever, would be right."""
    monkeypatch.setattr(facts, "SECONDS", 0.3)
    text = "b" + "a" * 5000 + "!"
    assert scores(text, "b", others=[(SLOW,)]) == [0, 1]
    assert scores(text, "b", others=[(SLOW,), ("x",), ("y",), ("z",)]) == [0.75, 0.25]


def test_facts_are_looked_for_in_the_beginning_of_an_answer() -> None:
    behind = "x " * (LOOKED_AT // 2) + "AuthManager BillingManager"
    assert scores(behind, "AuthManager", others=[("BillingManager",)]) == [0, 0]
    filler = ("run " * 1000 + "\n") * 237 + DUMP.replace(" ", " runs ")
    others = [(f"runs? .*{name}Manager",) for name in ("Billing", "Cache")]
    assert scores(filler, "runs? .*AuthManager", others=others)[0] == 0


def test_an_answer_is_compared_with_a_part_of_very_many_tasks() -> None:
    others = [(f"fact{number}",) for number in range(1000)]
    third = " ".join(f"fact{number}," for number in range(333))
    _, elsewhere = scores(f"It retries. {third}", "retries", others=others)
    assert isinstance(elsewhere, float)
    assert elsewhere == round(elsewhere, 2) == pytest.approx(0.333, abs=0.01)


def test_without_facts_it_is_missing() -> None:
    assert share("It does.") == Missing("the key has no facts")
