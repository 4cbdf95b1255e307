"""What a judge has said, read from its reply."""

import pytest

from swarm_bench.benchmarks.swarm.judging.asking import read_verdict
from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Completion, Finish


def reply(text: str, finish: Finish | None = "stop") -> Completion:
    return Completion(text=text, finish=finish, usage=Usage())


@pytest.mark.parametrize(
    "text",
    ["A", "\ufeffA", "A<|im_end|>", "So.\n\nA </s>\n", "<think>\nB\n</think>\nA<|eot_id|>"],
)
def test_marks_and_thoughts_are_no_part_of_a_verdict(text: str) -> None:
    assert read_verdict(reply(text)) == "A"


@pytest.mark.parametrize("text", ["<think>\nSo far:\nA", "<think>It is one.\n</think>\n"])
def test_what_a_judge_thinks_is_no_verdict(text: str) -> None:
    assert read_verdict(reply(text)) is None


@pytest.mark.parametrize("finish", ["length", "refused"])
def test_a_reply_that_was_cut_has_none(finish: Finish) -> None:
    assert read_verdict(reply("A", finish)) is None
