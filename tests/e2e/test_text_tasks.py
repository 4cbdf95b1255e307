"""`run` with answers that are texts: from the commands of docs/text-tasks.md to what they leave."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.builders.chat import chatting, says
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "text-tasks.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    swarm-bench (run .*)$", PAGE, flags=re.MULTILINE)
OUT = ("--output", "out", "--quiet")


def measures(bench: Bench) -> dict[tuple[str, str], dict[str, Any]]:
    stored = json.loads((bench.folder / "out/results.json").read_text())
    return {(it["arm"], it["measure"]): it for it in stored["measures"] if it["part"] is None}


def rows_of(bench: Bench, *rows: dict[str, Any]) -> str:
    path = bench.folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page(bench: Bench, command: str) -> None:
    done = bench.call(*command.split(), *OUT)
    assert done.code == 0, done.err
    figures = measures(bench)
    best, floor = figures["reference", "bleu"], figures["copy", "bleu"]
    assert best["value"] == pytest.approx(1)
    assert floor["value"] < best["value"]


def test_the_page_has_a_command_for_each_benchmark() -> None:
    names = {command.split()[1] for command in COMMANDS}
    assert names == {"code-to-text", "concode", "conala", "spider"}


def test_a_session_with_a_model_that_chats(bench: Bench, golden: Sentences) -> None:
    """The model says the same of everything."""
    query = says("```sql\nSELECT count(*) FROM book\n```")
    with chatting(lambda _: query) as chat:
        model = f"{chat.url}/v1#m"
        done = bench.call("run", "spider", "--models", model, "reference", "-p", "way=chat",
                          *OUT)  # fmt: skip
    assert done.code == 0, done.err
    lines = (bench.folder / "out/metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    asked = [it for it in records if it["arm"] != "reference"]
    assert {it["prediction"] for it in asked} == {"SELECT count(*) FROM book"}
    assert sum(it["scores"]["exact"] for it in asked) == 2
    assert json.loads((bench.folder / "out/references.json").read_text())[0] == (
        "SELECT count(*) FROM book"
    )
    golden(parts(done.out.replace(model, "MODEL")))


SNIPPETS = [
    {"question_id": 15080500, "intent": "How can I send a signal from a python program?",
     "rewritten_intent": "send a signal `signal.SIGUSR1` to the current process",
     "snippet": "os.kill(os.getpid(), signal.SIGUSR1)"},
    {"question_id": 1, "intent": "two lines", "rewritten_intent": None,
     "snippet": "a = 1\nb = a + 1"},
]  # fmt: skip
"""The first is a row of CoNaLa (CC BY-SA 4.0), the second is ours."""


def test_only_the_first_line_of_a_snippet_is_read(bench: Bench) -> None:
    data = rows_of(bench, *SNIPPETS)
    done = bench.call("run", "conala", "--dataset", data, "--models", "reference", *OUT)
    assert done.code == 0, done.err
    assert measures(bench)["reference", "exact"]["value"] == 0.5
    assert measures(bench)["reference", "bleu"]["value"] < 1
    done = bench.call("run", "conala", "--dataset", data, "--models", "reference", "-p",
                      "parity=true", "--output", "whole", "--quiet")  # fmt: skip
    whole = json.loads((bench.folder / "whole/results.json").read_text())
    assert whole["conala"]["reference"]["bleu"] == 1


def test_answers_of_the_harness_are_read(bench: Bench) -> None:
    """Texts with their prompts, and without."""
    data = rows_of(bench, *SNIPPETS[:1] * 2)
    shown = bench.call("benchmarks", "show", "conala", "--case", "0", "--dataset", data, "-p",
                       "parity=true", "--json")  # fmt: skip
    prompt = json.loads(shown.out)["text"]["prompt"]
    answers = [[f"{prompt}os.kill(1)\nInstruction:\n"], ["os.kill(1)"]]
    (bench.folder / "g.json").write_text(json.dumps(answers))
    done = bench.call("run", "conala", "--dataset", data, "--models", "generations:g.json", *OUT)
    assert done.code == 0, done.err
    lines = (bench.folder / "out/metrics.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert [it["prediction"] or it["answer"] for it in records] == ["os.kill(1)"] * 2


def test_documentation_of_a_trained_model_is_read(bench: Bench) -> None:
    (bench.folder / "p.txt").write_bytes(b"1\tReturns it.\r\n0\tComputes the price.\n")
    words = ("code-to-text", "-p", "language=java", "--limit", "2")
    done = bench.call("run", *words, "--models", "generations:p.txt", *OUT)
    assert done.code == 0, done.err
    lines = (bench.folder / "out/metrics.jsonl").read_text().splitlines()
    texts = {it["case"]: it["prediction"] or it["answer"] for it in map(json.loads, lines)}
    assert texts == {"0": "Computes the price.", "1": "Returns it."}


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("conala", "-p", 'shots={"instruction1": "a", "solution1": "b"}'),
         "shots.instruction2 is missing"),
        (("conala", "-p", "shots=x"), "shots must be a mapping"),
        (("spider", "-p", "shots=@no.json"), "no.json"),
        (("code-to-text", "-p", "language=cobol"), "language must be"),
        (("code-to-text", "-p", "language=java", "-p", "style=left"), "needs language=python"),
        (("code-to-text", "-p", "language=java", "--dataset", "python-docstrings"),
         "no row in java"),
        (("concode", "--dataset", "spider-mini"), "row"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_asked(
    bench: Bench, words: tuple[str, ...], error: str
) -> None:
    done = bench.call("run", *words, *OUT)
    assert (done.code, error in done.err) == (2, True), done.err
    assert len(done.err.strip().splitlines()) == 1, done.err
    assert not (bench.folder / "out").exists()


def test_a_row_that_cannot_be_asked_is_named_with_its_line(bench: Bench) -> None:
    data = rows_of(bench, SNIPPETS[0], {**SNIPPETS[0], "snippet": " "})
    done = bench.call("run", "conala", "--dataset", data, *OUT)
    assert done.code == 2
    assert "rows.jsonl:2: " in done.err
