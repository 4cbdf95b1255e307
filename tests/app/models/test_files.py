"""The figures of a session of models, as a program reads them."""

import json
from pathlib import Path

import pytest

from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.app.models.files import write_results
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.humaneval import HumanEval
from swarm_bench.core.session.models import Arm, Data, ModelExperiment, ModelRecord
from tests.builders.cases import HIGH, LOST, LOW, case_session


def test_every_measure_has_its_interval_and_the_cases_that_have_it(tmp_path: Path) -> None:
    whole = case_session({"a": LOW, "b": HIGH}, {"b": [LOST] * 20, "a": [LOST]})
    session = ComparedModels(
        experiment=ModelExperiment(
            **dict(whole.experiment),
            models=tuple(Arm(name=arm, model=arm) for arm in "ab"),
            data=Data(name="d", sha256="0", rows=20),
            request_timeout=1,
        ),
        records=[
            ModelRecord(**dict(record), part="easy" if record.number <= 5 else "hard")
            for record in whole.records
        ],
        metrics=whole.metrics,
    )
    write_results(session, RowBenchmark(HumanEval), tmp_path)
    stored = json.loads((tmp_path / "results.json").read_text())
    assert list(stored) == ["toy", "config", "measures", "caveats"]
    assert stored["toy"]["b"] == dict.fromkeys(["right", "words", "best"])
    measures = {(it["arm"], it["part"], it["measure"]): it for it in stored["measures"]}
    assert len(measures) == len(stored["measures"]) == 2 * 3 * 3
    in_all, easy = measures["a", None, "right"], measures["a", "easy", "right"]
    assert in_all["value"] == stored["toy"]["a"]["right"] == pytest.approx(sum(LOW[1:]) / 19)
    assert in_all["low"] < in_all["value"] < in_all["high"]
    assert (in_all["cases"], easy["cases"]) == (19, 4)
    assert measures["b", None, "words"] == {
        "arm": "b", "part": None, "measure": "words", "value": None, "low": None, "high": None,
        "cases": 0,
    }  # fmt: skip
