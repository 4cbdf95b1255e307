"""What a Markdown reader makes of a summary full of hostile text."""

from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from swarm_bench.analysis.summary import summarise
from swarm_bench.core.records import SessionData, TrialRecord
from swarm_bench.core.report import Report
from swarm_bench.reports.markdown import render

HOSTILE = (
    "a | b\n\n# Injected\n<script>x</script> <!-- `code` [l](http://x) ![i](y) **b** __c__ ~~d~~ "
    "\x1b[2J\x00 \u202e &lt; \\ \ud800 | |\n|-|\n```"
)


def trial(**changes: Any) -> TrialRecord:
    values = {"mode": "baseline", "agent": 1, "task": "t", "cause": "finished"}
    return TrialRecord.model_validate(values | changes)


def hostile_report() -> Report:
    return summarise(
        SessionData(
            experiment=None,
            trials=(
                trial(task=HOSTILE, detail=HOSTILE, cause="exit-code", status="agent-failed"),
                trial(mode=HOSTILE, task=HOSTILE, model=HOSTILE, token_counter=HOSTILE),
                trial(mode="third", model="other"),
            ),
            swarms=(),
            head={"repository": HOSTILE, "model": HOSTILE},
            warnings=(HOSTILE,),
        )
    )


@pytest.fixture(scope="module")
def tokens() -> list[Token]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    text = render(hostile_report())
    text.encode("utf-8")
    return [inner for token in parser.parse(text) for inner in (token, *(token.children or ()))]


def test_nothing_of_it_formats_or_runs(tokens: list[Token]) -> None:
    kinds = {token.type for token in tokens}
    assert not kinds & {
        "html_block",
        "html_inline",
        "link_open",
        "image",
        "fence",
        "code_block",
        "code_inline",
        "s_open",
        "blockquote_open",
        "em_open",
    }


def test_headings_are_ours_only(tokens: list[Token]) -> None:
    headings = [
        after.content
        for token, after in zip(tokens, tokens[1:], strict=False)
        if token.type == "heading_open"
    ]
    assert headings == [
        "Swarm Benchmark Summary",
        "Warnings",
        "Notes",
        "Against baseline",
        "Time, tokens and cost",
        "Answers",
        "Retrieval",
        "Per-Agent Results",
    ]


def test_every_row_has_its_cells(tokens: list[Token]) -> None:
    widths: list[set[int]] = []
    cells = 0
    for token in tokens:
        if token.type == "table_open":
            widths.append(set())
        elif token.type == "tr_open":
            cells = 0
        elif token.type in {"th_open", "td_open"}:
            cells += 1
        elif token.type == "tr_close":
            widths[-1].add(cells)
    assert [sorted(found) for found in widths] == [[3], [4], [4], [12]]


def test_a_session_without_records_renders() -> None:
    text = render(summarise(SessionData(experiment=None, trials=(), swarms=())))
    assert "There is no record of any trial." in text
    assert text.endswith("\n")


def test_without_warnings_it_says_so() -> None:
    text = render(summarise(SessionData(experiment=None, trials=(trial(),), swarms=())))
    assert "None: every planned trial ran" in text
