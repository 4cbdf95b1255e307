from collections.abc import Sequence
from dataclasses import replace

import pytest

from swarm_bench.agents.reading.tool_calls import mentions_in
from swarm_bench.core.outcome import Retrieved
from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.scoring.key_coverage import LOOKED_AT, Facts, SeenFiles
from swarm_bench.source import facts
from tests.builders.golden import Sentences
from tests.scoring.trees import context


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


KEY = ("shop/cart.py", "shop/basket.py")


def call(number: int, *mentions: str, known: bool = True) -> Retrieved:
    return Retrieved(
        tool="Grep",
        turn=number if known else None,
        seconds=number * 1.5 if known else None,
        tokens=number * 100 if known else None,
        mentions=mentions,
    )


def test_what_was_seen_and_when() -> None:
    calls = (
        call(1, "README.md", "no/such.py"),
        call(2, "/srv/clone/shop/cart.py", "web/app.ts"),
        call(3, "shop/cart.py"),
    )
    assert SeenFiles().score(context("See README.md", files=KEY, retrieved=calls)) == {
        "seen_recall": 0.5,
        "seen_first_turn": 2,
        "seen_first_call": 2,
        "seen_first_seconds": 3.0,
        "seen_first_tokens": 200,
        "retrieved_precision": 1 / 3,
        "seen_not_named": 1,
    }


def test_paths_are_written_in_many_ways() -> None:
    calls = (call(1, "shop\\cart.py", "file:///srv/clone/shop/basket.py", "./web/app.ts"),)
    scores = SeenFiles().score(context("", files=KEY, retrieved=calls))
    assert scores["seen_recall"] == 1
    assert scores["retrieved_precision"] == 2 / 3


@pytest.mark.parametrize(
    "result",
    [
        "diff --git a/shop/cart.py b/shop/cart.py",
        "git show HEAD~2:shop/cart.py",
        "https://forge.example/o/r/blob/main/shop/cart.py#L3",
        "FAILED shop/cart.py::test_total - AssertionError",
        "   at Cart.Total() in /srv/clone/shop/cart.py:line 12",
        "code://shop/cart.py?line=3",
        "bundle-internal:///(rsc)/./shop/cart.py",
        "shop%2Fcart.py",
        '"shop\\/cart.py" 3',
        "1→shop/cart.py",
        "„shop/cart.py“ und 「shop/cart.py」",
        "请看文件shop/cart.py中的函数",
        "\ufeffshop/cart.py",
        "@shop/cart.py, ~~shop/cart.py~~",
        "It sums up.【F:shop/cart.py†L10-L20】",
        "shop/cart.py\0shop/other.py\0",
        "\x1b[35mshop/cart.py\x1b[0m:\x1b[32m12\x1b[0m:x",
        "\tfrom shop/cart.py:12:in 'total'",
    ],
)
def test_what_tools_give_is_read_as_answers_are(result: str) -> None:
    calls = (call(1, *mentions_in(result)),)
    scores = SeenFiles().score(context("", files=KEY, retrieved=calls))
    assert scores["seen_recall"] == 0.5
    assert scores["retrieved_precision"] == 1


@pytest.mark.parametrize("result", ["a/cart.py", "https://x.example/shop/cart.py", "c/shop/no.py"])
def test_what_only_resembles_a_file_was_not_seen(result: str) -> None:
    calls = (call(1, *mentions_in(result)),)
    assert SeenFiles().score(context("", files=KEY, retrieved=calls))["seen_recall"] == 0


def test_what_was_seen_and_named_was_not_left_out() -> None:
    calls = (call(1, "shop/cart.py"),)
    scores = SeenFiles().score(context("See shop/cart.py", files=KEY, retrieved=calls))
    assert scores["seen_not_named"] == 0


def test_what_a_program_does_not_say_is_missing() -> None:
    calls = (call(1, "shop/cart.py", known=False),)
    scores = SeenFiles().score(context("", files=KEY, retrieved=calls))
    assert scores["seen_first_call"] == 1
    assert isinstance(scores["seen_first_turn"], Missing)
    assert isinstance(scores["seen_first_seconds"], Missing)
    assert scores["seen_not_named"] == 1


def test_an_agent_that_saw_nothing(golden: Sentences) -> None:
    scores = SeenFiles().score(context("", files=KEY, retrieved=()))
    assert (scores["seen_recall"], scores["seen_not_named"]) == (0.0, 0)
    for key in ("seen_first_call", "retrieved_precision"):
        missing = scores[key]
        assert isinstance(missing, Missing)
        golden(missing.why)


def test_without_a_transcript_all_is_missing(golden: Sentences) -> None:
    scores = SeenFiles().score(context("See shop/cart.py", files=KEY))
    (missing,) = set(scores.values())
    assert isinstance(missing, Missing)
    golden(missing.why)
    assert set(scores) == set(SeenFiles.keys)


def test_names_are_compared_as_the_repository_has_them() -> None:
    files = frozenset({"app/[id]/page.tsx", "a\\b c.py", "fru\u0308h.py"})
    calls = (
        call(1, "file://localhost/srv/clone/app/%5Bid%5D/page.tsx", "/srv/clone/a\\b c.py"),
        call(2, "früh.py"),
    )
    seen = context("", files=tuple(files), retrieved=calls)
    scores = SeenFiles().score(replace(seen, files=files))
    assert (scores["seen_recall"], scores["retrieved_precision"]) == (1.0, 1.0)
