"""Values of properties: from files, and such as mean nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench

OUT = ("--generate-only", "--quiet", "--output", "out")
SHOTS = ("instruction1", "solution1", "instruction2", "solution2")
OWN = """
from pydantic import BaseModel
from swarm_bench.benchmarks.cases.passing import PASSED, pass_metrics
from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.core.roles.language_model import Ask, Turn


class Word(BaseModel):
    id: str


class Words(ModelBenchmark):
    'Words.'

    name = "words"
    dataset = "words.jsonl"
    Row = Word
    ways = ("chat",)
    system: str = "none"

    def cases(self, rows):
        return (RowCase(id=row.id, row=row) for row in rows)

    def ask(self, case, way):
        turns = (Turn(role="system", text=self.system), Turn(role="user", text=case.id))
        return Ask(prompt=turns, reference=case.id)

    def read(self, case, completion, way):
        return completion.text

    async def score(self, case, prediction, tools):
        return {PASSED: prediction == case.id}

    @classmethod
    def metrics(cls):
        return pass_metrics(1)
"""


def own(bench: Bench, *words: str, **env: str) -> Any:
    (bench.folder / "my_words.py").write_text(OWN)
    (bench.folder / "words.jsonl").write_text('{"id": "a"}\n')
    return bench.call("run", "my_words:Words", *words, "--models", "reference", env=env)


def stored(bench: Bench, name: str) -> Any:
    return json.loads((bench.folder / "out" / name).read_text())


def test_arms_have_the_texts_of_files(bench: Bench, golden: Sentences) -> None:
    texts = {"a.md": "Be brief, exact, and kind.\n", "more/b.md": "\ufeffJust answer: a, b, c"}
    (bench.folder / "more").mkdir()
    for name, text in texts.items():
        (bench.folder / name).write_text(text, encoding="utf-8")
    vary = ("--vary", "system=@a.md,@more/b.md,none")
    done = own(bench, *vary, "--quiet", "--output", "out")
    assert done.code == 0, done.err
    arms = {
        arm["name"]: arm["properties"]["system"]
        for arm in stored(bench, "experiment.json")["models"]
    }
    assert arms == {
        "reference system=a.md": "Be brief, exact, and kind.\n",
        "reference system=more/b.md": "Just answer: a, b, c",
        "reference system=none": "none",
    }
    prompts = (bench.folder / "out/prompts.jsonl").read_text()
    assert all(json.dumps(text) in prompts for text in arms.values())
    again = own(bench, *vary, "--continue", "out", "--runs", "2", "--quiet")
    assert again.code == 0, again.err
    (bench.folder / "a.md").write_text("Be rude.")
    for words, env in (
        ((*vary, "--continue", "out", "--runs", "3"), {}),
        (("--vary", "system=@nowhere.md"), {}),
        (("--vary", "system=@a.md,a.md"), {}),
        ((), {"SWARM_BENCH_VARY": "system=@a.md"}),
    ):
        refused = own(bench, *words, "--quiet", **env)
        assert refused.code == 2, refused.out
        golden(refused.err)
    (bench.folder / "swarm-bench.toml").write_text('vary = ["system=@a.md"]\n')
    refused = own(bench, "--quiet")
    assert refused.code == 2, refused.out
    golden(refused.err)


def test_examples_vary_by_their_files(bench: Bench) -> None:
    for name in "ab":
        texts = {key: f"{key} of {name}" for key in SHOTS}
        (bench.folder / f"{name}.json").write_text(json.dumps(texts), encoding="utf-16")
    done = bench.call("run", "conala", "--models", "reference", "--limit", "1", "--vary",
                      "shots=@a.json,@b.json", *OUT)  # fmt: skip
    assert done.code == 0, done.err
    models = stored(bench, "experiment.json")["models"]
    assert [arm["properties"]["shots"]["solution2"] for arm in models] == [
        "solution2 of a", "solution2 of b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("benchmark", "words"),
    [
        ("mbpp", ("-p", "style=google", "-p", "include_solution=true")),
        ("mbpp", ("-p", "include_tests=false")),
        ("mbpp", ("-p", "way=chat", "-p", "include_solution=true")),
        ("mbpp", ("-p", "way=chat", "-p", "style=google")),
        ("mbpp", ("-p", "way=chat", "-p", "include_tests=false")),
        ("mbpp", ("--vary", "include_tests=true,false")),
        ("mbpp", ("-p", "parity=true", "-p", "timeout=20")),
        ("humaneval", ("-p", "parity=true", "-p", "timeout=20")),
        (
            "apps",
            (
                "-p",
                "shots=@shots",
            ),
        ),
        ("apps", ("-p", "setup=few-shot", "-p", "shots=@shots")),
        ("code-to-text", ("-p", "style=left", "-p", "phrase=explanation")),
        ("code-to-text", ("-p", "way=chat", "-p", "phrase=explanation")),
        ("completion", ("-p", "way=chat", "-p", "family=starcoder2")),
        ("completion", ("-p", "way=gap", "-p", "template={prefix}{suffix}")),
    ],
)
def test_values_that_mean_nothing_are_refused(
    bench: Bench, benchmark: str, words: tuple[str, ...], golden: Sentences
) -> None:
    (bench.folder / "shots").write_text("QUESTION:\na\nANSWER:\nb\n")
    for plan in ((), ("--plan",)):
        done = bench.call("run", benchmark, "--models", "reference", *words, *OUT, *plan)
        assert done.code == 2, done.out
        if not plan:
            golden(done.err)
    assert not (bench.folder / "out").exists()


@pytest.mark.parametrize(
    ("benchmark", "words"),
    [
        ("mbpp", ("-p", "style=google", "-p", "include_tests=false")),
        ("mbpp", ("-p", "include_solution=true")),
        ("mbpp", ("--vary", "style=incoder,google", "-p", "include_tests=false")),
        ("mbpp", ("-p", "way=chat", "-p", "include_tests=true")),
        ("completion", ("-p", "way=text", "-p", "family=starcoder2")),
    ],
)
def test_values_that_decide_something_are_taken(
    bench: Bench, benchmark: str, words: tuple[str, ...]
) -> None:
    done = bench.call("run", benchmark, "--models", "reference", "--limit", "1", *words, *OUT)
    assert done.code == 0, done.err


def test_a_session_that_was_begun_with_such_a_value_keeps_it(bench: Bench) -> None:
    words = ("run", "mbpp", "--models", "reference", "--limit", "1")
    assert bench.call(*words, *OUT).code == 0
    path = bench.folder / "out/experiment.json"
    written = json.loads(path.read_text())
    written["properties"]["include_tests"] = False
    path.write_text(json.dumps(written))
    assert bench.call("report", "out").code == 0
    grown = bench.call("run", "mbpp", "--continue", "out", "--runs", "2", "--quiet")
    assert grown.code == 0, grown.err


def test_results_have_the_names_of_the_bigcode_harness(bench: Bench) -> None:
    allowed = ("--allow-code-execution", "--environment", "unconfined", "--quiet")
    words = ("run", "humaneval", "--limit", "1", *allowed)
    done = bench.call(*words, "--models", "reference", "--output", "out")
    assert done.code == 0, done.err
    own = {"pass_at_1": 1.0, "pass_at_10": None, "pass_at_100": None, "pass@1": 1.0}
    results = stored(bench, "results.json")
    assert results["humaneval"] == {"pass@1": 1.0, "reference": own}
    assert results["config"]["temperature"] == 0.2
    more = bench.call(*words, "--continue", "out", "--models", "empty")
    assert more.code == 0, more.err
    both = stored(bench, "results.json")["humaneval"]
    assert both == {"reference": own, "empty": {**own, "pass_at_1": 0.0, "pass@1": 0.0}}


def test_answers_of_other_cases_are_refused(bench: Bench, golden: Sentences) -> None:
    words = ("run", "humaneval", *OUT[:2])
    done = bench.call(*words, "--models", "reference", "--limit", "20:3", "--output", "out")
    assert done.code == 0, done.err
    answers = json.loads((bench.folder / "out/generations/reference.json").read_text())
    (bench.folder / "answers.json").write_text(json.dumps(answers), encoding="utf-16")
    asked = (*words, "--models", "generations:answers.json", "--output", "other")
    for plan in ((), ("--plan",)):
        refused = bench.call(*asked, "--limit", "3", *plan)
        assert refused.code == 2, refused.out
        golden(refused.err)
    assert not Path(bench.folder / "other").exists()
    assert bench.call(*asked, "--limit", "20:3").code == 0
