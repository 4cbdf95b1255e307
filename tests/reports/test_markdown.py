"""What a Markdown reader makes of a summary full of hostile text."""

import re
from dataclasses import replace
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from swarm_bench.analysis.documents.blocks import MAX_TRIALS
from swarm_bench.analysis.documents.opening import OPEN_LINES
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.experiment import Mode
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.reports.markdown import MOST_BYTES
from tests.builders.golden import Sentences, parts
from tests.builders.reports import render, summarise
from tests.builders.sessions import (
    make_experiment,
    make_script_session,
    make_session,
    make_swarm,
    make_trial,
)

HOSTILE = (
    "a | b\n\n# Injected\n<script>x</script> <!-- `code` [l](http://x) ![i](y) **b** __c__ ~~d~~ "
    "\x1b[2J\x00 \u202e &lt; \\ \ud800 | |\n|-|\n```"
    " @maintainers (#12) https://evil.example/x?y=1, www.evil.example GH-3 me@x.example"
)
LIVE = re.compile(r"://|www\.|@\w|#\d|GH-\d")


def trial(**changes: Any) -> TrialRecord:
    values = {"mode": "baseline", "agent": 1, "task": "t", "cause": "finished"}
    return TrialRecord.model_validate(values | changes)


def hostile_report() -> Report:
    data = make_script_session(
        trial(task=HOSTILE, detail=HOSTILE, cause="exit-code", status="agent-failed"),
        trial(mode=HOSTILE, task=HOSTILE, model=HOSTILE, token_counter=HOSTILE),
        trial(mode="third", model="other"),
        repository=HOSTILE,
        model=HOSTILE,
    )
    return summarise(replace(data, warnings=(HOSTILE,)))


def hostile_session() -> Report:
    """One that has every section."""
    tool = f"mcp__srv__{HOSTILE}"
    shown = {
        "tool_calls": {tool: 2, HOSTILE: 1},
        "tool_failures": {tool: 1},
        "tool_seconds": {tool: 1.0, HOSTILE: 1.0},
        "unusable_tools": [HOSTILE],
        "total_tokens": 5,
    }
    seen = {"foreign": [HOSTILE], "connected": ["srv"], "start": "contradict", "why": [HOSTILE]}
    modes = (
        Mode(name="baseline", source="test"),
        Mode(name=HOSTILE, source="test", servers={"srv": {}, HOSTILE: {}}, instructions="x"),
        Mode(name="third", source="test", control_of=(HOSTILE,)),
    )
    used, touched = {"mode": HOSTILE, "retrieval": "used"}, {"retrieval": "contaminated"}
    return summarise(
        SessionData(
            experiment=make_experiment(("baseline",)).model_copy(update={"modes": modes}),
            trials=(
                trial(total_tokens=9),
                trial(**used, **shown, task=HOSTILE),
                trial(**used, total_tokens=5, agent=2, evidence=seen),
                trial(mode=HOSTILE, agent=3, **touched, evidence=seen),
                trial(mode="third", total_tokens=7),
            ),
            swarms=(
                SwarmRecord(
                    session="s",
                    swarm="s",
                    mode=HOSTILE,
                    run=1,
                    agents=(1, 2, 3),
                    counters="contradict",
                    counters_why=(HOSTILE,),
                ),
            ),
            overhead=(
                Overhead(
                    session="s",
                    mode=HOSTILE,
                    tools=1,
                    server_seconds={HOSTILE: 9.0},
                    problem=HOSTILE,
                ),
            ),
        )
    )


@pytest.fixture(params=[hostile_report, hostile_session])
def tokens(request: pytest.FixtureRequest) -> list[Token]:
    return parsed(request.param())


def parsed(report: Report) -> list[Token]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    text = render(report)
    text.encode("utf-8")
    return [inner for token in parser.parse(text) for inner in (token, *(token.children or ()))]


def lines(token: Token) -> list[str]:
    return token.content.splitlines()


def test_nothing_of_it_formats_or_runs(tokens: list[Token]) -> None:
    html = {line for token in tokens if token.type == "html_block" for line in lines(token)}
    assert html <= {"<details><summary>", "</summary>", "</details>"}
    kinds = {token.type for token in tokens}
    assert not kinds & {
        "html_inline",
        "link_open",
        "image",
        "fence",
        "code_block",
        "s_open",
        "blockquote_open",
        "em_open",
    }


def test_nothing_of_it_is_live(tokens: list[Token]) -> None:
    """Hosts of Markdown make links, mentions and references of plain words, but not of code."""
    words = [token.content for token in tokens if token.type == "text"]
    assert [word for word in words if LIVE.search(word)] == []
    code = {token.content for token in tokens if token.type == "code_inline"}
    assert {"@maintainers", "#12", "https://evil.example/x?y=1"} <= code


def test_headings_are_ours_only(golden: Sentences) -> None:
    tokens = parsed(hostile_session())
    headings = [
        after.content
        for token, after in zip(tokens, tokens[1:], strict=False)
        if token.type == "heading_open"
    ]
    golden(*headings)


