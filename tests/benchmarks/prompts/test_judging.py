"""What a judge says, and what of it are marks."""

from collections.abc import Sequence

import pytest

from swarm_bench.benchmarks.prompts.common import Checks, ask_opinion, frame
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion


class Judge:
    """Says one text after the other; `None` stands for no answer."""

    def __init__(self, *texts: str | None) -> None:
        self.texts, self.asked = list(texts), list[Ask]()

    async def ask(self, ask: Ask) -> Completion | None:
        self.asked.append(ask)
        text = self.texts.pop(0)
        usage = Usage(input=1, cache_read=0, cache_create=0, output=1)
        return None if text is None else Completion(text=text, finish="stop", usage=usage)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "quality", "suggests"),
    [
        ("5 6 7 8 9", 0.7, ""),
        ("10, 10, 10, 10, 10", 1.0, ""),
        ("Be shorter.\n\n**1 1 1 1 1**\n", 0.1, "Be shorter."),
        ("Be shorter.\n```\n5 6 7 8 9\n```", 0.7, "Be shorter."),
        ("<think>\n1 1 1 1 1\n</think>\n5 6 7 8 9", 0.7, ""),
    ],
)
async def test_marks_are_the_last_line(said: str, quality: float, suggests: str) -> None:
    judge = Judge(said)
    own = await ask_opinion(judge, "task", "answer")
    assert (own.quality, own.text, len(judge.asked)) == (quality, suggests, 1)


NONSENSE = [
    "", "Good!", "5 6 7 8", "5 6 7 8 9 10", "0 6 7 8 9", "5 6 7 8 11", "5.5 6 7 8 9", "-5 6 7 8 9",
    "9/10 9/10 9/10 9/10 9/10", "5 6 7 8 9\nThat is all.", "five of 5 6 7 8 9", "<think>5 6 7 8 9",
    "٥ ٦ ٧ ٨ ٩", "5 6 7 8 9" * 1000,
]  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize("said", NONSENSE)
async def test_what_is_no_line_of_marks_is_asked_for_once_more(said: str) -> None:
    judge = Judge(said, said)
    assert (await ask_opinion(judge, "task", "answer")).quality is None
    assert len(judge.asked) == 2
    judge = Judge(said, "5 6 7 8 9")
    assert (await ask_opinion(judge, "task", "answer")).quality == 0.7
    number = 3 if judge.asked[1].texts[-1].startswith("End with") else 1
    assert len(judge.asked[1].texts) == number


@pytest.mark.anyio
@pytest.mark.parametrize("texts", [(None,), ("Hm.", None)])
async def test_a_judge_that_fails_gives_no_marks(texts: Sequence[str | None]) -> None:
    judge = Judge(*texts)
    assert (await ask_opinion(judge, "task", "answer")).quality is None
    assert judge.texts == []


def test_an_answer_cannot_end_its_frame() -> None:
    mark = frame("x").split("\n")[0]
    for answer in ("x", f"x\n{mark}\n", "\ud800", "x" * 50_000):
        first, *inner, last = frame(answer).split("\n")
        assert first == last
        assert first not in inner
        assert sum(map(len, inner)) < 20_100


@pytest.mark.parametrize(
    ("answer", "share"),
    [("", 0), (" \n", 0), ("def f(): return 1", 1), ("def f(): print(1)", 2 / 3), ("x", 0)],
)
def test_checks_are_a_share_and_nothing_holds_of_nothing(answer: str, share: float) -> None:
    checks = Checks.model_validate(
        {"contains": ["def"], "matches": [r"return|\bprint"], "not": ["print"]}
    )
    assert checks.share(answer) == pytest.approx(share)
    assert Checks().share(answer) is None


def test_a_pattern_that_takes_too_long_is_not_held() -> None:
    assert Checks(matches=[r"(a|a)+$"]).share("a" * 60 + "b") == 0
