"""What a benchmark of models may say of itself, in whole sessions of the installed command: figures
of many answers, what each arm is held against, data sets and environments with arguments, and code
that only some rows run."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders.chat import Chat, State, chatting, fails, says
from tests.builders.packages import install
from tests.e2e.conftest import Bench, Done

pytestmark = pytest.mark.timeout(180)

PACKAGE = """
import json
from pathlib import Path

from swarm_bench.core.roles.dataset import RawRows
from swarm_bench.environments.unconfined import Unconfined


class Folder:
    about, licence, source, published = "Files of a folder.", None, None, None

    def __init__(self, path=""):
        self.path = Path(path)

    def load(self):
        files = sorted(self.path.glob("*.txt"))
        return RawRows.of({"id": file.stem, "text": file.read_text()} for file in files)


class Box(Unconfined):
    name = "box"

    def __init__(self, image):
        self.confinement = f"run in the box {image}"
"""
POINTS = """
[swarm_bench.datasets]
folder = my_package:Folder
[swarm_bench.environments]
box = my_package:Box
"""
BENCHMARK = '''
from pydantic import BaseModel

from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase, counts_of
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.roles.execution import PYTHON, Code
from swarm_bench.core.roles.language_model import Ask
from swarm_bench.core.session.models import Arm


class Row(BaseModel):
    id: str
    text: str


class Letters(ModelBenchmark):
    """The first letters of texts."""

    name = "letters"
    dataset = "nowhere.jsonl"
    Row = Row
    ways = ("gap", "text")
    place: str = "texts"
    prompt: str = "none"

    def default_dataset(self):
        return f"folder:{self.place}"

    def runs_code(self, rows):
        return any(row.text.startswith("print") for row in rows)

    def cases(self, rows):
        for row in rows:
            yield RowCase(id=row.id, row=row, part="long" if len(row.text) > 9 else "short")

    def arms(self, models):
        for model in models:
            for prompt in ("none", "all"):
                yield Arm(
                    name=f"{model.model} {prompt}", model=model.model,
                    properties={"prompt": prompt}, against=f"{model.model} none",
                )

    def ask(self, case, way):
        text = case.row.text if self.prompt == "all" else case.row.text[::-1]
        if way == "gap":
            from swarm_bench.core.roles.language_model import Gap
            return Ask(prompt=Gap(prefix=text, suffix=""), reference=text)
        return Ask(prompt=text, reference=text)

    def read(self, case, completion, way):
        return completion.text

    async def score(self, case, prediction, tools):
        if case.row.text.startswith("print"):
            done = await tools.environment.run(Code(argv=(PYTHON, "-c", case.row.text), timeout=30))
            assert done.stdout == "1\\n"
        same = sum(a == b for a, b in zip(prediction, case.row.text))
        return {"counts": [same, max(len(case.row.text), len(prediction))]}

    @classmethod
    def metrics(cls):
        return tuple(
            Metric(
                key=key, title=key.title(), unit="0 to 1", style=Style.FRACTION,
                definition="Letters of all texts.", better=Better.HIGHER, relative=False,
                compared=key == "letters", part=part, counts=counts_of("counts"),
                of_counts=lambda sums: sums[0] / sums[1],
            )
            for key, part in (("letters", None), ("short", "short"))
        )
'''


def run(bench: Bench, *words: str, code: int = 0) -> Done:
    done = bench.call(*words, env={"PYTHONPATH": "packages"})
    assert done.code == code, done.err
    return done


@pytest.fixture
def letters(bench: Bench) -> Bench:
    install("my_package", PACKAGE, POINTS, bench.folder / "packages")
    (bench.folder / "my_letters.py").write_text(BENCHMARK)
    texts = bench.folder / "texts"
    texts.mkdir()
    for number in range(20):
        (texts / f"{number:02}.txt").write_text("abcdefghijklmnopqrst"[: number + 1])
    return bench


def stored(bench: Bench, name: str) -> Any:
    return json.loads((bench.folder / "out" / name).read_text())


WORDS = ("run", "my_letters:Letters", "--quiet")
START = (*WORDS, "--models", "reference", "copy", "--output", "out")


def test_figures_of_many_answers_and_arms_with_their_own_reference(letters: Bench) -> None:
    done = run(letters, *START)
    same = sum((n + 1) % 2 for n in range(20))  # the middle of what is reversed
    every = sum(n + 1 for n in range(20))
    measures = {
        (it["arm"], it["part"], it["measure"]): it
        for it in stored(letters, "results.json")["measures"]
    }
    whole = measures["reference none", None, "letters"]
    assert whole["value"] == pytest.approx(same / every, abs=1e-12)
    assert whole["low"] < whole["value"] < whole["high"]
    assert measures["reference all", None, "letters"]["value"] == 1.0
    assert measures["reference all", "long", "short"]["value"] is None
    of_part = measures["reference none", None, "short"]
    assert of_part == {**measures["reference none", "short", "short"], "part": None}
    assert of_part["cases"] == 9
    models = stored(letters, "experiment.json")["models"]
    assert [it["against"] for it in models] == ["reference none"] * 2 + ["copy none"] * 2
    assert "**reference all against reference none is better.** It " in done.out
    assert "**copy all against copy none: no verdict.**" in done.out
    assert "**reference none against" not in done.out
    assert stored(letters, "experiment.json")["data"]["name"] == "folder:texts"
    prompts = (letters.folder / "out/prompts.jsonl").read_text().splitlines()
    assert {json.loads(line)["way"] for line in prompts} == {"gap"}
    run(letters, "gate", "out", "--min", "reference all:letters=0.9", "--bound", "estimate")
    shown = run(letters, "benchmarks", "show", "my_letters:Letters", "--case", "03",
                "--models", "copy").out  # fmt: skip
    assert shown.count("=== copy ") == 2


def test_code_is_permitted_where_rows_have_code_and_run_in_a_box_with_an_argument(
    letters: Bench,
) -> None:
    run(letters, *START)  # no row has code, so that nobody is asked
    assert stored(letters, "experiment.json")["confinement"] is None
    code = letters.folder / "code"
    code.mkdir()
    (code / "one.txt").write_text("print(1)")
    refused = run(letters, *WORDS, "-p", "place=code", code=2)
    assert "--allow-code-execution" in refused.err
    words = (*WORDS, "--dataset", "folder:code", "--allow-code-execution")
    taken = run(letters, *words, "--environment", "unconfined:x", code=2)
    assert "unconfined takes nothing behind a colon" in taken.err
    needed = run(letters, *words, "--environment", "box", code=2)
    assert "box needs an argument behind a colon" in needed.err
    box = ("--environment", "box:a/b:1")
    finding = f"code of models: run in the box {box[1].partition(':')[2]}"
    looked = letters.call("doctor", *box, env={"PYTHONPATH": "packages"})
    assert finding in looked.out
    wrong = letters.call("doctor", "--environment", "box", env={"PYTHONPATH": "packages"})
    assert "problem  code of models: box needs an argument" in wrong.out
    run(letters, *words, *box, "--models", "reference", "--output", "boxed")
    experiment = json.loads((letters.folder / "boxed/experiment.json").read_text())
    assert experiment["confinement"] == "run in the box a/b:1"
    other = run(letters, *words[:-1], "--continue", "boxed", "--runs", "2",
                "--allow-code-execution", "--environment", "box:other", code=2)  # fmt: skip
    assert "the session ran its code otherwise (run in the box a/b:1)" in other.err
    more = ("--models", "reference", "empty")
    run(letters, *WORDS, *more, "--continue", "boxed", "--allow-code-execution", *box)
    assert len((letters.folder / "boxed/metrics.jsonl").read_text().splitlines()) == 4
    denied = run(letters, "rescore", "boxed", code=2)
    assert "--allow-code-execution" in denied.err
    run(letters, "rescore", "boxed", "--allow-code-execution", *box)
    lines = (letters.folder / "boxed/rescored.jsonl").read_text().splitlines()
    assert {json.loads(line)["environment"] for line in lines} == {"run in the box a/b:1"}


def test_a_file_that_names_an_argument_is_trusted_first(letters: Bench) -> None:
    (letters.folder / "swarm-bench.toml").write_text('dataset = "folder:texts"\n')
    refused = run(letters, *START, code=2)
    assert "models with the rows of folder:texts" in refused.err
    run(letters, *START, "--trust")
    (letters.folder / "texts/00.txt").write_text("other")
    again = run(letters, *WORDS, "--models", "reference", code=2)
    assert "models with the rows of folder:texts" in again.err


def test_what_cannot_be_is_one_sentence(letters: Bench) -> None:
    missing = run(letters, *WORDS, "-p", "place=nowhere", code=2)
    assert "folder:nowhere has no rows" in missing.err
    text = BENCHMARK.replace('against=f"{model.model} none"', 'against="x"')
    Path(letters.folder / "my_letters.py").write_text(text)
    foreign = run(letters, *WORDS, code=2)
    assert "is held against x" in foreign.err
    text = BENCHMARK.replace('ways = ("gap", "text")', 'ways = frozenset({"gap", "text"})')
    Path(letters.folder / "my_letters.py").write_text(text)
    assert "ways must be a tuple" in run(letters, *WORDS, code=2).err


def failing_first(number: int, right: str) -> Any:
    """Answer; the first requests are too long for the model."""

    def answer(chat: Chat) -> State:
        too_long = len(chat.bodies) <= number
        return fails(400, "maximum context length is 10") if too_long else says(right)

    return answer


def measured(bench: Bench, arm: str) -> dict[str, Any]:
    every = stored(bench, "results.json")["measures"]
    return {it["measure"]: it for it in every if it["arm"] == arm and it["part"] is None}


def test_who_gives_no_answer_has_what_an_empty_one_counts(bench: Bench) -> None:
    rows = [
        {"question_id": n, "intent": f"say {n}", "snippet": "print('hello', n)"} for n in range(8)
    ]
    (bench.folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with chatting(failing_first(4, "print('hello', n)")) as chat:
        run(bench, "run", "conala", "--dataset", "rows.jsonl", "--models", "reference", "empty",
            f"{chat.url}/v1#m", "-p", "way=chat", "--concurrency", "1", "--quiet",
            "--output", "out")  # fmt: skip
    arms = [measured(bench, arm) for arm in ("reference", "empty", f"{chat.url}/v1#m")]
    assert {(it["cases"]) for own in arms for it in own.values()} == {8}
    best, worst, half = (own["bleu"]["value"] for own in arms)
    assert worst < half < best
    assert arms[2]["exact"]["value"] == 0.5


def test_a_trial_without_an_answer_has_no_label(bench: Bench) -> None:
    with chatting(failing_first(3, "yes")) as chat:
        run(bench, "run", "labels", "--models", f"{chat.url}/v1#m", "--concurrency", "1", "--quiet",
            "--output", "out")  # fmt: skip
    lines = map(json.loads, (bench.folder / "out" / "metrics.jsonl").read_text().splitlines())
    assert [line["cause"] for line in lines if line["scores"]["no_label"]] == [
        "context-overflow"
    ] * 3
    assert len({it["cases"] for it in measured(bench, f"{chat.url}/v1#m").values()}) == 1


def test_an_answer_that_was_not_given_is_scored_later_too(bench: Bench) -> None:
    with chatting(failing_first(3, "yes")) as chat:
        run(bench, "run", "labels", "--models", f"{chat.url}/v1#m", "--concurrency", "1", "--quiet",
            "--generate-only", "--output", "out")  # fmt: skip
    assert run(bench, "rescore", "out").code == 0
    own = measured(bench, f"{chat.url}/v1#m")
    assert own["macro_f1"]["cases"] == own["accuracy"]["cases"] > 3


@pytest.mark.parametrize("number", ["0.5", "float('nan')", "2**60", "'a'", "None"])
def test_counts_that_cannot_be_stored_fail_one_trial_alone(number: str, letters: Bench) -> None:
    code = BENCHMARK.replace("[same, ", f"[same if case.id != '03' else {number}, ")
    (letters.folder / "my_letters.py").write_text(code)
    run(letters, "run", "my_letters:Letters", "--trust", "--models", "reference", "--quiet",
        "--output", "out", code=3)  # fmt: skip
    lines = [*map(json.loads, (letters.folder / "out" / "metrics.jsonl").read_text().splitlines())]
    ends = {(line["case"], line["cause"]) for line in lines}
    assert ends == {(f"{n:02}", "adapter-failed" if n == 3 else "finished") for n in range(20)}
    (detail,) = {line["detail"] for line in lines if line["detail"]}
    assert "counts has" in detail
    assert "\n" not in detail
