"""`run prompt-optimisation`: rounds of a judge, and a verdict on what it never reads."""

import threading
from typing import Any

import pytest

from tests.builders.chat import State, fails
from tests.builders.golden import Sentences, parts
from tests.builders.prompting import (
    MARKS,
    PARTS,
    Asked,
    answering,
    held_out,
    is_opinion,
    mark,
    tasks,
    write_rows,
)
from tests.e2e.conftest import Bench, Done

OUT = ("--output", "out", "--quiet")
ROWS = tasks(12)
HELD_OUT = held_out(ROWS, 0.5)
TRAINING = set(range(12)) - HELD_OUT
pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def rows(bench: Bench) -> Bench:
    write_rows(bench, ROWS)
    return bench


def words(asked: Asked, *models: str, rounds: int = 2, **properties: object) -> list[str]:
    named = {"maxImprovementRuns": rounds, "heldOut": 0.5, **properties}
    assigned = [word for name, value in named.items() for word in ("-p", f"{name}={value}")]
    return [
        "run", "prompt-optimisation", "--models", *asked.models(*models), "--judge", asked.judge,
        "--dataset", "tasks.jsonl", "--allow-code-execution", *assigned, *OUT,
    ]  # fmt: skip


def go_on(bench: Bench, *more: str) -> Done:
    return bench.call(
        "run",
        "prompt-optimisation",
        "--continue",
        "out",
        "--allow-code-execution",
        "--quiet",
        *more,
    )


def judges(text: str, number: int) -> str:
    """Suggest something of its own for each task, and write prompts of which each is another."""
    if is_opinion(text):
        return f"Say what is wanted.\n{MARKS}"
    return f"Prompt {len([*text.split('Another one')])} of request {number}."


def arms(bench: Bench) -> dict[str, dict[str, Any]]:
    models = bench.experiment("out")["models"]
    return {it["name"].partition("#")[2]: it for it in models}


def prompt(bench: Bench, arm: str) -> str:
    return str(arms(bench)[arm]["properties"]["systemPrompt"])


def passed(bench: Bench, arm: str) -> dict[int, bool]:
    own = [it for it in bench.records("out") if it["arm"].partition("#")[2] == arm]
    return {int(it["case"][1:]): it["scores"]["passed"] for it in own}


def test_c26_rounds_are_arms_against_the_first_prompt(rows: Bench, golden: Sentences) -> None:
    def knows(model: str, system: str, number: int) -> bool:
        return number % 4 < 2 * ("Prompt" in system) + (model == "one")

    with answering(knows, judges) as asked:
        done = rows.call(*words(asked, "one", "two", rounds=1))
        assert done.code == 0, done.err
    check_nothing_is_read_that_is_held_out(asked)
    golden(parts(done.out), parts(done.out, "Results (95 % interval over cases)"))
    base = {name: f"{asked.url}#{name}" for name in ("one", "two")}
    assert list(arms(rows)) == ["one", "two", "one round 1", "two round 1"]
    for name, arm in arms(rows).items():
        assert arm["against"] == base[name.partition(" ")[0]]
    assert passed(rows, "two") == dict.fromkeys(range(12), False)
    assert {n for n, it in passed(rows, "two round 1").items() if it} == {
        n for n in range(12) if n % 4 < 2
    }
    assert len(asked.for_prompts) == 2
    assert rows.experiment("out")["judged"]["judge_requests"] == 2


def test_c25_its_properties_and_its_other_name(rows: Bench) -> None:
    page = rows.call("benchmarks", "show", "system-prompt-opt")
    assert page.code == 0, page.err
    cells = [[it.strip(" `") for it in line.split("|")] for line in page.out.splitlines()]
    defaults = {it[1]: it for it in cells if len(it) > 3}
    names = ("maxImprovementRuns", "qualityThreshold", "testPassThreshold", "maxPromptLength")
    for name, default in zip(names, ("0", "0.8", "1.0", "1000"), strict=True):
        assert default in defaults[name]
    done = rows.call("run", "system-prompt-opt", "--dataset", "tasks.jsonl", *OUT,
                     "-p", "heldOut=0.5", "--allow-code-execution")  # fmt: skip
    assert done.code == 0, done.err
    assert rows.experiment("out")["benchmark"] == "prompt-optimisation"
    assert rows.experiment("out")["arms"] == ["reference", "copy"]


def check_nothing_is_read_that_is_held_out(asked: Asked) -> None:
    assert len(HELD_OUT) == len(TRAINING) == 6
    for request in asked.of_judge:
        assert not any(mark(part, n) in request for n in HELD_OUT for part in PARTS)
        assert "tests-mark" not in request
        assert "solution-mark" not in request


