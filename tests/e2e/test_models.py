"""`run` with models as arms: code generation, from the command to the files of a session."""

import json
import os
import shutil
import signal
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.engine.lines import add_checksum
from tests.builders.chat import Chat, State, chatting, fails, says
from tests.builders.golden import Sentences, parts
from tests.builders.packages import block
from tests.e2e.conftest import Bench, Done

CODE = ("--allow-code-execution", "--environment", "unconfined", "--quiet")
OUT = ("--output", "out")
KEY = "sk-model-1234567890"


def run(bench: Bench, *words: str, **env: str) -> Done:
    return bench.call("run", *words, env=env)


def records(bench: Bench, folder: str = "out") -> list[dict[str, Any]]:
    content = (bench.folder / folder / "metrics.jsonl").read_text()
    return [json.loads(line) for line in content.splitlines()]


def stored(bench: Bench, name: str) -> Any:
    return json.loads((bench.folder / "out" / name).read_text())


@pytest.mark.skipif(
    shutil.which("bwrap") is None and not os.environ.get("NEED_BWRAP"),
    reason="bubblewrap is not installed: NOT TESTED",
)
def test_the_answers_of_the_data_sets_pass_within_bubblewrap(bench: Bench) -> None:
    done = run(bench, "humaneval", "--models", "reference", "--limit", "20:4", "--runs", "1",
               "--allow-code-execution", "--quiet", *OUT)  # fmt: skip
    assert done.code == 0, done.err
    assert [record["scores"] for record in records(bench)] == [
        {"passed": True, "end": "passed"}
    ] * 4
    assert "bubblewrap" in stored(bench, "experiment.json")["confinement"]
    assert "**Code:** bubblewrap" in done.out
    assert "cases 20 to 23" in done.out


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("benchmark", "property", "passing", "cases"),
    [
        ("apps", "way=text", 9, 10),
        ("apps", "way=chat", 9, 10),
        ("humaneval", "way=text", 164, 164),
        ("humaneval", "way=chat", 164, 164),
        ("mbpp", "way=text", 500, 500),
        ("mbpp", "way=chat", 500, 500),
        ("mbpp", "style=google", 500, 500),
        ("mbpp", "parity=true", 498, 500),
    ],
)
def test_every_answer_of_the_data_sets_passes(
    bench: Bench, benchmark: str, property: str, passing: int, cases: int
) -> None:
    done = run(bench, benchmark, "--models", "reference", "-p", property, *CODE, *OUT)
    assert done.code == 0, done.err
    scores = {record["case"]: record["scores"] for record in records(bench)}
    assert len(scores) == cases
    if benchmark == "apps":  # the tests of one of them cannot be read
        assert scores.pop("6")["passed"] is None
        assert all(score["passed"] for score in scores.values())
        return
    ends = {case: score["end"] for case, score in scores.items()}
    failed = {case: end for case, end in ends.items() if end != "passed"}
    if property == "parity=true":  # 123 takes three seconds, which is the limit
        assert failed.pop("367") == "failed"
        assert failed in ({}, {"123": "timeout"})
    else:
        assert not failed
        assert len(ends) == passing


def test_a_session_says_what_was_asked_and_grows(bench: Bench, golden: Sentences) -> None:
    done = run(bench, "humaneval", "--limit", "6", *CODE, *OUT)
    assert done.code == 0, done.err
    first = records(bench)
    assert len(first) == 12
    golden(parts(done.out))
    record = first[0]
    lines = (bench.folder / "out/prompts.jsonl").read_text().splitlines()
    prompts = [json.loads(line) for line in lines]
    asked = next(it for it in prompts if it["sha256"] == record["prompt_sha256"])
    assert (asked["case"], asked["arms"]) == (record["case"], ["reference", "copy"])
    assert "\ndef" in asked["sampling"]["stop"]
    for more, count in (
        ("--runs 2", 12),  # both answer the same in every run
        ("--limit 8", 16),
        ("--models generations:out/g.json", 32),
    ):
        if "generations" in more:
            answers = [texts * 2 for texts in stored(bench, "generations/reference.json")]
            (bench.folder / "out/g.json").write_text(json.dumps(answers))
        done = run(bench, "humaneval", "--continue", "out", *more.split(), *CODE)
        assert done.code == 0, done.err
        assert len(records(bench)) == count
    assert [it for it in records(bench) if it in first] == first
    figures = stored(bench, "results.json")["humaneval"]
    assert figures["generations:out/g.json"] == figures["reference"]
    assert figures["reference"]["pass_at_1"] == 1.0
    (one,) = [
        it
        for it in stored(bench, "results.json")["measures"]
        if (it["arm"], it["measure"]) == ("reference", "pass_at_1")
    ]
    assert (one["value"], one["high"], one["cases"]) == (1.0, 1.0, 8)
    assert one["low"] == pytest.approx(0.676, abs=1e-3)  # Wilson's
    assert one["part"] is None
    assert len(stored(bench, "references.json")) == 8
    assert [len(texts) for texts in stored(bench, "generations/copy.json")] == [1] * 8


