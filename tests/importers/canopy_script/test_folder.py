import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.report import Report
from swarm_bench.core.session.records import SessionData, TrialRecord
from swarm_bench.importers.canopy_script.folder import is_script_folder, read_script_folder
from tests.builders.golden import Sentences
from tests.builders.reports import summarise

HAND_MADE = Path(__file__).parent / "data" / "script"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small folder in the script's format, made by hand, with its typical defects:

    baseline: agent 1 took less than a second, agent 2 died, agent 3 used all of its 5 turns;
    canopy-service: agent 2's output is cut off, agent 3 printed two documents and so has no line,
    and the file of agent 4 is left over.
    """
    copy = tmp_path / "results"
    shutil.copytree(HAND_MADE, copy)
    task = "Find the login code and describe it well—step by step".encode()
    (copy / "summary.md").write_bytes(b"| " + task[:41] + b"... |\n")
    return copy


def trial(data: SessionData, mode: str, agent: int) -> TrialRecord:
    return next(one for one in data.trials if (one.mode, one.agent) == (mode, agent))


def figures(report: Report, mode: str) -> dict[str, tuple[Any, int]]:
    number = report.modes.index(mode)
    return {
        row.metric.key: (figure.value, figure.missing)
        for table in report.tables
        for row in table.rows
        if (figure := row.figures[number])
    }


def test_the_figures_are_those_worked_out_by_hand(folder: Path) -> None:
    report = summarise(read_script_folder(folder))
    assert figures(report, "baseline") == {
        "duration_s": (2.5, 1),
        "total_tokens": (300 + 500, 1),
        "effective_tokens": (1300 + 3500, 1),
        "cache_read": (1000 + 3000, 1),
        "cost": (pytest.approx(0.03), 1),
        "tokens_per_agent": (2400, 1),
        "result_lines": (7 + 5, 1),
        "compacted": (1, 1),
        "out_of_turns": (0, 0),
        "success_rate": (pytest.approx(1 / 3), 0),
        "avg_output_lines": (6, 1),
        "num_turns": (3.5, 1),
        "null_results": (1, 0),
        "grounded": (pytest.approx(1 / 3), 0),
        "references": (1.5, 1),
        "structured": (pytest.approx(1 / 3), 0),
    }
    service = figures(report, "canopy-service")
    assert service["success_rate"] == (pytest.approx(2 / 3), 0)
    assert service["total_tokens"] == (150 + 80, 1)
    assert [service[key][0] for key in ("local_queries", "local_expands")] == [4, 6]
    assert [service[key][0] for key in ("service_queries", "service_expands")] == [5, 3]
    assert report.retrieval_exercised is True


def test_what_the_script_hides_is_said(folder: Path) -> None:
    found = "\n".join(summarise(read_script_folder(folder)).warnings)
    for said in [
        "baseline: 1 of 3 trials ended without printing anything (agent 2)",
        "canopy-service: 1 of 3 trials printed something that is not a result (agent 2)",
        "metrics.jsonl: line 2 is not valid JSON (a number such as .48",
        "canopy-service: agent 3 left a file but no line",
        "canopy-service: the files of agent 4 remain",
        "canopy-service agent 3: the script could not read what the agent printed",
        "baseline: the script wrote zeros for 1 agent",
        "summary.md is not valid UTF-8 (byte 42)",
    ]:
        assert said in found


def test_the_line_of_a_quick_agent_is_recovered(folder: Path) -> None:
    quick = trial(read_script_folder(folder), "baseline", 1)
    assert (quick.duration_s, quick.duration_ms, quick.effective_tokens) == (0.48, 480, 1300)


def test_an_agent_that_died_has_no_figures(folder: Path) -> None:
    dead = trial(read_script_folder(folder), "baseline", 2)
    assert (dead.status, dead.cause, dead.task) == ("agent-failed", "no-output", "List the models")
    values = (dead.duration_s, dead.num_turns, dead.total_tokens, dead.cost, dead.result_lines)
    assert set(values) == {None}


def test_an_agent_without_a_line_gets_its_task_by_its_number(folder: Path) -> None:
    lost = trial(read_script_folder(folder), "canopy-service", 3)
    assert lost.task == "Find the login code and describe it well—step by step"
    assert (lost.total_tokens, lost.result_lines, lost.compacted) == (80, 2, 0)


def test_the_head_is_what_the_script_recorded(folder: Path) -> None:
    report = summarise(read_script_folder(folder))
    facts = {fact.label: fact.value for line in report.head for fact in line}
    assert facts == {
        "Repository": "/srv/shop",
        "Agents": "3",
        "Max turns": "5",
        "Model": "default",
        "Date": "20260102-030405",
    }


def rewrite(folder: Path, agent: int, **changes: Any) -> None:
    file = folder / "baseline" / f"agent-{agent}.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("API error\nOverloaded", "provider-failed"),
        ("Prepaid credits exhausted", "no-credit"),
        ("prompt is too long", "context-overflow"),
        ("Error executing tool Read: no", "error-result"),
    ],
)
def test_an_error_that_the_script_counts_as_an_answer(
    folder: Path, message: str, cause: str
) -> None:
    rewrite(folder, 1, is_error=True, result=message)
    data = read_script_folder(folder)
    failed = trial(data, "baseline", 1)
    assert (failed.cause, failed.detail) == (cause, message)
    assert (failed.result_lines, failed.total_tokens) == (None, 300)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"stop_reason": "max_tokens"}, "answer-cut"),
        ({"stop_reason": "refusal", "result": ""}, "refused"),
        ({"stop_reason": "model_context_window_exceeded"}, "context-overflow"),
        ({"subtype": "error_max_budget_usd", "is_error": True}, "cost-limit"),
        ({"is_error": True, "result": "Overloaded", "api_error_status": 402}, "no-credit"),
        ({"is_error": True, "result": None, "error": "Prepaid credits exhausted"}, "no-credit"),
        ({"subtype": None}, "finished"),
        ({"type": None}, "finished"),
    ],
)
def test_an_end_means_what_it_means_in_a_session_of_ours(
    folder: Path, changes: dict[str, Any], cause: str
) -> None:
    rewrite(folder, 1, **changes)
    assert trial(read_script_folder(folder), "baseline", 1).cause == cause


def test_the_last_message_is_the_answer_where_the_result_is_empty(folder: Path) -> None:
    rewrite(folder, 1, result="")
    path = folder / "baseline" / "agent-1.json"
    said = {"id": "m", "model": "m", "content": [{"type": "text", "text": "See\n`a.py`."}]}
    event = json.dumps({"type": "assistant", "message": said})
    path.write_text(f"[{event},\n{path.read_text()}]")
    answered = trial(read_script_folder(folder), "baseline", 1)
    assert (answered.cause, answered.result_lines) == ("finished", 2)


def test_the_turn_limit_is_not_a_failure_of_the_agent(folder: Path) -> None:
    rewrite(folder, 3, is_error=True, subtype="error_max_turns", result=None)
    limited = trial(read_script_folder(folder), "baseline", 3)
    assert (limited.status, limited.cause) == ("budget-reached", "max-turns")
    assert (limited.compacted, limited.effective_tokens, limited.result_lines) == (1, 3500, None)


def test_a_cost_that_was_not_given_is_not_zero(folder: Path) -> None:
    rewrite(folder, 3, total_cost_usd=None)
    assert trial(read_script_folder(folder), "baseline", 3).cost is None


def test_an_answer_of_no_tokens_at_all_has_no_figures_of_them(folder: Path) -> None:
    zeros = ("input_tokens", "output_tokens", "cache_creation_input_tokens")
    usage = dict.fromkeys((*zeros, "cache_read_input_tokens"), 0)
    rewrite(folder, 3, usage=usage, total_cost_usd=0)
    free = trial(read_script_folder(folder), "baseline", 3)
    assert free.status == "completed"
    assert (free.total_tokens, free.effective_tokens, free.cost) == (None, None, None)


def test_a_file_of_another_run_is_not_taken_for_the_line(folder: Path) -> None:
    rewrite(folder, 1, num_turns=4)
    data = read_script_folder(folder)
    mixed = trial(data, "baseline", 1)
    assert (mixed.effective_tokens, mixed.references) == (1300, None)
    assert data.audit
    assert data.audit.differing == {mixed.key: ("num_turns",)}
    standing = next(one for one in summarise(data).headline.standings if one.mode == "baseline")
    said = "the figures of 1 of 3 trials are not those of their stored output"
    assert said in standing.qualifications


def test_a_folder_used_twice_counts_each_agent_once(folder: Path, golden: Sentences) -> None:
    metrics = folder / "metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes() * 2)
    data = read_script_folder(folder)
    assert len(data.trials) == 6
    golden(*data.warnings)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "no-output"),
        (b"Segmentation fault\n", "unreadable-output"),
        (b"\xff\xfe\x00", "unreadable-output"),
        (b"[" * 5000, "unreadable-output"),
        (b'"text"', "unreadable-output"),
        (b"API Error: 402 no\n", "no-credit"),
        (b'{"type":"result","subtype":"error_during_execution"}', "error-result"),
        (b'{"type":"result","subtype":"success","result":"It is in', "unreadable-output"),
    ],
)
def test_output_that_is_no_answer_has_its_cause(folder: Path, content: bytes, cause: str) -> None:
    (folder / "baseline" / "agent-2.json").write_bytes(content)
    assert trial(read_script_folder(folder), "baseline", 2).cause == cause


@pytest.mark.parametrize(
    "wrap",
    [
        "Warning: old node\n{}",
        '[{{"type":"system"}},\n{}]',
        "\x1b]0;t\x07{}\x1b[0m",
        " \ufeff{}\n!",
    ],
)
def test_a_result_among_other_output_is_found(folder: Path, wrap: str) -> None:
    payload = (folder / "baseline" / "agent-1.json").read_text()
    (folder / "baseline" / "agent-2.json").write_text(wrap.format(payload))
    assert trial(read_script_folder(folder), "baseline", 2).total_tokens == 300


def test_broken_lines_and_files_are_named(folder: Path, golden: Sentences) -> None:
    with (folder / "metrics.jsonl").open("ab") as file:
        file.write(b'{"mode":"baseline","agent":1,"ta\nnull\n{"mode":1}\n')
    (folder / "config.json").write_text('{"repo": "/a "quoted" path"}')
    (folder / "canopy-service" / "service-metrics.json").write_text("")
    data = read_script_folder(folder)
    golden("\n".join(data.warnings))
    assert len(data.trials) == 7, "without the number of agents, no file is left over"
    assert summarise(data).head


def test_modes_that_never_ran_are_said(folder: Path, golden: Sentences) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"mode": "all"}))
    (folder / "summary.md").unlink()
    found = summarise(read_script_folder(folder)).warnings
    golden(*found)


def test_counters_in_the_baseline_are_said(folder: Path) -> None:
    counters = folder / "canopy-service" / "local-feedback-metrics.json"
    shutil.copy(counters, folder / "baseline")
    assert summarise(read_script_folder(folder)).warnings[0].startswith("baseline is contaminated")


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    assert not is_script_folder(tmp_path)
    with pytest.raises(UsageError, match="holds no results"):
        read_script_folder(tmp_path)


@pytest.mark.parametrize(
    "value", ["1e999", "NaN", "-1", "2.5", "true", '"x"', "[]", "9" * 5000, '"\\ud800"', "", "null"]
)
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("metrics.jsonl", "num_turns"),
        ("metrics.jsonl", "agent"),
        ("metrics.jsonl", "mode"),
        ("baseline/agent-1.json", "num_turns"),
        ("baseline/agent-1.json", "total_cost_usd"),
        ("baseline/agent-1.json", "result"),
        ("baseline/agent-1.json", "usage"),
        ("config.json", "agents"),
        ("config.json", "max_turns"),
        ("canopy-service/service-metrics.json", "queries"),
        ("canopy-service/service-metrics.json", "performance"),
        ("canopy-service/local-feedback-metrics.json", "query_events"),
    ],
)
def test_any_value_anywhere_gives_a_summary(folder: Path, name: str, key: str, value: str) -> None:
    file = folder / name
    text = file.read_text(encoding="utf-8")
    changed = re.sub(f'("{key}":\\s*)[^,}}]+', lambda found: found[1] + value, text, count=1)
    assert changed != text
    file.write_text(changed, encoding="utf-8")
    assert summarise(read_script_folder(folder)).tables


@pytest.mark.parametrize("name", ["../outside", "a/b", "..", "x" * 300, "with \\u0000"])
def test_a_mode_that_is_no_name_of_a_folder_is_refused(folder: Path, name: str) -> None:
    before = read_script_folder(folder)
    with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write(f'{{"mode":"{name}","agent":1,"task":"t"}}\n')
    data = read_script_folder(folder)
    assert data.trials == before.trials
    assert len(data.warnings) == len(before.warnings) + 1


def test_a_folder_in_the_place_of_a_file_is_named(folder: Path, golden: Sentences) -> None:
    agent = folder / "baseline" / "agent-1.json"
    agent.unlink()
    agent.mkdir()
    data = read_script_folder(folder)
    golden(*data.warnings)
    assert trial(data, "baseline", 1).effective_tokens == 1300
