"""What a judge is shown, and what it answers."""

from contextlib import suppress
from pathlib import Path

from swarm_bench.benchmarks.swarm.judging import OF_AGENTS, blind, find_verdict, write_question
from swarm_bench.models.prices import price
from swarm_bench.models.servers.compatible import completion_in
from swarm_bench.models.servers.forms import NoAnswer, body_of
from swarm_bench.reports.text import format_code_block
from swarm_bench.reports.trial_page import find_answer
from tests.builders.chat import says

NAMES = ("canopy", "mcp__canopy__query", "evidence_pack")


def pages() -> list[bytes]:
    answer = "`canopy_query`: see /tmp/swarm-bench-1a/repo/shop/a.py\n```\nx\n```"
    task, result = format_code_block("b"), format_code_block(answer)
    return [f"# a\n\n## Task\n{task}\n\n## Result\n{result}\n\n---\n".encode()]


def page(data: bytes, _folder: Path) -> None:
    """No answer leaves its part of the question, or keeps a name."""
    text = data.decode("utf-8", "replace")
    answer = blind(find_answer(text) or text, NAMES)
    assert "mcp__canopy__query" not in answer.split()
    asked = write_question(OF_AGENTS, "Where?", answer, "There.")
    opening, closing = (asked.rpartition("<answer-B-")[2][:16], asked.rpartition("</answer-B-")[2])
    assert asked.count(f"</answer-B-{opening}>") == 1
    assert closing.startswith(opening)


def completions() -> list[bytes]:
    return [says("Because.\nA")[2], says(None)[2], says("tie", usage={"prompt_tokens": 1e99})[2]]


def completion(data: bytes, _folder: Path) -> None:
    with suppress(ValueError, NoAnswer):
        reply = completion_in(body_of(data))
        assert find_verdict(reply.text) in ("A", "B", "tie", None)
        listed = price("rules")
        assert listed
        cost = listed.compute_cost(reply.usage)
        assert cost is None or cost >= 0
