"""What benchmarks of models do to texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.benchmarks.cases.texts import behind_thoughts, fenced
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion

RULE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.M | re.S)
"""The same in one expression, which takes a square of the time."""


@given(st.lists(st.sampled_from(["```", "`", "~~~", "~", " ", "\t", "\n", "a"])).map("".join))
def test_the_first_block_is_what_the_rule_says(text: str) -> None:
    match = RULE.search(text)
    assert fenced(text) == (match[2] if match else None)


@pytest.mark.parametrize("piece", ["`", "~", "```a", "```\n", " ", "\n```` \n```", "\t\n"])
def test_a_megabyte_is_read_at_once(piece: str) -> None:
    text = (piece * 1_000_000)[:1_000_000]
    assert len(fenced(text) or "") <= len(text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("\n<think>\nno\n</think>\n\n  yes", "  yes"),
        ("<think></think>yes <think>a</think>", "yes <think>a</think>"),
        ("<think>no end", ""),
        ("yes <think>no</think>", "yes <think>no</think>"),
    ],
)
def test_what_is_thought_before_a_chat_answers_is_no_answer(text: str, rest: str) -> None:
    completion = Completion(text=text, finish="stop", usage=Usage())
    assert behind_thoughts(completion, "chat").text == rest
    assert behind_thoughts(completion, "text").text == text
