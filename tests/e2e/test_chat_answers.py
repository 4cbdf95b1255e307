"""Which part of an answer is scored, from a server to the figures, and once more by `rescore`."""

import json
import shutil
from collections.abc import Callable

import pytest

from swarm_bench.benchmarks.cases.folder import ModelFolder
from swarm_bench.benchmarks.humaneval import Function
from swarm_bench.core.session.models import ModelRecord
from swarm_bench.datasets.rows import read_rows
from swarm_bench.engine.lines import add_checksum
from swarm_bench.runtime.files import append_line
from tests.builders.chat import Chat, State, chatting, says
from tests.e2e.conftest import Bench

CODE = ("--allow-code-execution", "--environment", "unconfined", "--quiet")
WORDS = ("-p", "way=chat", "--limit", "2", *CODE, "--output", "out")
DRAFT = "def {name}(*numbers):\n    return None\n"
FORMS = {
    "thoughts": "<think>\n```python\n{draft}```\nNo.\n</think>\n\n```python\n{code}```",
    "thoughts of a prompt": "Say\n```python\n{draft}\nNo.\n</think>\n{code}",
    "channels": "<|channel|>analysis<|message|>```python\n{draft}```<|end|><|start|>assistant"
    "<|channel|>final<|message|>```python\n{code}```<|return|>",
    "other blocks": "```sh\npip install it\n```\n```python\nprint({name}([1], 2))\n```\n"
    "1. It:\n\n   ```py\n{indented}   ```\n",
    "other line ends": "```python\r\n{windows}```\r\n\r\nIt is ```short```.",
}


def solved(form: str) -> dict[str, str]:
    """By the name of a function, an answer of that form which is right."""
    answers = {}
    for row in read_rows("humaneval", Function).rows[:2]:
        code = row.prompt + row.canonical_solution
        answers[row.entry_point] = form.format(
            code=code,
            name=row.entry_point,
            draft=DRAFT.format(name=row.entry_point),
            indented="".join(f"   {line}" for line in code.splitlines(keepends=True)),
            windows=code.replace("\n", "\r\n"),
        )
    return answers


def answering(form: str) -> Callable[[Chat], State]:
    answers = solved(form)

    def answer(chat: Chat) -> State:
        asked = chat.prompts[-1]
        return says(next(text for name, text in answers.items() if f"def {name}(" in asked))

    return answer


@pytest.mark.parametrize("form", FORMS)
def test_the_program_of_an_answer_passes(bench: Bench, form: str) -> None:
    with chatting(answering(FORMS[form])) as chat:
        done = bench.call("run", "humaneval", "--models", f"{chat.url}/v1#m", *WORDS)
    assert done.code == 0, done.err
    records = bench.lines("out", "metrics.jsonl")
    assert [record["scores"]["end"] for record in records] == ["passed"] * 2


def test_rescore_reads_an_old_session_anew_and_says_so(bench: Bench) -> None:
    with chatting(answering(FORMS["thoughts"])) as chat:
        arm = f"{chat.url}/v1#m"
        done = bench.call("run", "humaneval", "--models", arm, "reference", *WORDS)
    assert done.code == 0, done.err
    folder = ModelFolder(bench.folder / "out")
    lines = [record for _, _, record in folder.records.read() if isinstance(record, ModelRecord)]
    folder.records.path.unlink()
    for record in lines:
        if record.arm == arm:
            failed = {"passed": False}
            record = record.model_copy(update={"prediction": "a draft", "scores": failed})
        else:  # a key that there was not
            record = record.model_copy(update={"scores": {"passed": True}})
        append_line(folder.records.path, add_checksum(record.model_dump_json()))
    before = bench.call("report", "out")
    assert before.code == 0, before.err
    assert figure(bench, arm) == 0
    assert "rescore" not in before.out
    again = bench.call("rescore", "out", *CODE[:-1])
    assert again.code == 0, again.err
    assert figure(bench, arm) == 1
    (sentence,) = [line for line in again.out.splitlines() if "other scores" in line]
    assert f"2 of `{arm}` (HumanEval/0, HumanEval/1)" in sentence
    assert "reference" not in sentence


def test_scores_by_different_rules_show_nothing(bench: Bench) -> None:
    """An older version has scored one arm, whose answers are the same, and this one the other."""
    words = ("--limit", "8", *CODE)
    done = bench.call("run", "humaneval", "--models", "reference", *words, "--output", "out")
    assert done.code == 0, done.err
    folder = ModelFolder(bench.folder / "out")
    lines = [record for _, _, record in folder.records.read() if isinstance(record, ModelRecord)]
    folder.records.path.unlink()
    for record in lines:
        old = record.model_copy(update={"scores": {"passed": False}, "scoring_rules": None})
        append_line(
            folder.records.path, add_checksum(old.model_dump_json(exclude={"scoring_rules"}))
        )
    shutil.copytree(bench.folder / "out", bench.folder / "alone")
    alone = bench.call("report", "alone")
    assert "8 of 8 answers were scored by the rules of another version" in alone.out
    new = bench.call("run", "humaneval", "--models", "reference", *words, "--output", "new")
    assert new.code == 0, new.err
    both = bench.call("diff", "alone", "new")
    assert both.code == 2
    assert "the answers of A were scored by other rules" in " ".join(both.err.split())
    more = bench.call("run", "humaneval", "--models", "reference", "empty", "--continue",
                      "out", *CODE)  # fmt: skip
    assert ": no verdict.**" in more.out
    assert "8 of 16 answers were scored by the rules" in more.out
    again = bench.call("rescore", "out", *CODE[:-1])
    assert ": no verdict.**" not in again.out
    assert "another version" not in again.out


@pytest.mark.parametrize("name", ["labels", "conala", "code-to-text"])
def test_chats_of_every_benchmark_say_by_which_rules_they_were_scored(
    bench: Bench, name: str
) -> None:
    """An older version took what a model thinks for its answer."""
    with chatting(lambda _: says("<think>\nno? yes?\n</think>\n\nyes")) as chat:
        words = ("--models", f"{chat.url}/v1#m", "-p", "way=chat", "--limit", "2", "--quiet")
        done = bench.call("run", name, *words, "--output", "out")
    assert done.code == 0, done.err
    folder = ModelFolder(bench.folder / "out")
    lines = [record for _, _, record in folder.records.read() if isinstance(record, ModelRecord)]
    folder.records.path.unlink()
    for record in lines:
        line = record.model_dump_json(exclude={"scoring_rules"})
        append_line(folder.records.path, add_checksum(line))
    assert "2 of 2 answers were scored by the rules" in bench.call("report", "out").out
    assert "another version" not in bench.call("rescore", "out").out


def figure(bench: Bench, arm: str) -> float:
    stored = json.loads((bench.folder / "out/results.json").read_text())
    return float(stored["humaneval"][arm]["pass_at_1"])
