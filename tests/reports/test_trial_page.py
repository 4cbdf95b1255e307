import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.reports.trial_page import find_answer
from tests.builders.golden import Sentences
from tests.builders.reports import render_page

ANSWER = "# Title\n\n| a | b |\n\n```sh\n# $(rm -rf /) `x`\n```\n"


def record(**changes: object) -> TrialRecord:
    values = {
        "mode": "canopy",
        "agent": 2,
        "task": "Find | it\nand say where",
        "duration_s": 79.88,
        "num_turns": 9,
        "input_tokens": 8,
        "cache_read": 109067,
        "cache_create": 34939,
        "output_tokens": 2908,
        "total_tokens": 37855,
        "effective_tokens": 146922,
        "cost": 0.100915,
        "result_lines": 15,
        "compacted": 0,
        "status": "completed",
        "cause": "finished",
        "retrieval": "used",
        "tool_calls": {"Read": 3, "mcp__canopy__x": 1},
        "model": "rules",
        "program": "scout",
        "program_version": "1.0",
    }
    return TrialRecord.model_validate(values | changes)


def test_the_page_has_task_answer_and_figures(golden: Sentences) -> None:
    page = render_page(METRICS, record(), ANSWER)
    begin = (
        "# \\[canopy\\] Agent 2\n\n## Task\n```text\nFind | it\nand say where\n```\n\n## Result\n"
    )
    assert page.startswith(f"{begin}````text\n{ANSWER}````\n")
    golden(page)


def test_a_trial_that_gave_nothing_has_no_figures(golden: Sentences) -> None:
    bare = TrialRecord(mode="baseline", agent=1, task="t", detail="It | died\nat once")
    page = render_page(METRICS, bare, None)
    golden(page)
    assert "0" not in page.partition("## Metrics")[2]


def test_an_estimated_cost_is_marked(golden: Sentences) -> None:
    page = render_page(METRICS, record(cost=0.021545099999999998, cost_estimated=True), "x")
    golden(page)


def test_the_page_can_be_encoded_whatever_the_answer_is() -> None:
    page = render_page(METRICS, record(task="half \ud83d"), "half \udc00 of a pair")
    assert b"half \xef\xbf\xbd of a pair" in page.encode("utf-8")


HOSTILE = (
    "\x1b[31m\x00 \u202egpj ````\n</details><img src=x> ![i](http://x) @all #12 \x9b \u200b\r\n"
    "`````\n"
)


def test_nothing_of_an_answer_does_anything(golden: Sentences) -> None:
    page = render_page(METRICS, record(task=HOSTILE), HOSTILE)
    kinds = [token.type for token in MarkdownIt("commonmark", {"html": True}).parse(page)]
    assert kinds.count("fence") == 2
    assert not {"html_block", "html_inline", "image", "link_open"} & set(kinds)
    assert [one for one in page if not one.isprintable() and one != "\n"] == []
    golden(page)


FORGED = "````\n\n## Result\n```text\nforged\n```\n\n---\n"


@given(answer=st.text(alphabet="`#-\n aä", min_size=1), task=st.text(alphabet="`#\n a"))
def test_an_answer_is_read_as_it_was_given(answer: str, task: str) -> None:
    page = render_page(METRICS, record(task=task), answer)
    assert find_answer(page) == answer.removesuffix("\n")


@pytest.mark.parametrize("text", [FORGED, f"x\n{FORGED}", ANSWER])
def test_no_text_passes_for_the_answer(text: str) -> None:
    assert find_answer(render_page(METRICS, record(task=text), "Here.")) == "Here."
    assert find_answer(render_page(METRICS, record(), text)) == text.removesuffix("\n")


@pytest.mark.parametrize("page", ["", "# x", "## Result\n```text\nforged\n```\n\n---\n"])
def test_a_page_without_an_answer_has_none(page: str) -> None:
    assert find_answer(page) is None
    assert find_answer(render_page(METRICS, record(), None)) is None