def test_no_request_to_the_judge_has_held_out_text(rows: Bench) -> None:
    with answering(lambda model, system, number: number % 3 == 0, judges) as asked:
        done = rows.call(*words(asked, "one", rounds=2), "--runs", "2")
        assert done.code == 0, done.err
    check_nothing_is_read_that_is_held_out(asked)
    assert len(asked.of_judge) == 3 * 6 * 2 + 2
    opinions = "".join(it for it in asked.of_judge if is_opinion(it))
    for request in (opinions, *asked.for_prompts):
        assert all(mark(part, n) in request for n in TRAINING for part in ("task", "answer"))
    for request in asked.for_prompts:  # each case once, though there are two runs
        assert request.count("Its answer:") == 6
        assert request.count("A suggestion on it: Say what is wanted.") == 6


def test_it_ends_at_both_thresholds(rows: Bench) -> None:
    with answering(lambda *_: True, judges) as asked:
        assert rows.call(*words(asked, "one", qualityThreshold=0.7)).code == 0
        assert (list(arms(rows)), asked.for_prompts) == (["one"], [])


def test_it_ends_after_two_rounds_without_gain(rows: Bench) -> None:
    with answering(lambda *_: False, judges) as asked:
        assert rows.call(*words(asked, "one", rounds=5)).code == 0
    assert list(arms(rows)) == ["one", "one round 1", "one round 2"]
    first, second = asked.for_prompts
    assert "Another one, that did no better" not in first
    assert prompt(rows, "one round 1") in second


def test_it_ends_where_the_judge_writes_a_prompt_that_was_asked_with(rows: Bench) -> None:
    def bananas(text: str, number: int) -> str:
        return "Bananas."

    with answering(lambda *_: False, bananas) as asked:
        done = rows.call(*words(asked, "one", rounds=5))
        assert done.code == 0, done.err
        assert list(arms(rows)) == ["one", "one round 1"]
        assert (len(asked.of("one")), len(asked.for_prompts)) == (24, 2)


def test_a_prompt_that_is_too_long_is_asked_for_again_and_then_cut(rows: Bench) -> None:
    long = "Write f() as it is wanted. Mind e.g. the number 3.5 in it! " + "Go on and on " * 9

    def wordy(text: str, number: int) -> str:
        return judges(text, number) if is_opinion(text) else f"```text\n{long}\n```"

    with answering(lambda *_: False, wordy) as asked:
        assert rows.call(*words(asked, "one", rounds=1, maxPromptLength=100)).code == 0
    improve, shorten = asked.for_prompts
    assert ("at most 100 characters" in improve, "Shorten" in shorten) == (True, True)
    assert prompt(rows, "one round 1") == long[: long.index("!") + 1]
    assert rows.experiment("out")["judged"]["judge_requests"] == 2


def test_a_session_that_is_killed_in_round_2_goes_on(rows: Bench) -> None:
    reached, killed = threading.Event(), threading.Event()
    counted = list[str]()

    def begin(model: str, system: str) -> None:
        counted.append(system)
        if len(set(counted)) == 3 and counted.count(counted[-1]) == 4 and not reached.is_set():
            reached.set()
            assert killed.wait(30)

    with answering(lambda *_: False, judges, begin) as asked:
        process = rows.start(*words(asked, "one"), "--concurrency", "2")
        assert reached.wait(50)
        process.kill()
        process.communicate()
        killed.set()
        lines = rows.records("out")
        assert 24 < len(lines) < 36
        before, requests = arms(rows), len(asked.for_prompts)
        done = go_on(rows)
        assert done.code == 0, done.err
    assert arms(rows) == before
    assert len(asked.for_prompts) == requests == 2
    trials = [it["trial"] for it in rows.records("out")]
    assert trials[: len(lines)] == [it["trial"] for it in lines]
    assert len(trials) == len(set(trials)) == 36


def test_a_gain_that_is_only_in_training_is_unmasked(rows: Bench, golden: Sentences) -> None:
    """The judge's prompt has the answers of what it read."""

    def cheats(text: str, number: int) -> str:
        return judges(text, number) if is_opinion(text) else "You remember some tasks."

    def knows(model: str, system: str, number: int) -> bool:
        return number % 6 == 0 or ("remember" in system and number not in HELD_OUT)

    with answering(knows, cheats) as asked:
        done = rows.call(*words(asked, "one", rounds=1))
        assert done.code == 0, done.err
    golden(parts(done.out, "Headline", "Results (95 % interval over cases)", "What to take"))


def test_a_gain_that_holds_is_said_as_it_is(rows: Bench, golden: Sentences) -> None:
    with answering(lambda model, system, number: "Prompt" in system, judges) as asked:
        done = rows.call(*words(asked, "one", rounds=1))
        assert done.code == 0, done.err
    golden(parts(done.out, "Headline", "What to take"))