def test_every_row_has_its_cells() -> None:
    widths: list[set[int]] = []
    cells = 0
    for token in parsed(hostile_session()):
        if token.type == "table_open":
            widths.append(set())
        elif token.type == "tr_open":
            cells = 0
        elif token.type in {"th_open", "td_open"}:
            cells += 1
        elif token.type == "tr_close":
            widths[-1].add(cells)
    assert all(len(found) == 1 for found in widths)
    assert len(widths) >= 10


@pytest.mark.parametrize("number", [3, MAX_TRIALS + 1, MAX_TRIALS + 1200])
def test_the_first_trials_of_many_are_shown(number: int) -> None:
    """And the sentence below them counts the others, to the last one."""
    trials = [trial(agent=agent) for agent in range(1, number + 1)]
    summary = render(summarise(make_script_session(*trials)))
    table = summary.partition("## Per-Agent Results")[2]
    shown = table.count("| baseline ")
    assert 1 <= shown <= MAX_TRIALS
    rest = f"Rows not shown: {number - shown:,}; metrics.jsonl has the figures of each trial."
    assert (rest in table) == (number > shown)


def large_session(agents: int, runs: int, modes: int) -> SessionData:
    """One in which much is to be said of every mode."""
    names = ["baseline", *(f"mode-with-a-long-name-{number}" for number in range(1, modes))]
    trials = [
        make_trial().model_copy(
            update={
                "mode": mode, "agent": agent, "run": run, "task_id": f"t{agent}",
                "task": f"Find part {agent} {'x' * 80}", "detail": f"{mode} {'y' * 300}",
                "retrieval": "not-given" if mode == "baseline" else "unused",
                **({"status": "agent-failed", "cause": "exit-code"} if agent % 2 else {}),
            }
        )
        for mode in names
        for run in range(1, runs + 1)
        for agent in range(1, agents + 1)
    ]  # fmt: skip
    experiment = make_experiment(("baseline",)).model_copy(
        update={
            "modes": tuple(
                Mode(name=name, source="test", servers={"srv": {}} if number else {})
                for number, name in enumerate(names)
            ),
            "runs": runs,
        }
    )
    return SessionData(experiment=experiment, trials=tuple(trials), swarms=())


@pytest.mark.parametrize(("agents", "runs", "modes"), [(2, 1, 2), (50, 20, 10), (5, 2, 40)])
def test_a_summary_of_any_size_is_short(agents: int, runs: int, modes: int) -> None:
    text = render(summarise(large_session(agents, runs, modes)))
    assert len(text.encode()) <= MOST_BYTES
    opened = re.sub(r"<details>.*?</details>\n", "", text, flags=re.DOTALL)
    assert opened.count("\n") <= OPEN_LINES
    assert "details" not in opened
    assert text.count("<details>") == text.count("</details>") > 0


def test_a_session_without_records_renders(golden: Sentences) -> None:
    text = render(summarise(make_script_session()))
    golden(parts(text))
    assert text.endswith("\n")


def test_without_warnings_there_is_no_section_of_them(golden: Sentences) -> None:
    data = make_script_session(trial())
    mode = Mode(name="baseline", source="test", servers={"canopy": {}})
    experiment = data.experiment.model_copy(update={"modes": (mode,)})
    text = render(summarise(replace(data, experiment=experiment)))
    golden(parts(text))


def summary(data: SessionData) -> str:
    return render(summarise(data))


def test_the_headline_stands_before_everything_else(golden: Sentences) -> None:
    text = summary(make_session(make_trial(), make_trial("canopy")))
    assert text.partition("\n## ")[2].startswith("Headline\n")
    golden(parts(text))


def test_who_has_counters_is_said_of_each_mode(golden: Sentences) -> None:
    data = make_session(
        make_trial(),
        make_trial("canopy"),
        make_trial("canopy-service"),
        make_swarm("canopy"),
        make_swarm("canopy-service", counters=None, difference={}),
    )
    last = data.experiment.modes[-1].model_copy(update={"probes": ()})
    modes = (*data.experiment.modes[:-1], last)
    text = summary(
        SessionData(
            experiment=data.experiment.model_copy(update={"modes": modes}),
            trials=data.trials,
            swarms=data.swarms,
        )
    )
    golden(parts(text))


def test_a_qualified_headline_says_by_what(golden: Sentences) -> None:
    trials = [make_trial("canopy"), make_trial("canopy", agent=2, retrieval="unused")]
    text = summary(make_session(make_trial(), *trials))
    golden(parts(text))
    assert "canopy, as used |" in text
    golden(parts(text, "How to read the effects"))
    assert "here are no caveats" not in text


def test_a_mode_without_a_verdict_has_no_column(golden: Sentences) -> None:
    lost = make_trial("canopy", retrieval="not-connected")
    text = summary(make_session(make_trial(), lost, make_trial("canopy-service")))
    golden(parts(text))
    (headline,) = [line for line in text.splitlines() if line.startswith("| Wall time  ")]
    assert "| canopy " not in text.partition("## Warnings")[0]
    assert headline.count("|") == 4


def test_without_a_reference_there_are_no_ratios_and_all_tables(golden: Sentences) -> None:
    text = summary(make_session(make_trial(retrieval="contaminated"), make_trial("canopy")))
    golden(parts(text))
    assert "Wall time" not in text
    assert "## Time, tokens and cost" in text
