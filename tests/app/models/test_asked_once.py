"""Models that answer the same whatever is asked of them again."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app import session as life
from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.models.arms import build_arms
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.benchmarks.cases.role import ModelBenchmark
from swarm_bench.benchmarks.one_line.conala import Conala
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.models import ModelExperiment
from tests.builders.cases import BEST, RIGHT, case_session
from tests.builders.chat import chatting, says
from tests.builders.golden import Sentences

VARIED = ("temperature=0.1,0.8",)


def run(folder: Path, *models: str, **changes: Any) -> None:
    settings = RunSettings(models=[*models], vary=[*VARIED], limit="2", output=folder, **changes)
    life.run(run_call(CaseRequest(benchmark="conala", settings=settings)), lambda _: None)


def test_they_have_one_arm_and_one_run_and_lack_nothing(tmp_path: Path) -> None:
    with chatting(lambda _: says("x = 1")) as chat:
        word = f"{chat.url}/v1#m"
        run(tmp_path / "s", word, "reference", "copy", runs=3)
    session = ModelSession(tmp_path / "s").read()
    assert Counter((it.arm, it.run) for it in session.records) == {
        **{(f"{word} temperature={it}", run): 2 for it in ("0.1", "0.8") for run in (1, 2, 3)},
        ("reference", 1): 2,
        ("copy", 1): 2,
    }
    summary = (tmp_path / "s" / "summary.md").read_text()
    assert "no record of" not in summary
    assert "are not in these figures" not in summary
    again = CaseRequest(benchmark="conala", settings=RunSettings(runs=3), resume=tmp_path / "s")
    assert life.run(run_call(again), lambda _: None).progress == (16, 16)


def test_a_session_that_began_before_keeps_its_runs(tmp_path: Path) -> None:
    run_of = RunSettings(models=["reference"], limit="1", runs=1, output=tmp_path / "s")
    life.run(run_call(CaseRequest(benchmark="conala", settings=run_of)), lambda _: None)
    experiment = ModelSession(tmp_path / "s").read().experiment
    assert isinstance(experiment, ModelExperiment)
    assert (experiment.models[0].once, experiment.count_runs("reference")) == (True, 1)
    older = experiment.model_copy(
        update={
            "runs": 3,
            "models": tuple(it.model_copy(update={"once": False}) for it in experiment.models),
        }
    )
    assert older.count_runs("reference") == 3


def test_only_what_is_drawn_makes_no_arm() -> None:
    varied = ["temperature=0.1,0.8", "way=chat,text"]
    names = [arm.name for arm in build_arms(["reference", "openai:m"], varied, Conala)]
    assert names[:2] == ["reference way=chat", "reference way=text"]
    assert len(names) == 2 + 4


def test_a_value_that_decides_nothing_is_refused(golden: Sentences) -> None:
    with pytest.raises(UsageError) as refused:
        build_arms(["reference", "copy"], VARIED, ModelBenchmark)
    golden(str(refused.value))


def test_a_figure_of_several_answers_counts_the_same_one_as_often() -> None:
    session = case_session({"a": (1.0, 0.0)}, metrics=[RIGHT, BEST], runs=2)
    once = [it for it in session.records if it.run == 1]

    class Once(type(session.experiment)):  # type: ignore[misc]
        def count_runs(self, arm: str) -> int:
            return 1

    changed = Once.model_construct(**vars(session.experiment))
    alone = type(session)(experiment=changed, records=once, metrics=session.metrics)
    assert alone.figures("a", BEST) == session.figures("a", BEST) == {"c0": [1.0], "c1": [0.0]}