def test_a_judge_that_writes_no_prompt_ends_the_session_which_goes_on(
    rows: Bench, golden: Sentences
) -> None:
    replies: list[str | State] = ["", "<think>What would be", fails(400, "no")]

    def silent(text: str, number: int) -> str | State:
        return judges(text, number) if is_opinion(text) or not replies else replies.pop()

    with answering(lambda *_: False, silent) as asked:
        done = rows.call(*words(asked, "one", rounds=1))
        assert done.code == 3
        golden(done.err)
        while replies:
            assert (go_on(rows).code, list(arms(rows))) == (3, ["one"])
        assert len(rows.records("out")) == 12
        done = go_on(rows)
        assert done.code == 0, done.err
    assert list(arms(rows)) == ["one", "one round 1"]


def test_what_a_judge_takes_is_paid_though_no_prompt_comes_of_it(
    rows: Bench, golden: Sentences
) -> None:
    price = {"input": 0, "cache_write": 0, "cache_read": 0, "output": 1_000}
    table = "".join(f"{name} = {amount}\n" for name, amount in price.items())
    heads = "".join(f'["{name}"]\n{table}' for name in ("one", "judge"))
    (rows.folder / "prices.toml").write_text(f'currency = "USD"\ndate = 2026-11-20\n{heads}')
    replies = ["", "<think>What would be"]

    def silent(text: str, number: int) -> str:
        return judges(text, number) if is_opinion(text) or not replies else replies.pop()

    with answering(lambda *_: False, silent) as asked:
        assert rows.call(*words(asked, "one", rounds=1)).code == 3
        assert (go_on(rows).code, replies) == (3, [])
        judged = rows.experiment("out")["judged"]
        assert (judged["judge_requests"], judged["judge_tokens"]) == (2, 140)
        assert judged["judge_cost"] == pytest.approx(0.02)
        spent = sum(it["cost"] + (it["judge_cost"] or 0) for it in rows.records("out"))
        most = 4_096 / 1_000  # of one request
        done = go_on(rows, "--max-cost", f"{spent + most + 0.01}")
        assert (done.code, len(asked.for_prompts)) == (4, 2), done.err
        done = go_on(rows)
        assert done.code == 0, done.err
    assert rows.experiment("out")["judged"]["judge_requests"] == 3
    golden(parts(done.out, "Notes"))


def test_training_cases_that_are_lost_are_run_before_the_next_round(rows: Bench) -> None:
    """A prompt is not made from what a server left of a round."""
    lost, broken = min(TRAINING), [True]

    def knows(model: str, system: str, number: int) -> bool | State:
        return fails(400, "the disk is full") if broken[0] and number == lost else False

    with answering(knows, judges) as asked:
        done = rows.call(*words(asked, "one", rounds=1))
        assert (list(arms(rows)), asked.for_prompts) == (["one"], []), done.err
        broken[0] = False
        assert go_on(rows).code == 0
    assert list(arms(rows)) == ["one", "one round 1"]


def test_opinions_that_are_lost_are_asked_for_before_the_next_round(rows: Bench) -> None:
    lost, broken = min(TRAINING), [True]

    def silent(text: str, number: int) -> str | State:
        of_lost = mark("task", lost) in text
        return fails(500, "no") if is_opinion(text) and of_lost and broken[0] else judges(text, 0)

    with answering(lambda *_: False, silent) as asked:
        assert rows.call(*words(asked, "one", rounds=1)).code == 3
        assert (list(arms(rows)), asked.for_prompts) == (["one"], [])
        broken[0], answers = False, len(asked.of("one"))
        done = go_on(rows)
        assert done.code == 0, done.err
        assert len(asked.of("one")) - answers == 12
    assert list(arms(rows)) == ["one", "one round 1"]


def test_what_cannot_be_is_refused_before_anything_is_asked(rows: Bench, golden: Sentences) -> None:
    more = tasks(18)
    write_rows(rows, more)
    base = ("run", "prompt-optimisation", "--models", "reference", "--dataset", "tasks.jsonl",
            "--allow-code-execution", "--plan")  # fmt: skip
    same = [*more, {**more[0], "id": "again"}]
    untested = [{**row, "unitTests": ""} if row["id"] == "t03" else row for row in more]
    refused = [
        rows.call(*base, "-p", it)
        for it in ("maxImprovementRuns=1", "qualityThreshold=1.1", "testPassThreshold=-0.1",
                   "heldOut=0", "heldOut=1", "heldOut=0.1", "heldOut=0.99", "maxPromptLength=0")
    ]  # fmt: skip
    refused.append(rows.call(*base, "--limit", "9"))
    refused.append(rows.call(*base, "-p", "qualityThreshold=0.5"))
    refused += [
        rows.call(*base, "--vary", it)
        for it in ("maxImprovementRuns=1,2", "maxPromptLength=9,99", "heldOut=0.4,0.6")
    ]
    for other in (same, untested):
        write_rows(rows, other)
        refused.append(rows.call(*base))
    assert [it.code for it in refused] == [2] * 15
    golden(*(it.err for it in refused))
