"""Which right files an agent saw, and when."""

from dataclasses import replace

import pytest

from swarm_bench.agents.reading.retrieved import mentions_in
from swarm_bench.core.outcome import Retrieved
from swarm_bench.core.ports import Missing
from swarm_bench.scoring.seen import SeenFiles
from tests.builders.golden import Sentences
from tests.scoring.trees import context

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
