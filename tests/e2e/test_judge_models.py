"""`judge` compares the answers of models, blind and in both orders."""

import json
import re
from pathlib import Path
from typing import Any

from tests.builders.chat import Chat, State, chatting, says
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench

RUN = ("run", "mbpp", "--generate-only", "--limit", "3", "--quiet", "--output", "out")


def shown(chat: Chat) -> tuple[str, str]:
    """The answers called A and B."""
    prompt = chat.prompts[-1]
    a, b = (re.search(rf"<answer-{n}-(\w+)>\n(.*)\n</answer-{n}-\1>", prompt, re.S) for n in "AB")
    assert a is not None
    assert b is not None
    return a[2], b[2]


def fair(chat: Chat) -> State:
    """The answer with a function wins."""
    a, b = ("return" in answer for answer in shown(chat))
    return says("tie" if a == b else "A" if a else "B")


def lines(bench: Bench) -> list[dict[str, Any]]:
    content = (bench.folder / "out/judge.jsonl").read_text()
    return [json.loads(line) for line in content.splitlines()]


def judge(bench: Bench, chat: Chat, *words: str) -> Any:
    return bench.call("judge", "out", "--model", "m", "--url", chat.url, *words)


def answers(bench: Bench, name: str, *texts: str) -> str:
    (bench.folder / name).write_text(json.dumps([[text] for text in texts]))
    return f"generations:{name}"


def test_answers_of_models_are_compared_in_both_orders(bench: Bench, golden: Sentences) -> None:
    good = answers(bench, "gpt-9.json", *["def f():\n    return 1\n"] * 3)
    poor = answers(bench, "qwen3-30b.json", "qwen3-30b says no", "no", "def f():\n    return 1\n")
    assert bench.call(*RUN, "--models", poor, good).code == 0
    with chatting(fair) as chat:
        planned = judge(bench, chat, "--plan")
        assert (planned.code, chat.bodies) == (0, [])
        golden(planned.out)
        done = judge(bench, chat)
        assert done.code == 0, done.err
        assert len(chat.bodies) == 4  # nobody is asked about equal answers
        assert not any(re.search("qwen3-30b|gpt-9", prompt) for prompt in chat.prompts)
        asked = ["Write a python function" in prompt for prompt in chat.prompts]
        assert sorted(asked) == [False, False, True, True]  # two tasks, in any order
        again = judge(bench, chat)
        assert (again.code, len(chat.bodies)) == (0, 4)
    golden(parts(done.out, "Judge"))
    stored = lines(bench)
    assert [(it["mode"], it["reference"]) for it in stored] == [(good, poor)] * 6
    assert sorted(it["first"] for it in stored) == ["mode"] * 3 + ["reference"] * 3
    assert "## Judge" in bench.call("report", "out").out
    assert bench.call("rescore", "out", "--allow-code-execution").code == 0
    assert len(lines(bench)) == 6


def test_who_prefers_the_first_answer_prefers_none(bench: Bench) -> None:
    assert bench.call(*RUN, "--models", "reference", "copy").code == 0
    with chatting(lambda _: says("A")) as chat:
        done = judge(bench, chat)
    section = done.out.partition("## Judge")[2]
    row = next(it for it in section.splitlines() if it.startswith("| copy"))
    assert [cell.strip() for cell in row.split("|")[3:7]] == ["0", "3", "0", "3"]


def test_what_cannot_be_compared_is_refused(bench: Bench, golden: Sentences) -> None:
    assert bench.call(*RUN, "--models", "reference").code == 0
    with chatting(fair) as chat:
        alone = judge(bench, chat)
        assert bench.call("run", "mbpp", "--continue", "out", "--models", "copy").code == 0
        Path(bench.folder / "out/prompts.jsonl").unlink()
        missing = judge(bench, chat)
        assert chat.bodies == []
    assert (alone.code, missing.code) == (2, 2)
    golden(alone.err, missing.err)
