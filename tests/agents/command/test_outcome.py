"""What a program left, read as its command file says: answer, figures, tools, causes."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.command.outcome import MAX_REQUESTS
from swarm_bench.agents.command.output import LARGEST
from swarm_bench.core.outcome import Outcome, Usage
from swarm_bench.core.status import Cause
from tests.agents.command.command_files import agent, read
from tests.builders.golden import Sentences

BUSY = "(x|xx)+y.*(x|xx)+y"
"""A pattern that a text of `x` keeps busy for ever."""
ANSWERED = '{"answer": "See a.py", '
TOKENS = {
    "each": "$.requests[*]",
    "input": "$.prompt",
    "cache_read": "$.cached",
    "cache_create": [{"path": "$.created"}, {"constant": 0}],
    "output": "$.completion",
    "input_includes_cached": True,
}


def outcome(folder: Path, output: dict[str, Any], left: object, **ending: Any) -> Outcome:
    """Of a program that printed `left`; `output` is added to the least output there can be."""
    made = agent(folder, output={"format": "json", "answer": "$.answer", **output})
    return read(folder, made, json.dumps(left), **ending)


def test_an_answer_with_figures(tmp_path: Path) -> None:
    output = {
        "turns": "$.turns",
        "cost": "$.cost",
        "duration_ms": "$.ms",
        "model": "$.model",
        "retries": "$.retries",
        "tokens": {"input": "$.in", "output": "$.out"},
    }
    left = {"answer": "a", "turns": 3, "cost": 0.5, "ms": 9, "model": "m", "retries": 0, "in": 5}
    seen = outcome(tmp_path, output, left)
    assert (seen.cause, seen.text, seen.model) == (Cause.FINISHED, "a", "m")
    assert (seen.turns, seen.cost, seen.duration_ms, seen.retries) == (3, 0.5, 9, 0)
    assert seen.usage == Usage(input=5)
    assert seen.payload == json.dumps(left).encode()


def test_what_is_not_said_is_missing(tmp_path: Path) -> None:
    seen = outcome(tmp_path, {}, {"answer": "a", "turns": 3})
    assert seen.usage == Usage()
    given = (seen.turns, seen.cost, seen.model, seen.tool_calls, seen.tools_offered, seen.retries)
    assert given == (None,) * 6


@pytest.mark.parametrize("value", ["three", -1, None, True, [3], {"n": 3}, 2.5, 10**400])
def test_what_is_no_figure_is_missing(tmp_path: Path, value: object) -> None:
    seen = outcome(tmp_path, {"turns": "$.n", "retries": "$.n"}, {"answer": "a", "n": value})
    assert (seen.turns, seen.retries) == (None, None)


def test_requests_are_added_and_kept_apart(tmp_path: Path) -> None:
    requests = [
        {"prompt": 100, "cached": 0, "completion": 10},
        {"prompt": 150, "cached": 90, "created": 20, "completion": 5},
    ]
    seen = outcome(tmp_path, {"tokens": TOKENS}, {"answer": "a", "requests": requests})
    assert seen.turn_usage == (
        Usage(input=100, cache_read=0, cache_create=0, output=10),
        Usage(input=40, cache_read=90, cache_create=20, output=5),
    )
    assert seen.usage == Usage(input=140, cache_read=90, cache_create=20, output=15)


def test_a_sum_hides_no_missing_part(tmp_path: Path) -> None:
    requests = [{"prompt": 100, "cached": 0, "completion": 10}, {"prompt": 9, "completion": 1}]
    seen = outcome(tmp_path, {"tokens": TOKENS}, {"answer": "a", "requests": requests})
    assert seen.usage == Usage(cache_create=0, output=11)


def test_a_constant_does_not_stand_alone(tmp_path: Path) -> None:
    seen = outcome(tmp_path, {"tokens": TOKENS}, {"answer": "a", "requests": [{}]})
    assert seen.usage == Usage()
    seen = outcome(tmp_path, {"tokens": TOKENS}, {"answer": "a", "requests": []})
    assert (seen.usage, seen.turn_usage) == (Usage(), None)


def test_more_cached_than_sent_is_no_figure(tmp_path: Path) -> None:
    requests = [{"prompt": 10, "cached": 20, "completion": 1}]
    seen = outcome(tmp_path, {"tokens": TOKENS}, {"answer": "a", "requests": requests})
    assert seen.usage.input is None


@pytest.mark.parametrize(("cost", "seen"), [(0.0, None), (0.25, 0.25)])
def test_a_placeholder_is_no_figure(tmp_path: Path, cost: float, seen: float | None) -> None:
    place = {"path": "$.cost", "zero_is_missing": True}
    assert outcome(tmp_path, {"cost": place}, {"answer": "a", "cost": cost}).cost == seen


def test_the_first_place_where_something_stands_counts(tmp_path: Path) -> None:
    output = {"answer": ["$.final", "$.answer"], "turns": ["$.n", "$.m"]}
    seen = outcome(tmp_path, output, {"final": " ", "answer": "a", "m": 2})
    assert (seen.text, seen.turns) == ("a", 2)


def test_lines_of_json_are_one_list_and_noise_is_passed_over(tmp_path: Path) -> None:
    lines = ["starting", '{"type": "text", "part": "See "}', '{"type": "turn"}', '{"type": ']
    lines += ['{"type": "text", "part": "a.py"}', '{"type": "turn"}']
    output = {
        "format": "json-lines",
        "answer": {"path": "$[?@.type == 'text'].part", "take": "join"},
        "turns": {"path": "$[?@.type == 'turn']", "take": "count"},
    }
    seen = read(tmp_path, agent(tmp_path, output=output), "\n".join(lines))
    assert (seen.cause, seen.text, seen.turns, seen.payload) == (
        Cause.FINISHED, "See a.py", 2, None,
    )  # fmt: skip


def test_figures_in_text(tmp_path: Path) -> None:
    output = {
        "format": "text",
        "answer": {"pattern": r"(?s)ANSWER\n(?P<value>.*)\z"},
        "turns": {"pattern": "^turn", "take": "count"},
        "cost": {"pattern": r"cost: \$([\d.]+)", "take": "sum"},
        "tokens": {"output": {"pattern": r"([\d,]+) tokens", "stream": "stderr"}},
    }
    text = "turn\ncost: $0.25\nturn\ncost: $0.5\nANSWER\nSee\na.py"
    seen = read(tmp_path, agent(tmp_path, output=output), text, stderr="1,024 tokens\n")
    assert (seen.text, seen.turns, seen.cost) == ("See\na.py", 2, 0.75)
    assert seen.usage == Usage(output=1024)


def test_nothing_counted_in_nothing_is_missing(tmp_path: Path) -> None:
    output = {
        "format": "text",
        "answer": {"pattern": "x"},
        "turns": {"pattern": "t", "take": "count"},
    }
    assert read(tmp_path, agent(tmp_path, output=output)).turns is None


def test_tools_have_their_common_names(tmp_path: Path) -> None:
    tools = {
        "calls": "$.calls[*].name",
        "failures": "$.calls[?@.failed == true].name",
        "offered": "$.tools[*]",
        "servers": "$.servers[*]",
        "mcp": "(?P<server>canopy)_(?P<tool>.+)",
    }
    left = {
        "answer": "a",
        "calls": [{"name": "canopy_query"}, {"name": "sh"}, {"name": "sh", "failed": True}],
        "tools": ["sh", "canopy_query", "sh"],
        "servers": ["canopy"],
    }
    made = agent(
        tmp_path,
        command=["a", "{{ prompt }}", "{{ max_turns }}", "{{ mcp_config }}"],
        mcp=None,
        output={"format": "json", "answer": "$.answer", "tools": tools},
    )
    seen = read(tmp_path, made, json.dumps(left))
    assert seen.tool_calls == {"mcp__canopy__query": 1, "sh": 2}
    assert seen.tool_failures == {"sh": 1}
    assert seen.tools_offered == ("sh", "mcp__canopy__query")
    assert seen.servers == {"canopy": "connected"}


def test_no_calls_are_none_only_when_the_output_can_be_read(tmp_path: Path) -> None:
    made = agent(
        tmp_path,
        output={"format": "json", "answer": "$.answer", "tools": {"calls": "$.calls[*].name"}},
    )
    assert read(tmp_path, made, '{"answer": "a"}').tool_calls == {}
    assert read(tmp_path, made, '{"answer": ').tool_calls is None


@pytest.mark.parametrize(
    ("stdout", "ending", "cause"),
    [
        (ANSWERED + '"x": 1}', {"stopped": "timeout", "returncode": -15}, Cause.TIMEOUT),
        (ANSWERED + '"x": 1}', {"stopped": "output-limit"}, Cause.OUTPUT_LIMIT),
        (ANSWERED + '"x": 1}', {"stopped": "turn-limit"}, Cause.MAX_TURNS),
        (ANSWERED + '"x": 1}', {"returncode": 1}, Cause.EXIT_CODE),
        (ANSWERED + '"x": 1}', {"returncode": None}, Cause.EXIT_CODE),
        ("", {}, Cause.NO_OUTPUT),
        (" \n", {}, Cause.NO_OUTPUT),
        ("Traceback", {}, Cause.UNREADABLE_OUTPUT),
        ('{"result": "a"}', {}, Cause.UNREADABLE_OUTPUT),
        ('{"answer": {"text": "a"}}', {}, Cause.UNREADABLE_OUTPUT),
        ('{"answer": " "}', {}, Cause.EMPTY_ANSWER),
        (ANSWERED + '"end": "max"}', {"returncode": 3}, Cause.MAX_TURNS),
        (ANSWERED + '"end": "cut"}', {}, Cause.ANSWER_CUT),
        (ANSWERED + '"end": "limit"}', {}, Cause.RATE_LIMITED),
        (ANSWERED + '"error": null}', {}, Cause.FINISHED),
        (ANSWERED + '"error": {"code": 1}}', {}, Cause.ERROR_RESULT),
        ("", {"returncode": 9}, Cause.NOT_AUTHORIZED),
        ("", {"returncode": 2, "stderr": "x\n503 overloaded\n"}, Cause.PROVIDER_FAILED),
        (ANSWERED + '"x": 1}', {"stderr": "503 overloaded, again in 1 s\n"}, Cause.FINISHED),
    ],
)
def test_failures_are_told_apart(
    tmp_path: Path, stdout: str, ending: dict[str, Any], cause: Cause
) -> None:
    failures = [
        {"when": {"path": "$.end", "pattern": "^max$"}, "exit_code": 3, "cause": "max-turns"},
        {"when": {"path": "$.end", "pattern": "^cut$"}, "cause": "answer-cut"},
        {"when": {"path": "$.end", "pattern": "^limit$"}, "cause": "rate-limited"},
        {"when": "$.error", "cause": "error-result"},
        {"exit_code": 9, "cause": "not-authorized"},
        {
            "exit_code": "failing",
            "when": {"stream": "stderr", "pattern": "^50[03] .*"},
            "cause": "provider-failed",
        },
    ]
    seen = read(tmp_path, agent(tmp_path, failures=failures), stdout, **ending)
    assert seen.cause is cause
    assert (seen.text is not None) == (cause in (Cause.FINISHED, Cause.ANSWER_CUT))


def test_a_failure_has_words(tmp_path: Path, golden: Sentences) -> None:
    said = outcome(tmp_path, {"error": "$.error"}, {"error": "no\nluck"}, returncode=1)
    assert said.detail == "no luck"
    silent = outcome(tmp_path, {}, {}, returncode=1, stderr="Traceback\nKeyError: 'x'\n\n")
    golden(silent.detail or "")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


FROM_FILE = {"source": "{{ home }}/out.json"}


def test_a_file_that_the_program_wrote(tmp_path: Path, home: Path) -> None:
    (home / "out.json").write_text('{"answer": "the key is s3cr3t-key"}', encoding="utf-8")
    seen = outcome(tmp_path, FROM_FILE, None, home=home, secrets=("s3cr3t", "s3cr3t-key"))
    assert (seen.cause, seen.text) == (Cause.FINISHED, "the key is (not stored)")
    assert b"s3cr3t" not in (seen.payload or b"s3cr3t")


def test_a_file_that_was_not_written(tmp_path: Path, home: Path, golden: Sentences) -> None:
    for where in (home, None):
        seen = outcome(tmp_path, FROM_FILE, None, home=where)
        assert seen.cause is Cause.NO_OUTPUT
        golden(seen.detail or "")


@pytest.mark.parametrize("kind", ["link", "folder-link", "pipe", "folder", "ring"])
def test_what_is_no_file_in_the_folder_is_not_read(tmp_path: Path, home: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "out.json").write_text('{"answer": "private"}', encoding="utf-8")
    path = home / "out.json"
    source = FROM_FILE
    match kind:
        case "link":
            path.symlink_to(outside / "out.json")
        case "folder-link":
            (home / "in").symlink_to(outside)
            source = {"source": "{{ home }}/in/out.json"}
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "ring":
            path.symlink_to(path)
    assert outcome(tmp_path, source, None, home=home).cause is Cause.NO_OUTPUT


def test_an_output_that_is_too_large(tmp_path: Path, home: Path, golden: Sentences) -> None:
    with (home / "out.json").open("wb") as file:
        file.write(b'{"answer": "a"}')
        file.truncate(LARGEST + 2)
    seen = outcome(tmp_path, FROM_FILE, None, home=home)
    assert seen.cause is Cause.UNREADABLE_OUTPUT
    golden(seen.detail or "")


def test_a_text_that_keeps_a_pattern_busy_is_given_up(tmp_path: Path) -> None:
    output = {"format": "text", "answer": {"pattern": BUSY}}
    began = time.process_time()
    seen = read(tmp_path, agent(tmp_path, output=output), "x" * 80)
    assert time.process_time() - began < 10
    assert seen.cause is Cause.UNREADABLE_OUTPUT
    assert seen.detail is not None
    assert seen.detail.endswith("a pattern was given up after 1 s")


def test_a_pattern_has_its_time_once_for_all_requests(tmp_path: Path) -> None:
    tokens = {**TOKENS, "output": {"path": "$.words", "pattern": BUSY}}
    requests = [{"prompt": 7, "cached": 0, "words": "x" * 60}] * 30
    began = time.process_time()
    seen = outcome(tmp_path, {"tokens": tokens}, {"answer": "a", "requests": requests})
    assert time.process_time() - began < 10  # and not 30 s
    assert seen.usage == Usage(input=210, cache_read=0, cache_create=0)


def test_a_pattern_has_its_time_once_for_all_tools(tmp_path: Path) -> None:
    mcp = f"(?P<server>{BUSY})(?P<tool>)"
    tools = {"calls": "$.calls[*]", "offered": "$.calls[*]", "mcp": mcp}
    began = time.process_time()
    seen = outcome(tmp_path, {"tools": tools}, {"answer": "a", "calls": ["sh", *["x" * 60] * 30]})
    assert time.process_time() - began < 10
    assert (seen.tool_calls, seen.tools_offered) == (None, None)


def test_what_a_pattern_found_before_it_was_given_up_is_no_figure(tmp_path: Path) -> None:
    place = {"path": "$.said[*]", "pattern": f"(?P<value>[0-9]+)|{BUSY}"}
    output = {
        "cost": {**place, "take": "sum"},
        "turns": {**place, "take": "count"},
        "tools": {"calls": place},
    }
    seen = outcome(tmp_path, output, {"answer": "a", "said": ["1", "x" * 60, "2"]})
    assert seen.cause is Cause.FINISHED
    assert (seen.cost, seen.turns, seen.tool_calls) == (None, None, None)


def test_more_requests_than_an_agent_makes_are_not_added(tmp_path: Path) -> None:
    requests = [{"prompt": 1, "cached": 0, "completion": 1}] * (MAX_REQUESTS + 1)
    seen = outcome(tmp_path, {"tokens": TOKENS}, {"answer": "a", "requests": requests})
    assert (seen.cause, seen.usage, seen.turn_usage) == (Cause.FINISHED, Usage(), None)


@pytest.mark.parametrize(
    "printed",
    [
        "[tool@1.0] loaded [2] plugins\n{document}\nflushed {{1}}\n",
        "\x1b]0;busy\x07\x1b[2K\x1b[1G\x1b[32m{document}\x1b[0m\n",
        "\ufeffnpm warn {{old}}\r\n{document}\r\n",
    ],
)
def test_the_document_between_other_lines_is_read(tmp_path: Path, printed: str) -> None:
    document = json.dumps({"answer": "In `a.py`."}, indent=2)
    seen = read(tmp_path, agent(tmp_path), printed.format(document=document))
    assert (seen.cause, seen.text) == (Cause.FINISHED, "In `a.py`.")


def test_several_documents_are_no_answer(tmp_path: Path, golden: Sentences) -> None:
    seen = read(tmp_path, agent(tmp_path), '{"answer": "a"}\n{"answer": "b"}\n')
    assert seen.cause is Cause.UNREADABLE_OUTPUT
    assert seen.text is None
    golden(seen.detail or "")


def test_the_document_with_the_answer_counts(tmp_path: Path) -> None:
    for beside in ("{}", '{"level": "info", "msg": "done"}', "[]"):
        for printed in (f'{beside}\n{{"answer": "a"}}\n', f'{{"answer": "a"}}\n{beside}\n'):
            seen = read(tmp_path, agent(tmp_path), printed)
            assert (seen.cause, seen.text) == (Cause.FINISHED, "a")


def test_a_document_behind_words_is_told_from_none(tmp_path: Path) -> None:
    behind = read(tmp_path, agent(tmp_path), 'Answer: {"answer": "a"}\n')
    without = read(tmp_path, agent(tmp_path), "Answer: a\n")
    assert behind.cause is without.cause is Cause.UNREADABLE_OUTPUT
    assert behind.detail != without.detail


@pytest.mark.parametrize("before", ["\x1b]0;title\x07", "\ufeff", "  ", "\x1b[32m", ""])
@pytest.mark.parametrize("after", ["", "  "])
def test_a_document_may_end_with_a_line_behind_marks(
    before: str, after: str, tmp_path: Path
) -> None:
    seen = agent(tmp_path).activity(f'{before}{{"answer": "a"}}{after}'.encode())
    assert seen is not None
    assert seen.over
