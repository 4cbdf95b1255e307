"""One request to each model before a session of `run`."""

import json
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app import session as life
from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.app.stored.models import ModelSession
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Event, Preparing
from swarm_bench.core.session.models import ModelExperiment
from tests.builders.chat import Chat, State, chatting, fails, says
from tests.builders.golden import Sentences


def run(folder: Path, *models: str, **changes: Any) -> list[Event]:
    options: dict[str, Any] = {"limit": "2", "output": folder, **changes}
    settings = RunSettings(models=list(models), **options)
    events: list[Event] = []
    life.run(run_call(CaseRequest(benchmark="conala", settings=settings)), events.append)
    return events


def experiment_of(folder: Path) -> ModelExperiment:
    experiment = ModelSession(folder).read().experiment
    assert isinstance(experiment, ModelExperiment)
    return experiment


def test_each_model_is_asked_once_and_what_that_took_is_counted(
    tmp_path: Path, golden: Sentences
) -> None:
    with chatting(lambda _: says("x = 1"), lambda _: says("2")) as chat:
        word = f"{chat.url}/v1#m"
        events = run(tmp_path / "s", word, "reference", vary=["temperature=0.1,0.8"])
        assert (len(chat.greetings), len(chat.bodies)) == (1, 4)
        (took,) = experiment_of(tmp_path / "s").greetings
        assert (took.model, took.requests, took.tokens) == (word, 1, 70)
        steps = [event.step for event in events if isinstance(event, Preparing)]
        golden(*(it.replace(chat.url, "URL") for it in steps if "answers" in it))
        summary = (tmp_path / "s" / "summary.md").read_text()
        golden(next(line for line in summary.splitlines() if "before the trials" in line))

        settings = RunSettings(runs=2)
        more = CaseRequest(benchmark="conala", settings=settings, resume=tmp_path / "s")
        life.run(run_call(more), lambda _: None)
        assert (len(chat.greetings), len(chat.bodies)) == (2, 8)
        life.run(run_call(more), lambda _: None)
        assert (len(chat.greetings), len(chat.bodies)) == (2, 8), "nothing is left to ask"
    assert len(experiment_of(tmp_path / "s").greetings) == 2


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(fails(404, "no such model"), "model"), (fails(401, "wrong key"), "key"),
     (fails(402, "no money"), "credit")],
)  # fmt: skip
def test_one_that_cannot_answer_ends_the_call_before_anything_is_recorded(
    tmp_path: Path, answer: State, kind: str, golden: Sentences
) -> None:
    with chatting(lambda _: says("x"), lambda _: answer) as chat:
        with pytest.raises(UsageError) as refused:
            run(tmp_path / "s", "reference", f"{chat.url}/v1#m")
        assert not chat.bodies
        golden(str(refused.value).replace(chat.url, "URL"))
    assert not (tmp_path / "s").exists()
    assert not (tmp_path / "results").exists()


def test_a_server_that_is_not_there_ends_the_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be asked"):
        run(tmp_path / "s", "llamacpp:http://127.0.0.1:1")
    assert not (tmp_path / "s").exists()


def test_an_empty_answer_is_one_and_whoever_is_free_and_here_is_not_asked(tmp_path: Path) -> None:
    def nothing(chat: Chat) -> State:
        return says("", choices=[{"index": 0, "finish_reason": "length", "message": {}}])

    with chatting(lambda _: says("x = 1"), nothing) as chat:
        run(tmp_path / "s", f"{chat.url}/v1#m", "reference", "copy", "empty")
        assert len(chat.greetings) == 1
    assert not experiment_of_free(tmp_path).greetings


def experiment_of_free(tmp_path: Path) -> ModelExperiment:
    run(tmp_path / "free", "reference", "copy")
    return experiment_of(tmp_path / "free")


def test_a_limit_of_the_cost_counts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prices = '["m"]\ninput = 1000.0\ncache_read = 0\ncache_write = 0\noutput = 1000.0\n'
    Path("prices.toml").write_text(prices)
    with chatting(lambda _: says("x = 1"), lambda _: says("2")) as chat:
        run(tmp_path / "s", f"{chat.url}/v1#m", max_cost=1000.0)
        (took,) = experiment_of(tmp_path / "s").greetings
        assert took.cost == pytest.approx(0.07, rel=0.5)
        records = [
            json.loads(it) for it in (tmp_path / "s" / "metrics.jsonl").read_text().splitlines()
        ]
        assert all(it["cost"] for it in records)
