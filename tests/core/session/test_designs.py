"""The design of a session, as it is stored now and as it was before."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from swarm_bench.core.session.designs import AB, CALIBRATE, COMPARE, DESIGNS, Design
from swarm_bench.core.session.experiment import Experiment
from tests.builders.experiments import experiment


def stored(design: Design = COMPARE) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(experiment(design=design).model_dump_json())
    return content


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_it_is_stored_by_its_name(design: Design) -> None:
    content = stored(design)
    assert (content["benchmark"], content["benchmark_version"]) == ("swarm", 1)
    assert content["design"] == design.name
    assert Experiment.from_json(json.dumps(content)) == experiment(design=design)


@pytest.mark.parametrize(("name", "design"), [("swarm", COMPARE), ("ab", AB)])
def test_an_older_session_has_it_as_its_benchmark(name: str, design: Design) -> None:
    content = stored() | {"benchmark": name}
    del content["design"], content["benchmark_version"]
    assert Experiment.from_json(json.dumps(content)) == experiment(design=design)


@pytest.mark.parametrize(
    "change", [{"design": "other"}, {"design": []}, {"benchmark": "other"}, {"benchmark": {}}]
)
def test_any_other_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="must be"):
        Experiment.from_json(json.dumps(stored(CALIBRATE) | change))


def test_agents_of_ab_work_alone() -> None:
    alone = experiment(design=AB, agents=1)
    assert (alone.trials_per_mode, alone.agents_per_swarm, alone.at_once) == (3, 1, 1)
    assert (experiment().trials_per_mode, experiment().agents_per_swarm) == (4, 4)
