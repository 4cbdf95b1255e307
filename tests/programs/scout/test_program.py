"""The program as a foreign agent would be: a process with options, events and an exit code."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders.golden import Sentences
from tests.programs.scout.conftest import FILES, PROGRAM, TASK, Done, citations

Scout = Callable[..., Done]


def test_it_answers_from_what_it_read(scout: Scout, golden: Sentences) -> None:
    done = scout()
    assert (done.code, done.err) == (0, "")
    assert done.events[0]["tools"] == ["Glob", "Grep", "Read"]
    assert done.events[0]["mcp_servers"] == []
    result = done.result
    assert result["subtype"] == "success"
    assert result["is_error"] is False
    assert result["num_turns"] == len(done.calls)
    assert 3 <= result["num_turns"] <= 6
    answer = result["result"]
    golden(answer)


def test_an_agent_without_servers_does_not_pay_for_the_libraries_of_those() -> None:
    seen = "print({'mcp', 'pydantic'} & {*sys.modules})"
    code = f"import sys, swarm_bench.programs.scout.__main__; {seen}"
    done = subprocess.run([PROGRAM[0], "-I", "-c", code], capture_output=True, check=True)
    assert done.stdout == b"set()\n"


def test_every_citation_was_shown_by_a_tool(scout: Scout) -> None:
    done = scout()
    shown: set[tuple[str, int]] = set()
    reads: dict[str, str] = {}
    for event in done.events[:-1]:
        for block in event.get("message", {}).get("content", []):
            if block.get("name") == "Read":
                reads[block["id"]] = block["input"]["file_path"]
            elif block["type"] == "tool_result":
                path = reads.get(block["tool_use_id"])
                for line in block["content"].split("\n"):
                    if path and (read := re.match(r"(\d+)\t", line)):
                        shown.add((path, int(read[1])))
                    elif hit := re.match(r"(.+?):(\d+):", line):
                        shown.add((hit[1], int(hit[2])))
    cited = citations(done.result["result"])
    assert len(cited) > 5
    assert cited <= shown


def test_quoted_lines_are_lines_of_the_files(scout: Scout) -> None:
    answer = scout().result["result"]
    quotes = re.findall(r"`([^`\s]+):(\d+)-(\d+)`\n\n(`{3,})\w*\n(.*?)\n\4", answer, re.DOTALL)
    assert quotes
    for path, first, last, _, text in quotes:
        assert text.split("\n") == FILES[path].split("\n")[int(first) - 1 : int(last)]


def test_the_same_again_is_the_same(scout: Scout) -> None:
    timeless = re.compile(r'"duration(?:_api)?_ms":\d+,|"seconds":[\d.e-]+|"ended":"[^"]*"')
    assert timeless.sub("", scout().out) == timeless.sub("", scout().out)


def test_tokens_are_billed_as_a_chat_api_does(scout: Scout) -> None:
    done = scout()
    usages = {
        event["message"]["id"]: event["message"]["usage"]
        for event in done.events
        if event["type"] == "assistant"
    }
    before = 0
    for usage in usages.values():
        assert usage["input_tokens"] == 0
        assert usage["cache_read_input_tokens"] == before
        before += usage["cache_creation_input_tokens"]
    total = done.result["usage"]
    for key in total:
        assert total[key] == sum(usage[key] for usage in usages.values())
    cost = (
        total["cache_creation_input_tokens"] * 3.75
        + total["cache_read_input_tokens"] * 0.3
        + total["output_tokens"] * 15
    ) / 1e6
    assert done.result["total_cost_usd"] == pytest.approx(cost)
    assert done.result["swarm_bench"] == {
        "token_counter": "utf8-bytes/4",
        "price_table": "prices-2025-10-01",
        "cost_estimated": True,
        "fixed_rules": True,
    }


def test_the_budget_counts_requests(scout: Scout, golden: Sentences) -> None:
    done = scout("--max-turns", "2")
    assert done.code == 1
    assert done.result["subtype"] == "error_max_turns"
    assert done.result["is_error"] is True
    assert done.result["num_turns"] == len(done.calls) == 2
    golden(*done.result["errors"])
    assert done.result["usage"]["output_tokens"] > 0
    assert "result" not in done.result


def test_nothing_relevant_is_said_plainly(scout: Scout, golden: Sentences) -> None:
    answer = scout(prompt="Describe the zygote and its mitochondria.").result["result"]
    golden(answer)
    assert citations(answer) == set()
    golden(scout(prompt="Explain it.").result["result"])


def test_the_other_formats(workspace: Path, scout: Scout) -> None:
    def run(*options: str) -> str:
        done = subprocess.run(
            [*PROGRAM, *options, TASK], cwd=workspace, capture_output=True, check=True
        )
        return done.stdout.decode()

    answer = scout().result["result"]
    assert run("-p") == answer + "\n"
    assert json.loads(run("-p", "--output-format", "json"))["result"] == answer
    events = json.loads(run("-p", "--output-format", "json", "--verbose"))
    assert [event["type"] for event in events[:1] + events[-1:]] == ["system", "result"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--output-format", "stream-json", "x"], "requires --verbose"),
        (["--max-turns", "0", "x"], "--max-turns"),
        (["--model", "opus", "x"], "--model"),
        (["--no-such-option", "x"], "--no-such-option"),
        (["--mcp-config", "missing.json", "--", "x"], "missing.json"),
        (["--mcp-config", '{"a":1}', "--", "x"], "no mcpServers object"),
        (["  "], "there is no prompt"),
    ],
)
def test_a_wrong_command_line(workspace: Path, options: list[str], message: str) -> None:
    done = subprocess.run(
        [*PROGRAM, "-p", *options], cwd=workspace, capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == b""
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_prompt_on_standard_input(workspace: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "-p"], cwd=workspace, input=TASK.encode(), capture_output=True, check=True
    )
    assert b"AuthMiddleware" in done.stdout


def test_tools_can_be_left_out(scout: Scout) -> None:
    assert scout("--tools", "Grep,Read").events[0]["tools"] == ["Grep", "Read"]
    assert scout("--disallowedTools", "Read").events[0]["tools"] == ["Glob", "Grep"]


def test_a_reader_that_goes_away_gives_no_traceback(workspace: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "-p", TASK], cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


@pytest.mark.parametrize(
    ("number", "code", "last"),
    [(signal.SIGTERM, 143, "user"), (signal.SIGINT, 0, "error_during_execution")],
)
def test_signals(workspace: Path, number: signal.Signals, code: int, last: str) -> None:
    # Enough to search that the signal comes in the middle of it.
    for index in range(1500):
        (workspace / f"m{index}.py").write_text("auth " * 20_000, encoding="utf-8")
    stream = ["-p", "--output-format", "stream-json", "--verbose"]
    process = subprocess.Popen(
        [*PROGRAM, *stream, TASK],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    events = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == code
    assert err == b""
    results = [event for event in events if event["type"] == "result"]
    if number is signal.SIGTERM:
        assert results == []
    else:
        assert results[0]["subtype"] == last
        assert results[0]["num_turns"] == 1
        assert results[0]["usage"]["cache_creation_input_tokens"] > 0
