"""The command that repeats a session, from what it stores."""

from typing import Any

import pytest

from swarm_bench.app.stored.repeating import (
    write_agent_command,
    write_model_command,
    write_series_command,
)
from swarm_bench.app.stored.session import open_session
from swarm_bench.core.session.base import Setting
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.models import Arm, ModelExperiment
from tests.builders.golden import GOLDEN
from tests.builders.sessions import make_experiment

MODELS = GOLDEN / "sessions" / "humaneval"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (
            "compare",
            "compare --repo /golden/shop --runs 1 --tasks /golden/here/mine.yaml --concurrency 1",
        ),
        (
            "ab",
            "ab --repo /golden/shop --modes baseline /golden/here/own.json --runs 2 "
            "--tasks /golden/here/mine.yaml",
        ),
        (
            "growing",
            "compare --repo /golden/shop --modes canopy --agents 1 2 --runs 1 "
            "--tasks /golden/here/mine.yaml --concurrency 1",
        ),
        (
            "calibrate",
            "calibrate --repo /golden/shop --runs 2 --tasks /golden/here/mine.yaml --concurrency 1",
        ),
        (
            "retrieve",
            "retrieve --repo /golden/shop --modes canopy bm25 --runs 1 "
            "--tasks /golden/here/mine.yaml",
        ),
        (
            "humaneval",
            "run humaneval --models reference copy generations:g.json --dataset humaneval "
            "--limit 0:3 --allow-code-execution --environment unconfined --concurrency 1 "
            "--runs 1 --primary pass_at_1",
        ),
        (
            "prompt-optimisation",
            "run prompt-optimisation --models 'http://models.test#one' --dataset tasks.jsonl "
            "--allow-code-execution --environment unconfined --judge 'http://models.test#judge' "
            "--concurrency 1 --property maxImprovementRuns=1 --property heldOut=0.7 --runs 1 "
            "--primary passed",
        ),
    ],
)
def test_options_that_differ_from_their_defaults(name: str, command: str) -> None:
    session = open_session(GOLDEN / "sessions" / name)
    document = session.reanalyse({}).document
    assert session.build_page(document).command == f"swarm-bench {command}"


def write(**settings: Any) -> str:
    stored = {name: Setting(value=value, source="command line") for name, value in settings.items()}
    return write_agent_command(make_experiment(("baseline",), settings=stored))


def test_no_key_is_in_it() -> None:
    command = write(
        agent_env=["TOKEN=(not stored)", "HOME"],
        agent_arg=["--api-key", "sk-1234567890abc", "--verbose"],
        service_url="http://user:pass@host:1/",
    )
    assert "--agent-env TOKEN --agent-env HOME" in command
    assert "--agent-arg=--api-key --agent-arg '(not stored)'" in command
    assert "--agent-arg=--verbose" in command
    assert "--service-url 'http://(not stored)@host:1/'" in command
    for secret in ("sk-1234567890abc", "pass"):
        assert secret not in command


def test_words_are_quoted_and_those_of_one_call_are_not_repeated() -> None:
    command = write(model="a model; rm", output="out", quiet=True, plan=True, until_clear=True)
    assert command == "swarm-bench compare --repo /srv/shop --until-clear --model 'a model; rm'"


def make_member(size: int, **changes: Any) -> Experiment:
    settings = {"agents": Setting(value=[1, 4], source="command line")}
    values = {"swarm_size": size, "agents": 4, "settings": settings, **changes}
    return make_experiment(("baseline",), **values)


def test_a_series_has_all_sizes_and_the_most_runs() -> None:
    """Sizes can be added, and one of them continued alone."""
    runs = {"runs": Setting(value=2, source="command line")}
    later = make_member(2, runs=2, settings={**make_member(2).settings, **runs})
    command = write_series_command([make_member(1), later], [1, 2, 4])
    assert command == "swarm-bench compare --repo /srv/shop --agents 1 2 4 --runs 2"


@pytest.mark.parametrize(("sizes", "agents"), [([4], 4), ([1, 4], 6), ([-1, 4], 4)])
def test_what_is_no_series_of_these_sizes_has_no_command(sizes: list[int], agents: int) -> None:
    assert write_series_command([make_member(4, agents=agents)], sizes) == ""


def make_models(**changes: Any) -> ModelExperiment:
    content = (MODELS / "experiment.json").read_bytes()
    return ModelExperiment.from_json(content).model_copy(update=changes)


def test_a_mode_that_is_compared_with_itself_is_one() -> None:
    calibrated = Experiment.from_json(
        (GOLDEN / "sessions" / "calibrate" / "experiment.json").read_bytes()
    )
    modes = {"modes": Setting(value=["canopy"], source="command line")}
    command = write_agent_command(calibrated.model_copy(update={"settings": modes}))
    assert command == "swarm-bench calibrate --repo /golden/shop --mode canopy"


def test_what_was_varied() -> None:
    arms = [
        Arm(name=f"{model} {number}", model=model, properties={"temperature": number})
        for model in ("one", "two")
        for number in (0.2, 0.8)
    ]
    command = write_model_command(make_models(models=tuple(arms)))
    assert " --models one two --vary temperature=0.2,0.8 " in command
    assert write_model_command(make_models(models=tuple(arms[:3]))) == ""
    written = Arm(name="x", model="one", properties={"systemPrompt": "a, b"})
    assert write_model_command(make_models(models=(written,))) == ""


def test_a_container_whose_image_is_not_stored_is_not_made_up() -> None:
    environment = make_models().environment
    assert environment is not None
    podman = environment.model_copy(update={"name": "podman"})
    assert write_model_command(make_models(environment=podman)) == ""


@pytest.mark.parametrize(
    "settings",
    [
        {"modes": ["baseline", "canopy", "--trust", "--config", "x.toml"]},
        {"controls": ["instructions", "--agent", "evil:Agent"]},
    ],
)
def test_a_session_puts_no_options_into_it(settings: dict[str, Any]) -> None:
    assert write(**settings) == ""


def test_a_benchmark_puts_none_either() -> None:
    models = (Arm(name="a", model="one"), Arm(name="b", model="--trust"))
    assert write_model_command(make_models(models=models)) == ""
    read = {"properties": {"way": "@/etc/passwd"}, "property_sources": {"way": "command line"}}
    assert write_model_command(make_models(**read)) == ""
    assert write_model_command(make_models(benchmark="--trust")) == ""