def test_other_data_and_properties_are_refused(bench: Bench) -> None:
    assert run(bench, "humaneval", "--limit", "2", *CODE, *OUT).code == 0
    rows = bench.folder / "rows.jsonl"
    rows.write_text(json.dumps({"task_id": "a", "prompt": "def a():\n", "canonical_solution":
                                "  return 1", "test": "", "entry_point": "a"}))  # fmt: skip
    for words, error in (
        (("--dataset", str(rows)), "begun with other rows"),
        (("-p", "timeout=3"), "keeps its properties"),
        (("--limit", "1"), "give more of them"),
        (("--environment", "local"), "ran its code otherwise"),
        (("--runs", "0"), "at least 1"),
    ):
        done = run(bench, "humaneval", "--continue", "out", *CODE, *words)
        assert (done.code, error in done.err) == (2, True), done.err
    assert len(records(bench)) == 4


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("humanevall", "did you mean 'humaneval'"),
        ("humaneval", "allow it with --allow-code-execution"),
        ("humaneval --models referenc {code}", "did you mean 'reference'"),
        ("humaneval --models openai:m {code}", "set OPENAI_API_KEY"),
        ("humaneval --models http://127.0.0.1:1/v1 {code}", "names no model"),
        ("humaneval --models http://[/v1#m {code}", "http://[/v1 is no address of a server"),
        ("humaneval --models llamacpp:http://[ {code}", "http://[ is no address of a server"),
        ("humaneval --models llamacpp: {code}", "The empty text is no address"),
        ("humaneval --models ollama: {code}", "ollama: names no model; write it behind the colon"),
        ("humaneval --models openai: {code}", "openai: names no model"),
        ("humaneval --models anthropic: {code}", "anthropic: names no model"),
        ("humaneval --models http://example.com/v1#m {code}", "unencrypted"),
        ("humaneval --models no_module:Model {code}", "cannot be loaded"),
        ("humaneval --models generations:nowhere.json {code}", "cannot be read"),
        ("humaneval --vary temprature=1 {code}", "did you mean 'temperature'"),
        ("humaneval --vary temperature=x {code}", "must be a number"),
        ("humaneval --vary temperature {code}", "NAME=VALUE,VALUE"),
        ("humaneval -p timeout=0 {code}", "must be more than 0"),
        ("humaneval -p way=gap {code}", "way=gap"),
        ("humaneval --limit 0 {code}", "must be N or START:N"),
        ("humaneval --limit 200:5 {code}", "has 164 cases"),
        ("humaneval --dataset nothing {code}", "no data set called"),
        ("humaneval --dataset nowhere.jsonl {code}", "cannot be read"),
        ("humaneval --allow-code-execution --environment locall", "did you mean 'local'"),
        ("humaneval --allow-code-execution=False", "does not take a value"),
        ("swarm --models reference", "commands of its own"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(
    bench: Bench, words: str, error: str
) -> None:
    allowed = "--allow-code-execution --environment unconfined"
    done = run(bench, *words.replace("{code}", allowed).split(), MODEL_API_KEY=KEY)
    assert done.code == 2, done.out + done.err
    assert error in done.err
    assert not (bench.folder / "results").exists()


def test_properties_are_set_where_options_are(bench: Bench) -> None:
    """Each with its source; the first one wins, and a session keeps them."""
    (bench.folder / ".env").write_text("SWARM_BENCH_PROPERTY_TOP_P=0.5\n")
    (bench.folder / "swarm-bench.toml").write_text(
        "runs = 3\n[humaneval]\ntop-p = 0.1\nmax-tokens = 7\ntimeout = 9.0\n"
    )
    (bench.folder / "way").write_text("chat")
    words = ("humaneval", "--limit", "1", "--generate-only", "--quiet", "-p", "timeout=8")
    variables = {"SWARM_BENCH_PROPERTY_TEMPERATURE": "0.3"}
    done = run(bench, *words, "-p", "way=@way", *OUT, **variables)
    assert done.code == 0, done.err
    experiment = stored(bench, "experiment.json")
    own = experiment["properties"]
    assert experiment["runs"] == 3
    assert (own["timeout"], own["temperature"], own["top_p"]) == (8, 0.3, 0.5)
    assert (own["max_tokens"], own["way"], own["parity"]) == (7, "chat", False)
    assert experiment["property_sources"] == {
        "timeout": "command line", "way": "command line", "temperature": "environment",
        "top_p": ".env", "max_tokens": "file",
    }  # fmt: skip
    (bench.folder / ".env").unlink()
    again = run(bench, "humaneval", "--continue", "out", "--runs", "4", "--quiet")
    assert (again.code, stored(bench, "experiment.json")["properties"]) == (0, own), again.err
    for name, error in (("TEMPERATUR", "did you mean 'temperature'"), ("TOP_P", "at most 1 (from")):
        done = run(bench, *words, **{f"SWARM_BENCH_PROPERTY_{name}": "2"})
        assert (done.code, error in done.err) == (2, True), done.err
    assert bench.call("compare", "--plan").code == 0  # the table is for others


def test_a_data_set_of_ones_own_names_the_line_of_what_is_wrong(
    bench: Bench, golden: Sentences
) -> None:
    row = {"task_id": "a", "prompt": "def a():\n", "canonical_solution": "  return 1\n",
           "test": "def check(f):\n  assert f() == 1", "entry_point": "a"}  # fmt: skip
    rows = bench.folder / "rows.jsonl"
    words = ("humaneval", "--models", "reference", "--dataset", "rows.jsonl", *CODE)
    rows.write_text(f"{json.dumps(row)}\n{json.dumps({**row, 'test': 1})}\n")
    golden(run(bench, *words).err)
    rows.write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n")
    golden(run(bench, *words).err)
    rows.write_text(json.dumps(row))
    done = run(bench, *words, *OUT)
    assert (done.code, records(bench)[0]["scores"]["passed"]) == (0, True)


def answered(chat: Chat) -> State:
    """Answer as a model that knows one function, and is busy at first."""
    if len(chat.bodies) == 1:
        return fails(429, "slow down", Retry_After="1")
    return says("```python\ndef has_close_elements(n, t):\n    return True\n```", model="m-1")


def test_a_server_is_asked_with_its_key_and_retries_are_counted(bench: Bench) -> None:
    with chatting(answered) as chat:
        word = f"{chat.url}/v1#m-1"
        words = ("--models", word, "reference", "-p", "way=chat", "--limit", "2")
        once = ("--concurrency", "1")
        done = run(bench, "humaneval", *words, *once, *CODE, *OUT, MODEL_API_KEY=KEY)
        assert done.code == 0, done.err
    assert {header["authorization"] for header in chat.headers} == {f"Bearer {KEY}"}
    body = chat.bodies[-1]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m-1", 0.2, 512)
    own = [record for record in records(bench) if record["arm"] == word]
    assert [record["retries"] for record in own] == [1, 0]
    assert {record["input_tokens"] for record in own} == {60}
    assert {record["model"] for record in own} == {"m-1"}
    assert all(record["wall_seconds"] < 1 for record in own)  # to wait is no work of a model's
    files = [path for path in (bench.folder / "out").rglob("*") if path.is_file()]
    assert not [path for path in files if KEY in path.read_text()]


def test_exaggerations_of_a_server_are_missing(bench: Bench) -> None:
    usage = {"prompt_tokens": 10**15, "completion_tokens": 3}
    with chatting(lambda _: says("no code", model="m" * 100_000, usage=usage)) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--limit", "1")
        done = run(bench, "humaneval", *words, *CODE, *OUT)
    assert done.code == 0, done.err
    (record,) = records(bench)
    assert record["model"] == "m" * 500
    assert (record["input_tokens"], record["output_tokens"]) == (None, 3)
    assert bench.call("report", "out").code == 0


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        (fails(401, "bad key"), "not-authorized"),
        (fails(404, "no such model"), "unknown-model"),
        (fails(400, "maximum context length is 10"), "context-overflow"),
        (fails(400, "no"), "provider-failed"),
        (fails(402, "pay"), "no-credit"),
        (fails(429, "insufficient_quota"), "no-credit"),
        (fails(308, Location="https://a.example/v1/chat/completions"), "wrong-address"),
        (fails(405), "wrong-address"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_server_refuses_has_its_cause(
    bench: Bench, state: State, cause: str, golden: Sentences
) -> None:
    with chatting(lambda _: state) as chat:
        done = run(bench, "humaneval", "--models", f"{chat.url}/v1#m", "-p", "way=chat",
                   "--limit", "1", *CODE, *OUT)  # fmt: skip
    assert done.code == (2 if cause == "wrong-address" else 3), done.err
    assert [record["cause"] for record in records(bench)] == [cause]
    if cause not in ("context-overflow", "provider-failed"):  # as every other trial would
        golden(done.err)


def test_a_key_that_is_refused_ends_the_session_at_once(bench: Bench) -> None:
    with chatting(lambda _: fails(401, "bad key")) as chat:
        done = run(bench, "humaneval", "--models", f"{chat.url}/v1#m", "-p", "way=chat",
                   "--concurrency", "1", *CODE, *OUT, MODEL_API_KEY=KEY)  # fmt: skip
    assert (done.code, len(chat.bodies), len(records(bench))) == (3, 1, 1)
    assert KEY not in done.err


@pytest.mark.parametrize("state", [401, 402, 404, 405], ids=str)
def test_answers_that_are_under_way_when_a_session_ends_are_kept(bench: Bench, state: int) -> None:
    """They are paid for, and are being scored."""

    def answer(chat: Chat) -> State:
        if len(chat.bodies) == 4:
            return fails(state, "no more")
        return says("```python\nimport time\ntime.sleep(1)\n```")

    with chatting(answer) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--concurrency", "4")
        done = run(bench, "humaneval", *words, "--limit", "8", *CODE, *OUT)
        assert len(chat.bodies) == 4
    assert done.code == (2 if state == 405 else 3), done.err
    assert sorted(record["cause"] for record in records(bench))[:3] == ["finished"] * 3


def test_with_fail_fast_the_first_failure_ends_the_session(bench: Bench) -> None:
    with chatting(lambda _: fails(400, "no")) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--concurrency", "1")
        done = run(bench, "humaneval", *words, "--fail-fast", *CODE, *OUT)
        assert (done.code, len(chat.bodies)) == (3, 1)
        assert "failed in HumanEval/0" in done.err
        assert len(run(bench, "humaneval", "--limit", "3", *words, *CODE).err) > 0
    assert len(chat.bodies) == 4


def test_models_vary_in_a_property(bench: Bench) -> None:
    with chatting(lambda _: says("no code")) as chat:
        word = f"{chat.url}/v1#m"
        done = run(bench, "humaneval", "--models", word, "-p", "way=chat", "--vary",
                   "temperature=0.2,0.8", "--limit", "1", *CODE, *OUT)  # fmt: skip
    assert done.code == 0, done.err
    assert {body["temperature"] for body in chat.bodies} == {0.2, 0.8}
    arms = {record["arm"] for record in records(bench)}
    assert arms == {f"{word} temperature=0.2", f"{word} temperature=0.8"}


def test_answers_alone_need_no_permission(bench: Bench, golden: Sentences) -> None:
    done = run(bench, "humaneval", "--limit", "2", "--generate-only", "--quiet", *OUT)
    assert done.code == 0, done.err
    assert {record["scores"] for record in records(bench)} == {None}
    golden(parts(done.out))
    refused = bench.call("rescore", "out")
    assert (refused.code, "--allow-code-execution" in refused.err) == (2, True)
    before = (bench.folder / "out/metrics.jsonl").read_bytes()
    again = bench.call("rescore", "out", *CODE[:-1])
    assert again.code == 0, again.err
    assert (bench.folder / "out/metrics.jsonl").read_bytes() == before
    assert stored(bench, "results.json")["humaneval"]["reference"]["pass_at_1"] == 1.0
    assert "No answer was scored" not in bench.call("report", "out").out
    grown = run(bench, "humaneval", "--continue", "out", "--limit", "4", "--quiet")
    assert (grown.code, len(records(bench))) == (0, 8), grown.err


def test_a_key_among_the_properties_reaches_no_request_on_disk(bench: Bench) -> None:
    (bench.folder / "shots").write_text(f"\nQUESTION:\nUse {KEY}\nANSWER:\npass\n" * 2)
    done = run(bench, "apps", "--models", "reference", "--limit", "1", "-p", "setup=few-shot",
               "-p", "shots=@shots", *CODE, *OUT, OPENAI_API_KEY=KEY)  # fmt: skip
    assert done.code == 0, done.err
    files = [path for path in (bench.folder / "out").rglob("*") if path.is_file()]
    assert not [path for path in files if KEY in path.read_text()]


def test_a_key_that_a_server_repeats_reaches_no_file(bench: Bench) -> None:
    with chatting(lambda _: says(f"```python\n# {KEY}\n```", model=f"m {KEY}")) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--limit", "1")
        done = run(bench, "humaneval", *words, *CODE, *OUT, MODEL_API_KEY=KEY)
    assert done.code == 0, done.err
    files = [path for path in (bench.folder / "out").rglob("*") if path.is_file()]
    assert not [path for path in files if KEY in path.read_text()]


def test_two_models_that_do_nothing_are_not_said_to_be_equal(
    bench: Bench, golden: Sentences
) -> None:
    (bench.folder / "nothing.json").write_text(json.dumps([["pass"]] * 40))
    done = run(bench, "humaneval", "--models", "copy", "generations:nothing.json", "--limit", "40",
               *CODE, *OUT)  # fmt: skip
    golden(parts(done.out))


BROKEN = """
    from swarm_bench.benchmarks.humaneval import HumanEval

    class Broken(HumanEval):
        \"\"\"Cannot score.\"\"\"

        name = "broken"

        async def score(self, case, prediction, tools):
            raise ZeroDivisionError(case.id)
"""


def test_an_answer_that_cannot_be_scored_was_paid_for_and_is_kept(bench: Bench) -> None:
    (bench.folder / "own.py").write_text(textwrap.dedent(BROKEN))
    with chatting(lambda _: says("no code", model="m")) as chat:
        done = run(bench, "own:Broken", "--models", f"{chat.url}/v1#m", "-p", "way=chat",
                   "--limit", "1", *CODE, *OUT)  # fmt: skip
    assert done.code == 3, done.err
    (record,) = records(bench)
    assert (record["cause"], record["answer"]) == ("adapter-failed", "no code")
    assert record["detail"] == "own.py, line 10: ZeroDivisionError: HumanEval/0"
    assert record["input_tokens"] == 60


def test_parts_of_requests_that_a_provider_refuses_are_a_warning(
    bench: Bench, golden: Sentences
) -> None:
    def picky(chat: Chat) -> State:
        refused = "temperature" in chat.bodies[-1]
        return fails(400, "no temperature, please") if refused else says("no code")

    with chatting(picky) as chat:
        done = run(bench, "humaneval", "--models", f"{chat.url}/v1#m", "--vary",
                   "temperature=0.2,0.8", "-p", "way=chat", "--limit", "2", *CODE,
                   *OUT)  # fmt: skip
    assert done.code == 0, done.err
    assert [record["omitted"] for record in records(bench)] == [["temperature"]] * 4
    golden(parts(done.out))


def test_a_model_that_gives_up_passes_nothing(bench: Bench, golden: Sentences) -> None:
    def short(chat: Chat) -> State:
        first = len(chat.bodies) == 1
        return says("no code") if first else fails(400, "maximum context length is 10")

    with chatting(short) as chat:
        done = run(bench, "humaneval", "--models", "reference", f"{chat.url}/v1#m", "-p",
                   "way=chat", "--limit", "8", *CODE, *OUT)  # fmt: skip
    assert done.code == 0, done.err
    golden(parts(done.out))


@pytest.mark.parametrize("state", [fails(400, "maximum context length is 10"), says(None)])
def test_a_model_without_one_answer_has_no_verdict(
    bench: Bench, state: State, golden: Sentences
) -> None:
    if state[0] == 200:
        message = {"content": None, "reasoning_content": "Let me see."}
        state = says(None, choices=[{"message": message, "finish_reason": "stop"}])
    with chatting(lambda _: state) as chat:
        done = run(bench, "humaneval", "--models", "reference", f"{chat.url}/v1#m", "-p",
                   "way=chat", "--limit", "8", *CODE, *OUT)  # fmt: skip
    assert done.code == (3 if state[0] == 400 else 0)
    golden(parts(done.out))
    golden(done.err)


def test_answers_that_are_under_way_when_the_money_ends_are_kept(bench: Bench) -> None:
    """Those that came before are still being scored then."""

    def answer(chat: Chat) -> State:
        return fails(402, "pay first") if len(chat.bodies) == 5 else says("no code")

    with chatting(answer) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--concurrency", "5")
        done = run(bench, "humaneval", *words, *CODE, *OUT)
    assert done.code == 3
    causes = [record["cause"] for record in records(bench)]
    assert (causes.count("finished"), causes.count("no-credit")) == (len(chat.bodies) - 1, 1)


def test_what_an_earlier_version_counted_as_wrong_is_missing_and_asked_again(
    bench: Bench, golden: Sentences
) -> None:
    with chatting(lambda _: says("```python\npass\n```")) as chat:
        words = ("--models", "reference", f"{chat.url}/v1#m", "-p", "way=chat", "--limit", "8")
        assert run(bench, "humaneval", *words, *CODE, *OUT).code == 0
        path = bench.folder / "out" / "metrics.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        own = [line for line in lines if line["arm"] != "reference"]
        for line in own[4:]:
            detail = f'm at {chat.url}/v1 answers with HTTP 402 ("pay first")'
            line |= {"status": "agent-failed", "cause": "error-result", "detail": detail}
            line |= {"answer": None, "scores": None, "finish": None}
        for line in lines:
            del line["sha256"]
        path.write_bytes(b"".join(add_checksum(json.dumps(it)) + b"\n" for it in lines))
        report = bench.call("report", "out")
        assert report.code == 0, report.err
        golden(parts(report.out))
        assert "4 of 8 cases" in report.out
        asked = len(chat.bodies)
        again = run(bench, "humaneval", "--continue", "out", *CODE)
        assert (again.code, len(chat.bodies) - asked) == (0, 4), again.err
    assert {record["cause"] for record in records(bench)} == {"finished"}


def test_an_account_that_is_used_up_makes_no_model_worse(bench: Bench) -> None:
    """Of two equal models, the second one's has nothing from the fifth of eight cases on."""

    def answer(chat: Chat) -> State:
        seconds = [body for body in chat.bodies if body["model"] == "b"]
        used_up = chat.bodies[-1]["model"] == "b" and len(seconds) > 4 and not paid
        return fails(402, "pay first") if used_up else says("```python\npass\n```")

    paid: list[bool] = []
    with chatting(answer) as chat:
        words = ("--models", f"{chat.url}/v1#a", f"{chat.url}/v1#b", "-p", "way=chat")
        done = run(bench, "humaneval", *words, "--limit", "8", "--concurrency", "1", *CODE, *OUT)
        assert (done.code, ": no verdict.**" in done.out) == (3, True), done.out
        ended = [record["cause"] for record in records(bench) if record["arm"].endswith("b")]
        assert ended[:4] == ["finished"] * 4
        assert set(ended[4:]) <= {"no-credit", "interrupted"}
        paid.append(True)
        rest = run(bench, "humaneval", "--continue", "out", *CODE)
    assert rest.code == 0, rest.err
    assert {record["cause"] for record in records(bench)} == {"finished"}


def test_a_model_that_takes_too_long_passes_nothing(bench: Bench) -> None:
    def slow(chat: Chat) -> State:
        time.sleep(0.4)
        return says("x")

    with chatting(slow) as chat:
        words = ("apps", "--models", "reference", f"{chat.url}/v1#m", "-p", "way=chat")
        done = run(bench, *words, "--timeout", "0.1", *CODE, *OUT)
    assert done.code == 3, done.err
    assert ": no verdict.**" in done.out
    ends = {record["cause"] for record in records(bench) if record["arm"] != "reference"}
    assert ends == {"timeout"}
    figures = stored(bench, "results.json")["apps"][f"{chat.url}/v1#m"]
    assert (figures["pass_at_1"], figures["avg_accuracy"], figures["strict_accuracy"]) == (0, 0, 0)


def test_scores_by_an_environment_that_confines_nothing_are_said_to_be(
    bench: Bench, golden: Sentences
) -> None:
    assert run(bench, "humaneval", "--limit", "2", "--generate-only", "--quiet", *OUT).code == 0
    done = bench.call("rescore", "out", "--allow-code-execution", "--environment", "unconfined")
    assert done.code == 0, done.err
    golden("\n".join(line for line in done.out.splitlines() if line.startswith("> ")))


@pytest.mark.parametrize(
    "words",
    [
        "apps --vary level=introductory,interview",
        "completion --vary seed=1,2",
        "labels --vary task=defect,complexity",
        "humaneval --models copy copy",
        "humaneval --runs 1000 --limit 160",
    ],
)
def test_a_session_that_cannot_be_is_refused(words: str, bench: Bench, golden: Sentences) -> None:
    done = run(bench, *words.split(), *CODE, *OUT)
    assert done.code == 2
    golden(done.err)


def test_prices_that_are_added_later_count(bench: Bench) -> None:
    with chatting(lambda _: says("no code", model="m")) as chat:
        word = f"{chat.url}/v1#m"
        words = ("humaneval", "--models", word, "-p", "way=chat", "--limit", "1", *CODE)
        assert run(bench, *words, *OUT).code == 0
        (bench.folder / "prices.toml").write_text(
            '["m"]\ninput = 3.0\ncache_write = 3.0\ncache_read = 0.3\noutput = 15.0\n'
        )
        assert run(bench, "humaneval", "--continue", "out", "--runs", "2", *CODE).code == 0
    assert [record["cost"] is None for record in records(bench)] == [True, False]


def test_two_sessions_are_compared(bench: Bench, golden: Sentences) -> None:
    words = ("humaneval", "--limit", "12", *CODE)
    assert run(bench, *words, "--models", "reference", "copy", "--output", "a").code == 0
    answers = json.loads((bench.folder / "a/generations/reference.json").read_text())
    worse = [texts if at < 5 else ["no code"] for at, texts in enumerate(answers)]
    (bench.folder / "answers.json").write_text(json.dumps(worse))
    other = ("--models", "copy", "generations:answers.json", "-p", "temperature=0.5")
    assert run(bench, *words, *other, "--output", "b").code == 0
    (bench.folder / "answers.json").write_text(json.dumps(answers))
    assert run(bench, *words, *other, "--output", "c").code == 0
    done = bench.call("diff", "b", "c")
    assert done.code == 0, done.err
    golden(parts(done.out, "What it came to"))
    assert "To compare two arms, run both in one session." in done.out
    done = bench.call("diff", "a", "b")
    assert done.code == 0, done.err
    golden(parts(done.out, "What differs", "What it came to"))
    assert bench.call("diff", "c", "b").out.count("in B is worse than in A") == 1
    assert run(bench, "humaneval", "--limit", "3", *CODE, "--output", "d").code == 0
    for others, error in ((("a", "a"), "the same one"), (("a", "d"), "9 cases in A alone")):
        done = bench.call("diff", *others)
        assert (done.code, error in done.err) == (2, True), done.err


def test_sessions_of_other_questions_are_not_compared(bench: Bench) -> None:
    for seed in "12":
        words = ("completion", "--models", "copy", "empty", "-p", f"seed={seed}", "--quiet")
        assert run(bench, *words, "--output", seed).code == 0
    done = bench.call("diff", "1", "2")
    assert (done.code, "had another right answer in B" in done.err) == (2, True), done.err


PROMPTS = """
    from swarm_bench.benchmarks.humaneval import HumanEval
    from swarm_bench.core.session.models import Arm

    class Prompts(HumanEval):
        \"\"\"Two prompts, and a third one once the others are known.\"\"\"

        name = "prompts"
        prompt: str = "short"

        def arms(self, models):
            return [arm(model.model, name) for model in models for name in ("short", "long")]

        async def next_arms(self, arms, records, tools, cases):
            assert {record.arm for record in records} == {arm.name for arm in arms}
            passed = [record.arm for record in records if record.scores["passed"]]
            return [arm(arms[0].model, "best")] if passed and len(arms) < 3 else []

    def arm(model, name):
        return Arm(name=f"{model} {name}", model=model, properties={"prompt": name})
"""


def test_a_benchmark_makes_arms_of_models_and_adds_others(bench: Bench) -> None:
    (bench.folder / "own.py").write_text(textwrap.dedent(PROMPTS))
    words = ("own:Prompts", "--models", "reference", "--limit", "2", *CODE)
    done = run(bench, *words, *OUT)
    assert done.code == 0, done.err
    arms = ["reference short", "reference long", "reference best"]
    assert [arm["name"] for arm in stored(bench, "experiment.json")["models"]] == arms
    assert sorted({record["arm"] for record in records(bench)}) == sorted(arms)
    assert len(records(bench)) == 6
    again = run(bench, "own:Prompts", "--continue", "out", "--limit", "4", *CODE)
    assert again.code == 0, again.err
    assert len(records(bench)) == 12


@pytest.mark.parametrize(
    ("arm", "error"),
    [
        ('Arm(name="a", model="copy")', "asks copy, which was not named"),
        ('Arm(name="a", model="reference", properties={"p": 1})', "sets p, which is no property"),
        ('"a"', "'a' is no Arm"),
    ],
)
def test_an_arm_that_cannot_be_asked_is_refused(arm: str, error: str, bench: Bench) -> None:
    text = textwrap.dedent(PROMPTS).replace("arm(model.model, name) for model", f"{arm} for model")
    (bench.folder / "own.py").write_text(text)
    done = run(bench, "own:Prompts", "--models", "reference", "--limit", "1", *CODE, *OUT)
    assert (done.code, error in done.err) == (2, True), done.err
    assert not (bench.folder / "out").exists()


def test_a_session_is_continued_by_its_id_or_as_the_newest(bench: Bench, golden: Sentences) -> None:
    words = ("humaneval", "--limit", "1", *CODE)
    for folder in ("results/first", "results/second"):
        assert run(bench, *words, "--output", folder).code == 0
    session = json.loads((bench.folder / "results/first/experiment.json").read_text())["session"]
    assert run(bench, "humaneval", "--continue", session, "--limit", "2", *CODE).code == 0
    assert (len(records(bench, "results/first")), len(records(bench, "results/second"))) == (4, 2)
    assert run(bench, "humaneval", "--continue", "--limit", "3", *CODE).code == 0
    assert len(records(bench, "results/first")) == 6  # which was written to last
    done = run(bench, "humaneval", "--continue", "01234567", *CODE)
    assert done.code == 2
    golden(done.err)
    done = run(bench, "mbpp", "--continue", *CODE)
    assert done.code == 2
    golden(done.err)


def test_a_case_is_shown_as_it_is_asked(bench: Bench) -> None:
    shown = bench.call("benchmarks", "show", "humaneval", "--case", "HumanEval/0")
    assert "== stop words\n'\\nclass'" in shown.out
    content = json.loads(bench.call("benchmarks", "show", "mbpp", "--case", "11", "--json").out)
    assert content["text"]["prompt"].startswith('"""\nWrite a python function')
    assert content["chat"]["reference"].startswith("```python\ndef remove_Occ")
    assert "oddities" in bench.call("benchmarks", "show", "mbpp").out.lower()


def test_a_case_is_shown_as_each_arm_is_asked_it(bench: Bench) -> None:
    words = ("benchmarks", "show", "mbpp", "--case", "11", "--models", "copy",
             "llamacpp:http://127.0.0.1:9", "--vary", "style=incoder,google")  # fmt: skip
    arms = json.loads(bench.call(*words, "--json").out)
    assert list(arms) == [
        f"{model} style={style}"
        for model in ("copy", "llamacpp:http://127.0.0.1:9")
        for style in ("incoder", "google")
    ]
    prompts = [arm["prompt"] for arm in arms.values()]
    assert prompts[0] == prompts[2] != prompts[1] == prompts[3]
    shown = bench.call(*words, "-p", "way=chat").out
    assert shown.count("=== ") == 4
    assert "=== copy style=google\n== asked as chat" in shown
    refused = bench.call(*words, "--models", "anthropic:claude", "-p", "way=text")
    assert refused.code == 2
    assert "mbpp can ask this model by chat" in refused.err


def test_models_and_data_sets_are_listed(bench: Bench) -> None:
    assert "openai:MODEL" in bench.call("models").out
    assert "CC BY 4.0" in bench.call("datasets").out


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_killed_three_times_it_has_the_records_of_a_quiet_one(bench: Bench) -> None:
    words = ("run", "humaneval", "--limit", "40", *CODE)
    assert bench.call(*words, "--output", "quiet").code == 0
    again = [*words, "--output", "out"]
    for _ in range(3):
        before = _lines(bench)
        process = bench.start(*again)
        while _lines(bench) < before + 10 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        again = ["run", "humaneval", "--continue", "out", *CODE]
    assert bench.call(*again).code == 0
    assert _told(records(bench)) == _told(records(bench, "quiet"))
    # An empty one may stay, of a session that was killed before it had marked it.
    assert not list((bench.folder / "tmp").glob("swarm-bench-*/code"))


def _lines(bench: Bench) -> int:
    file = bench.folder / "out" / "metrics.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def _told(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the records by trial, without what differs between any two sessions."""
    differs = {"session", "started_at", "ended_at", "wall_seconds", "sha256", "attempt"}
    told = {line["trial"]: {k: v for k, v in line.items() if k not in differs} for line in lines}
    assert len(told) == len(lines)
    return told


def test_a_link_where_answers_go_is_set_aside(bench: Bench, tmp_path: Path) -> None:
    assert run(bench, "humaneval", "--limit", "1", *CODE, *OUT).code == 0
    shutil.rmtree(bench.folder / "out/generations")
    (bench.folder / "out/generations").symlink_to(tmp_path)
    assert run(bench, "humaneval", "--continue", "out", "--runs", "2", *CODE).code == 0
    assert not list(tmp_path.glob("*.json"))


def test_the_example_of_the_page_is_a_benchmark(bench: Bench) -> None:
    code = block("../benchmarks", "python")
    assert len(code.splitlines()) <= 40
    (bench.folder / "my_sums.py").write_text(code)
    rows = ({"id": str(n), "sum": f"{n} + {n}", "result": 2 * n} for n in range(8))
    (bench.folder / "sums.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = run(bench, "my_sums:Sums", "--vary", "polite=false,true", "--models", "reference",
               "copy", "--quiet", *OUT)  # fmt: skip
    assert done.code == 0, done.err
    scores = {record["arm"]: record["scores"] for record in records(bench)}
    assert set(scores) == {f"{it} polite={value}" for it in ("reference", "copy")
                           for value in ("false", "true")}  # fmt: skip
    assert scores["reference polite=true"] == {"passed": True}
    assert "Sums of two numbers" in bench.call("benchmarks", "show", "my_sums:Sums").out


OWN_ROWS = """
from swarm_bench.core.roles.dataset import RawRows

open("loaded", "a").write("x")


class Rows:
    about, licence, source, published = "Sums.", "MIT", "ours", None

    def load(self):
        rows = ({"id": str(n), "sum": f"{n} + {n}", "result": 2 * n} for n in range(8))
        return RawRows.of(rows)
"""


def own_classes(bench: Bench) -> tuple[str, ...]:
    (bench.folder / "my_sums.py").write_text(block("../benchmarks", "python"))
    (bench.folder / "my_rows.py").write_text(OWN_ROWS)
    return "my_sums:Sums", "--dataset", "my_rows:Rows", "--models", "reference", "copy", "--quiet"


def test_a_session_of_own_classes_is_used_as_any_other(bench: Bench, golden: Sentences) -> None:
    words = own_classes(bench)
    for folder in ("out", "second"):
        assert run(bench, *words, "--output", folder).code == 0
    assert stored(bench, "experiment.json")["data"]["licence"] == "MIT"
    assert "worse" in bench.call("report", "out").out
    assert bench.call("gate", "out", "--min", "reference:pass_at_1=1").code == 0
    assert bench.call("diff", "out", "second").code == 0
    assert len(bench.call("export", "out").out.splitlines()) == 17
    again = bench.call("rescore", "out")
    assert again.code == 0, again.err
    assert len(bench.lines("out", "rescored.jsonl")) == 16
    refused = bench.call("rescore", "out", "--tasks", "exploration")
    assert refused.code == 2
    golden(refused.err)
    more = run(bench, "my_sums:Sums", "--continue", "out", "--models", "empty", "--quiet")
    assert (more.code, len(records(bench))) == (0, 24), more.err


@pytest.mark.parametrize("words", [("report",), ("gate", "--min", "pass@1=1"), ("export",)])
def test_a_session_from_elsewhere_loads_no_class(
    bench: Bench, words: tuple[str, ...], golden: Sentences
) -> None:
    assert run(bench, *own_classes(bench), *OUT).code == 0
    (bench.folder / "loaded").unlink()
    (bench.folder / "my_sums.py").write_text("open('loaded', 'w')\n")
    command, *options = words
    elsewhere = {"XDG_STATE_HOME": str(bench.folder / "state")}
    done = bench.call(command, "out", *options, env=elsewhere)
    assert done.code == 2
    golden(done.err)
    assert not (bench.folder / "loaded").exists()


def test_rescore_and_continue_ask_for_the_classes_of_a_session(
    bench: Bench, golden: Sentences
) -> None:
    assert run(bench, *own_classes(bench), *OUT).code == 0
    (bench.folder / "loaded").unlink()
    session = stored(bench, "experiment.json")["session"]
    elsewhere = {"XDG_STATE_HOME": str(bench.folder / "state")}
    done = bench.call("rescore", "out", env=elsewhere)
    assert done.code == 2
    golden(done.err.replace(session, "01234567"))
    done = run(bench, "my_sums:Sums", "--continue", "out", "--runs", "2", "--quiet", **elsewhere)
    assert done.code == 2
    golden(done.err.replace(session, "01234567"))
    assert not (bench.folder / "loaded").exists()
    assert bench.call("rescore", "out", "--trust", env=elsewhere).code == 0


def test_a_settings_file_that_names_a_data_set_class_is_asked_about(
    bench: Bench, golden: Sentences
) -> None:
    words = own_classes(bench)
    (bench.folder / "swarm-bench.toml").write_text('dataset = "my_rows:Rows"\n')
    plain = (words[0], *words[3:])
    for option in ((), ("--plan",)):
        done = run(bench, *plain, *option)
        assert done.code == 2, done.err
        golden(done.err)
    assert not (bench.folder / "loaded").exists()
    assert run(bench, *plain, "--trust", *OUT).code == 0


def test_a_benchmark_that_fails_in_one_case_has_all_others(bench: Bench) -> None:
    code = block("../benchmarks", "python").replace(
        "return {PASSED:", "return {PASSED: 1 / (case.row.result - 4) and"
    )
    (bench.folder / "my_sums.py").write_text(code)
    rows = ({"id": str(n), "sum": f"{n} + {n}", "result": 2 * n} for n in range(4))
    (bench.folder / "sums.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = run(bench, "my_sums:Sums", "--models", "reference", "--quiet", *OUT)
    assert done.code == 3, done.err
    ends = {record["case"]: record["cause"] for record in records(bench)}
    assert ends == {"0": "finished", "1": "finished", "2": "adapter-failed", "3": "finished"}
    assert "ZeroDivisionError" in done.out


def test_programs_that_time_out_are_counted_and_named(bench: Bench, golden: Sentences) -> None:
    """The share of them is a row, and an arm that has more of them than its reference is named."""
    rows = [
        {
            "problem_id": number,
            "question": "Print a number.",
            "solutions": '["print(input())"]',
            "input_output": json.dumps({"inputs": ["7"], "outputs": ["7"]}),
            "difficulty": "interview",
        }
        for number in range(4)
    ]
    rows[3]["input_output"] = '{"inputs": ["7"]'
    (bench.folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    answers = [["while True: pass"], ["print(7)"], ["print(8)"], ["print(7)"]]
    (bench.folder / "g.json").write_text(json.dumps(answers))
    done = run(bench, "apps", "--dataset", "./rows.jsonl", "--models", "reference",
               "generations:g.json", "-p", "timeout=0.2", *CODE, *OUT)  # fmt: skip
    assert done.code == 0, done.err
    ends = [(it["arm"], it["scores"].get("end")) for it in records(bench)]
    assert Counter(ends) == {
        ("generations:g.json", None): 1,
        ("generations:g.json", "failed"): 1,
        ("generations:g.json", "passed"): 1,
        ("generations:g.json", "timeout"): 1,
        ("reference", None): 1,
        ("reference", "passed"): 3,
    }
    (row,) = [line for line in done.out.splitlines() if line.startswith("| Timed out")]
    assert "33.3 %" in row
    golden(*(it for it in done.out.splitlines() if "timed out" in it or "cannot be read" in it))
