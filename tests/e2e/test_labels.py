"""`run labels`: the commands of its page, the toys of CodeXGLUE, and what is refused."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.builders.chat import chatting, says
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench

PAGE = (Path(__file__).parents[2] / "docs" / "labels.md").read_text(encoding="utf-8")
CLONES = ("13653451\t21955002", "1188160\t8831513", "1141235\t14322332", "16765164\t17526811")
"""Ids of the toy of CodeXGLUE (MIT), whose rows are all 0."""
PREDICTED = "0101"
ROW = '{"func": "f", "target": 0}\n'
OUT = ("--output", "out", "--quiet")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def figures(bench: Bench, arm: str) -> dict[str, Any]:
    results = json.loads((bench.folder / "out" / "results.json").read_text())
    return dict(results["labels"][arm])


def test_the_commands_of_the_page(bench: Bench) -> None:
    (bench.folder / "functions.jsonl").write_text(blocks("json")[0])
    (bench.folder / "predictions.txt").write_text(blocks("text")[0])
    lines = [line.partition("#")[0] for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) >= 5
    for line in lines:
        _, *words = shlex.split(line)
        out = () if "show" in words else ("--quiet",)
        done = bench.call(*words, *out)
        assert done.code == 0, done.err


def test_the_toy_of_defects(bench: Bench, golden: Sentences) -> None:
    (bench.folder / "functions.jsonl").write_text(blocks("json")[0])
    predictions = blocks("text")[0].replace("\n", "\r\n")
    (bench.folder / "predictions.txt").write_text(predictions, newline="")
    done = bench.call("run", "labels", "--dataset", "functions.jsonl", "--models",
                      "generations:predictions.txt", *OUT)  # fmt: skip
    assert done.code == 0, done.err
    assert figures(bench, "generations:predictions.txt")["accuracy"] == 0.6
    golden(parts(done.out, "Results (95 % interval over cases)", "Answers by label"))


def test_what_a_model_thinks_before_it_answers_is_no_answer(bench: Bench) -> None:
    with chatting(lambda _: says("<think>\nno? yes? no!\n</think>\n\n_yes_")) as chat:
        done = bench.call("run", "labels", "--models", f"{chat.url}/v1#m", "--limit", "1", *OUT)
    assert done.code == 0, done.err
    lines = (bench.folder / "out" / "metrics.jsonl").read_text().splitlines()
    (record,) = map(json.loads, lines)
    assert (record["prediction"], record["scores"]["answered"]) == ("yes", "yes")
    assert record["answer"].startswith("<think>")
    again = bench.call("rescore", "out")
    assert again.code == 0, again.err
    assert figures(bench, f"{chat.url}/v1#m")["accuracy"] == 1


def test_the_toy_of_clones(bench: Bench) -> None:
    rows = [
        {"id1": int(first), "id2": int(second), "func1": "f", "func2": "g", "label": 0}
        for first, second in (line.split("\t") for line in CLONES)
    ]
    (bench.folder / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    lines = [f"{ids}\t{label}\n" for ids, label in zip(CLONES, PREDICTED, strict=True)]
    (bench.folder / "predictions.txt").write_text("".join(lines))
    done = bench.call("run", "labels", "-p", "task=clone", "--dataset", "pairs.jsonl",
                      "--models", "generations:predictions.txt", *OUT)  # fmt: skip
    assert done.code == 0, done.err
    read = figures(bench, "generations:predictions.txt")
    assert read == {
        "accuracy": 0.5,
        "macro_precision": 0.5,
        "macro_recall": 0.25,
        "macro_f1": pytest.approx(1 / 3),
        "precision": None,
        "recall": None,
        "f1": None,
    }


@pytest.mark.parametrize(
    ("file", "content", "words", "clause"),
    [
        ("rows.jsonl", f'{ROW}{{"func": "f"}}\n', (), "rows.jsonl:2: target is missing"),
        ("rows.csv", "func,target\nf,0\ng,2\n", (), "rows.csv:3: target must be 0 or 1"),
        ("rows.jsonl", ROW, ("-p", "task=clone"), "rows.jsonl:1: func1 is missing"),
        ("rows.jsonl", ROW, ("--models", "generations:p.txt"), "p.txt:2: '1' is no case"),
        ("rows.jsonl", ROW * 3, ("--models", "generations:p.txt"), "no answer to 1 of 3 cases"),
    ],
)
def test_what_is_refused_before_anything_is_asked(
    bench: Bench, file: str, content: str, words: tuple[str, ...], clause: str
) -> None:
    (bench.folder / file).write_text(content)
    (bench.folder / "p.txt").write_text("0\t0\n1\t1\n")
    for plan in ((), ("--plan",)):
        done = bench.call("run", "labels", "--dataset", file, *words, *OUT, *plan)
        assert done.code == 2
        assert clause in done.err
        assert not (bench.folder / "out").exists()
