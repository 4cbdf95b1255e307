"""`run --judge`: a model that judges answers, who is counted, paid and trusted apart."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.builders.chat import Chat, State, chatting, fails, says
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, Done

OUT = ("--output", "out", "--quiet")
KEY = "sk-judge-1234567890"
OWN = '''
    from contextlib import asynccontextmanager
    from pathlib import Path

    from pydantic import BaseModel
    from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, of_score
    from swarm_bench.core.errors import ModelFailed
    from swarm_bench.core.metric import Better, Metric, Style
    from swarm_bench.core.outcome import Usage
    from swarm_bench.core.roles.language_model import Ask, Completion, Sampling, Turn
    from swarm_bench.core.session.experiment import Program
    from swarm_bench.core.session.models import Arm
    from swarm_bench.core.status import Cause

    class Row(BaseModel):
        id: str
        task: str
        answer: str

    class Essay(ModelBenchmark):
        """Essays, which a judge marks."""

        name = "essay"
        dataset = "rows.jsonl"
        Row = Row
        ways = ("chat",)
        judged = ("quality",)
        rounds: int = 0

        def needs_judge(self):
            return f"rounds={self.rounds} asks it for prompts" if self.rounds else None

        def cases(self, rows):
            return (RowCase(id=row.id, row=row) for row in rows)

        def ask(self, case, way):
            turn = Turn(role="user", text=case.row.task)
            return Ask(prompt=(turn,), sampling=self.sampling(), reference=case.row.answer)

        def read(self, case, completion, way):
            return completion.text

        async def score(self, case, prediction, tools):
            scores = {"length": len(prediction) / 100, "quality": None}
            if tools.judge is not None:
                text = f"Mark this answer from 0 to 10: {prediction}"
                said = await tools.judge.ask(ask(text, case.row.answer))
                scores["quality"] = said and float(said.text.split()[-1]) / 10
            return scores

        @classmethod
        def metrics(cls):
            return [
                Metric(key=key, title=key.title(), unit="0 to 1", style=Style.FRACTION,
                       better=Better.HIGHER, definition="A score.", read=of_score(key),
                       relative=False, compared=key == "quality")
                for key in ("quality", "length")
            ]

        async def next_arms(self, arms, records, tools, cases):
            if len(arms) > self.rounds:
                return ()
            tasks = " ".join(case.row.task for case in cases.values())
            said = await tools.judge.ask(ask(f"More tasks like {tasks}"))
            name = f"round {len(arms)}: {said.text}"
            return [Arm(name=name, model=arms[0].model, properties={"rounds": self.rounds})]

    def ask(text, reference=None):
        sampling = Sampling(max_tokens=20)
        return Ask(prompt=(Turn(role="user", text=text),), sampling=sampling, reference=reference)

    class Judge:
        """Gives 7 points, and says in a file what it was asked."""

        about, ways, keys, address = "a judge", frozenset({"chat"}), (), None
        free = True
        sampled = True
        repeats = False

        def __init__(self, argument):
            pass

        def program(self, around):
            return Program(name="own judge")

        @asynccontextmanager
        async def opened(self, around):
            yield self

        async def complete(self, ask):
            with Path("asked.txt").open("a") as file:
                file.write(ask.texts[0] + "\\n")
            if "FAIL" in ask.texts[0] and not Path("repaired").exists():
                raise ModelFailed("it is broken")
            if "REFUSE" in ask.texts[0]:
                raise ModelFailed("it is against its policy", Cause.REFUSED)
            usage = Usage(input=10, cache_read=0, cache_create=0, output=2)
            return Completion(text="Points: 7", finish="stop", usage=usage)
'''
ROWS = [{"id": f"e{n}", "task": f"Write about {n}.", "answer": f"Essay on {n}."} for n in range(4)]


@pytest.fixture
def essays(bench: Bench) -> Bench:
    (bench.folder / "own.py").write_text(dedent(OWN))
    (bench.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return bench


def run(bench: Bench, *words: str, **env: str) -> Done:
    return bench.call("run", "own:Essay", *words, env=env)


def records(bench: Bench) -> list[dict[str, Any]]:
    return lines(bench, "metrics.jsonl")


def lines(bench: Bench, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (bench.folder / "out" / name).read_text().splitlines()]


def experiment(bench: Bench) -> Any:
    return json.loads((bench.folder / "out/experiment.json").read_text())


def asked(bench: Bench) -> list[str]:
    path = bench.folder / "asked.txt"
    return path.read_text().splitlines() if path.exists() else []


def test_a_judge_marks_answers_and_is_counted_apart(essays: Bench, golden: Sentences) -> None:
    done = run(essays, "--models", "reference", "empty", "--judge", "own:Judge", *OUT)
    assert done.code == 0, done.err
    golden(parts(done.out))
    assert experiment(essays)["judge"] == "own:Judge"
    for record in records(essays):
        assert record["scores"]["quality"] == 0.7
        assert (record["judge_requests"], record["judge_tokens"]) == (1, 12)
        assert (record["judge_cost"], record["judge_failed"]) == (None, 0)
    assert len(asked(essays)) == 8


def test_without_a_judge_there_is_no_quality(essays: Bench) -> None:
    assert run(essays, "--models", "reference", *OUT).code == 0
    for record in records(essays):
        assert record["scores"] == {"length": 0.11, "quality": None}
        assert record["judge_requests"] is None


def test_nobody_asks_a_judge_again(essays: Bench) -> None:
    words = ("--models", "reference", "--judge", "own:Judge")
    assert run(essays, *words, "--generate-only", *OUT).code == 0
    assert asked(essays) == []
    shutil.rmtree(essays.folder / "out")
    assert run(essays, *words, *OUT).code == 0
    assert len(asked(essays)) == 4
    for command in ("rescore", "report"):
        done = essays.call(command, "out")
        assert (done.code, len(asked(essays))) == (0, 4), done.err
    scores = [line["scores"] for line in lines(essays, "rescored.jsonl")]
    assert [it["quality"] for it in scores] == [0.7] * 4
    assert run(essays, "--continue", "out", "--limit", "4", "--runs", "2").code == 0
    assert len(asked(essays)) == 4, "who answers the same in every run is judged once"


def says_of(essays: Bench, wishes: Mapping[str, str]) -> Callable[[Chat], State]:
    """Rows of which a model answers some so that the judge fails."""
    tasks = {row["task"]: wishes.get(row["id"], row["answer"]) for row in ROWS}
    return lambda chat: says(tasks[chat.bodies[-1]["messages"][-1]["content"]])


def test_what_a_judge_did_not_answer_is_asked_again_and_its_model_is_not(
    essays: Bench, golden: Sentences
) -> None:
    with chatting(says_of(essays, {"e1": "FAIL", "e2": "FAIL"})) as server:
        words = ("--models", f"{server.url}#m", "--judge", "own:Judge", *OUT)
        done = run(essays, *words)
        assert done.code == 3
        golden(done.err, parts(done.out, "Warnings"))
        before = {it["case"]: it for it in records(essays)}
        failed = before["e1"]
        assert (failed["answer"], failed["cause"]) == ("FAIL", "judge-failed")
        assert failed["scores"] == {"length": 0.04, "quality": None}
        assert (failed["judge_requests"], failed["judge_failed"]) == (1, 1)
        (essays.folder / "repaired").touch()
        done = run(essays, "--continue", "out")
        assert (done.code, len(server.bodies)) == (0, 4), done.err
    golden(parts(done.out))
    after = {it["case"]: it for it in records(essays)}
    again = after["e1"]
    assert again["scores"] == {"length": 0.04, "quality": 0.7}
    assert (again["judge_requests"], again["judge_failed"], again["attempt"]) == (2, 0, 2)
    of_answers = ("started_at", "ended_at", "wall_seconds", "input_tokens", "output_tokens",
                  "finish", "way", "model", "retries", "prompt_sha256")  # fmt: skip
    assert {it: again[it] for it in of_answers} == {it: failed[it] for it in of_answers}
    assert (after["e0"], after["e3"]) == (before["e0"], before["e3"])


def test_answers_that_are_judged_later_are_paid_once(essays: Bench) -> None:
    table = "input = 0\ncache_write = 0\ncache_read = 0\noutput = 1_000\n"
    head = 'currency = "USD"\ndate = 2026-11-20\n["m"]\n'
    (essays.folder / "prices.toml").write_text(head + table)
    with chatting(says_of(essays, {"e1": "FAIL", "e2": "FAIL"})) as server:
        words = ("--models", f"{server.url}#m", "--judge", "own:Judge", "-p", "max_tokens=10")
        assert run(essays, *words, *OUT).code == 3
        assert [it["cost"] for it in records(essays)] == [pytest.approx(0.01)] * 4
        (essays.folder / "repaired").touch()
        done = run(essays, "--continue", "out", "--max-cost", "0.0401")
        assert (done.code, len(server.bodies)) == (0, 4), done.err
        more = ("--continue", "out", "--runs", "2", "--concurrency", "1")
        assert run(essays, *more, "--max-cost", "0.0701").code == 4
        assert len(server.bodies) == 7
        assert run(essays, *more, "--max-cost", "0.0801").code == 0
    assert sum(it["cost"] for it in records(essays)) == pytest.approx(0.08)


def test_a_judge_that_never_answers_ends_as_a_model_does(essays: Bench) -> None:
    rows = [{**row, "answer": "FAIL"} for row in ROWS]
    (essays.folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--models", "reference", "empty", "--judge", "own:Judge")
    done = run(essays, *words, *OUT)
    assert (done.code, "then continue with: swarm-bench run" in done.err) == (3, True), done.err
    assert len(asked(essays)) == 8
    assert run(essays, "--continue", "out").code == 3
    assert len(asked(essays)) == 8 + 4


def test_a_judge_that_refuses_is_not_asked_again(essays: Bench, golden: Sentences) -> None:
    with chatting(says_of(essays, {"e1": "REFUSE"})) as server:
        words = ("--models", f"{server.url}#m", "--judge", "own:Judge", *OUT)
        done = run(essays, *words)
        assert done.code == 0, done.err
        assert run(essays, "--continue", "out").code == 0
    golden(parts(done.out, "Warnings"))
    assert (len(server.bodies), len(asked(essays))) == (4, 4)


def test_a_judge_that_cannot_be_is_refused(essays: Bench, golden: Sentences) -> None:
    refused = [
        essays.call("run", "labels", "--judge", "copy", "--plan"),
        essays.call("run", "retrieve", "--judge", "copy", "--plan"),
        run(essays, "-p", "rounds=2", "--models", "reference", "--plan"),
        run(essays, "--judge", "nobody", "--models", "reference", "--plan"),
    ]
    refused += [
        run(essays, "--judge", it, "--models", "reference", "--plan")
        for it in ("reference", "copy", "empty", "generations:rows.jsonl")
    ]
    words = ("--primary", "quality", "--allow-code-execution", "--plan")
    refused.append(essays.call("run", "prompt-evaluation", *words))
    assert [done.code for done in refused] == [2] * 9
    golden(*(done.err for done in refused))
    assert run(essays, "--models", "reference", *OUT).code == 0
    changed = run(essays, "--continue", "out", "--judge", "own:Judge")
    assert changed.code == 2
    golden(changed.err)


def test_a_judge_whose_key_is_wrong_ends_the_session_which_goes_on_with_another(
    essays: Bench,
) -> None:
    def answer(chat: Chat) -> State:
        wrong = chat.headers[-1]["authorization"] != f"Bearer {KEY}"
        return fails(401, "no such key") if wrong else says("8")

    with chatting(answer) as server:
        words = ("--models", "reference", "--judge", f"{server.url}#j", "--concurrency", "1")
        done = run(essays, *words, *OUT, MODEL_API_KEY="sk-wrong-1234567890")
        assert (done.code, len(server.bodies)) == (3, 1), done.err
        (record,) = records(essays)
        assert (record["cause"], record["answer"]) == ("not-authorized", "Essay on 0.")
        done = run(essays, "--continue", "out", MODEL_API_KEY=KEY)
        assert done.code == 0, done.err
    assert [it["scores"]["quality"] for it in records(essays) if it["scores"]] == [0.8] * 4
    files = [path.read_bytes() for path in (essays.folder / "out").rglob("*") if path.is_file()]
    assert not any(KEY.encode() in content for content in files)


def test_a_judge_is_paid_within_the_limit(essays: Bench, golden: Sentences) -> None:
    price = {"input": 0, "cache_write": 0, "cache_read": 0, "output": 1_000}
    table = "".join(f"{name} = {amount}\n" for name, amount in price.items())
    head = 'currency = "USD"\ndate = 2026-11-20\n["j"]\n'
    (essays.folder / "prices.toml").write_text(head + table)
    with chatting(lambda chat: says("8")) as server:
        words = ("--models", "reference", "--judge", f"{server.url}#j", "--concurrency", "1")
        assert run(essays, *words, "--max-cost", "0.035", *OUT).code == 4
        assert len(server.bodies) == 2  # of 20 tokens each at most, and of 10 as it says
        done = run(essays, "--continue", "out", "--max-cost", "0.02", "--runs", "1")
        assert (done.code, len(server.bodies)) == (4, 2)
        golden(done.err)
        done = run(essays, "--continue", "out", "--max-cost", "0.06")
        assert (done.code, len(server.bodies)) == (0, 4), done.err
    counted = [it["judge_cost"] for it in records(essays) if it["scores"]]
    assert counted == [0.01] * 4
    unpriced = run(essays, "--models", "reference", "--judge", "http://127.0.0.1:9#other",
                   "--max-cost", "1", "--output", "b")  # fmt: skip
    assert (unpriced.code, "no price table has" in unpriced.err) == (2, True), unpriced.err


def test_next_arms_have_the_cases_and_what_the_judge_took(essays: Bench) -> None:
    words = ("--models", "reference", "--judge", "own:Judge", "-p", "rounds=2")
    done = run(essays, *words, *OUT)
    assert done.code == 0, done.err
    judged = experiment(essays)["judged"]
    assert (judged["judge_requests"], judged["judge_tokens"]) == (2, 24)
    assert any("More tasks like Write about 0." in line for line in asked(essays))


def test_a_copied_session_has_no_judge_that_nobody_trusts(essays: Bench) -> None:
    words = ("--models", "reference", "--judge", "own:Judge", "--limit", "2")
    assert run(essays, *words, *OUT).code == 0
    before = asked(essays)
    stranger = essays.folder / "stranger"
    stranger.mkdir()
    copied = Path(shutil.copytree(essays.folder / "out", essays.folder / "copied"))
    done = run(essays, "--continue", copied.name, "--runs", "2", HOME=str(stranger))
    assert (done.code, "own:Judge" in done.err, asked(essays)) == (2, True, before), done.err
