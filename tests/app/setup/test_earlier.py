"""Which sessions tell a plan how runs differ."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from swarm_bench.app.running import agents
from swarm_bench.app.setup.earlier import find_earlier_session, find_earlier_set_up, tell_outlook
from swarm_bench.app.setup.preparation import open_prepared_session
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.app.trust.approval import approve, remember_session
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.config.layers import load
from swarm_bench.core.errors import UsageError
from swarm_bench.core.events import Event, Foresight, WarningRaised
from swarm_bench.core.session.designs import CALIBRATE, COMPARE
from swarm_bench.core.session.experiment import Experiment, Task
from swarm_bench.core.session.tasks import AnswerKey
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.contradicted import store_contradicted
from tests.builders.golden import Sentences
from tests.builders.sessions import make_swarm, make_trial


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").touch()
    monkeypatch.chdir(tmp_path)
    given = {"repo": "repo", "modes": ["baseline"]}
    return agents.plan_session(resolve(given, COMPARE), COMPARE).experiment


def store(experiment: Experiment, path: Path, **changes: Any) -> None:
    folder = SessionFolder(path)
    folder.make()
    other = experiment.model_copy(update={"session": path.name, **changes})
    folder.write_experiment(make_storable(other))
    folder.records.append(make_trial(wall_seconds=2.0))


def source(experiment: Experiment, **given: object) -> str | None:
    earlier = find_earlier_session(experiment, load(given).settings)
    return earlier.folder if earlier else None


def elsewhere(experiment: Experiment) -> Mapping[str, object]:
    return {"repository": experiment.repository.model_copy(update={"path": "/elsewhere"})}


def test_sessions_lie_below_results_and_beside_the_output(experiment: Experiment) -> None:
    assert source(experiment) is None
    store(experiment, Path("mine/first"))
    assert source(experiment) is None
    assert source(experiment, output="mine/second") == "mine/first"
    store(experiment, Path("results/other"), **elsewhere(experiment))
    assert source(experiment) is None
    store(experiment, Path("results/alike"))
    assert source(experiment) == "results/alike"


@pytest.mark.parametrize("named", ["far/away", "far"])
def test_a_session_may_be_named_also_of_another_repository(
    experiment: Experiment, named: str
) -> None:
    store(experiment, Path("far/away"), **elsewhere(experiment))
    assert source(experiment, noise=[named]) == "far/away"


def test_sessions_of_other_models_hide_none(experiment: Experiment) -> None:
    store(experiment, Path("far/alike"))
    os.utime("far/alike/experiment.json", (1e9, 1e9))
    for number in range(31):
        store(experiment, Path(f"far/newer{number}"), model="another")
    assert source(experiment, noise=["far"]) == "far/alike"


def test_what_shows_no_noise_is_refused(experiment: Experiment, golden: Sentences) -> None:
    store(experiment, Path("far/away"), model="another")
    with pytest.raises(UsageError) as caught:
        source(experiment, noise=["far"])
    golden(str(caught.value))
    resolved = resolve({"repo": "repo", "noise": ["nowhere"]}, COMPARE)
    with pytest.raises(UsageError, match="There is no session below results"):
        agents.plan_session(resolved, COMPARE)


def test_what_its_stored_output_contradicts_shows_no_noise(experiment: Experiment) -> None:
    alike = experiment.model_copy(update={"session": "0a0a0a0a"})
    store_contradicted(Path("results/planted"), alike)
    assert source(experiment) is None
    with pytest.raises(UsageError):
        source(experiment, noise=["results/planted"])
    store(experiment, Path("results/honest"))
    assert source(experiment) == "results/honest"


def test_a_session_that_does_not_show_how_runs_differ_is_not_named_for_it(
    experiment: Experiment,
) -> None:
    store(experiment, Path("results/alike"))
    planned = agents.plan_session(
        resolve({"repo": "repo", "modes": ["baseline", "canopy"]}, COMPARE), COMPARE
    )
    key = AnswerKey(files=("a.py",))
    tasks = tuple(Task(id=f"t{n}", title="t", prompt=f"p{n}", key=key) for n in range(8))
    enough = planned.experiment.model_copy(update={"tasks": tasks, "agents": len(tasks)})
    told = list[Event]()
    tell_outlook(enough, load({}).settings, told.append, fixed_rules=False)
    (event,) = told
    assert isinstance(event, Foresight)
    assert "(noise assumed, " in event.message


def test_noise_that_is_named_counts_for_a_session_that_is_continued(
    experiment: Experiment,
) -> None:
    key = {"files": ["a.py"]}
    tasks = [
        {"id": f"t{n}", "title": "t", "prompt": f"Where is {n}?", "key": key} for n in range(8)
    ]
    Path("tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    Path("terse.json").write_text('{"mcpServers": {}, "swarmBench": {"instructions": "Be brief."}}')
    given = {"repo": "repo", "modes": ["baseline", "./terse.json"], "tasks": "./tasks.yaml"}
    resolved = resolve(given, COMPARE)
    begun = agents.plan_session(resolved, COMPARE).experiment
    store(begun, Path("results/begun"), session=begun.session)
    remember_session(begun, resolved, list[Event]().append, continued=False)
    store(experiment, Path("far/away"))

    async def messages(**typed: object) -> list[str]:
        told = list[Event]()
        resolved = resolve({"resume": "results/begun", **typed}, COMPARE)
        async with open_prepared_session(approve(resolved), COMPARE, None, told.append):
            return [event.message for event in told if isinstance(event, Foresight)]

    (message,) = anyio.run(partial(messages, noise=["far"]))
    assert "nothing can be shown" in message
    assert anyio.run(messages) == []


@pytest.mark.parametrize("saving", ["0%", "100%", "200%", "-20%", "much", "nan"])
def test_an_expected_saving_that_cannot_be_is_refused(saving: str) -> None:
    with pytest.raises(UsageError, match="--expect"):
        resolve({"expect": saving}, COMPARE)
    with pytest.raises(UsageError, match="--expect"):
        load({"expect": saving})


@pytest.mark.parametrize(
    ("agent", "is_said"), [("scout", True), ("swarm_bench.agents.scripted:Scripted", False)]
)
def test_fixed_rules_save_nothing_that_can_be_expected(
    agent: str, is_said: bool, experiment: Experiment
) -> None:
    del experiment
    Path("play.yaml").write_text("answer: a.py\n")
    model = None if is_said else "play.yaml"
    typed = {"repo": "repo", "modes": ["baseline", "canopy"], "agent": agent, "model": model}
    for expected in ({"expect": "30%"}, {}):
        planned = str(agents.plan_session(resolve({**typed, **expected}, COMPARE), COMPARE))
        assert ("--expect has no effect" in planned) == (is_said and bool(expected))


def test_the_settings_file_may_say_what_is_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swarm-bench.toml").write_text('expect = "35%"\n')
    assert load({}).settings.expect == 0.35


def test_a_calibration_by_fixed_rules_hides_no_comparison_by_them(experiment: Experiment) -> None:
    store(experiment, Path("results/compared"))
    resolved = resolve({"repo": "repo", "modes": ["baseline"]}, CALIBRATE)
    store(agents.plan_session(resolved, CALIBRATE).experiment, Path("results/calibrated"))
    settings = load({}).settings
    found = [
        find_earlier_session(experiment, settings, fixed_rules=fixed_rules)
        for fixed_rules in (True, False)
    ]
    assert [it and it.folder for it in found] == ["results/compared", "results/calibrated"]


def test_a_session_that_is_continued_tells_what_its_rest_takes(experiment: Experiment) -> None:
    begun = agents.plan_session(resolve({"repo": "repo", "modes": ["baseline"]}, COMPARE), COMPARE)
    store(begun.experiment, Path("results/begun"), session=begun.experiment.session)
    store(experiment, Path("results/newer"))
    remember_session(
        begun.experiment,
        resolve({"repo": "repo", "modes": ["baseline"]}, COMPARE),
        list[Event]().append,
        continued=False,
    )

    def told(**typed: object) -> dict[str, str]:
        resolved = resolve({"resume": "results/begun", **typed}, COMPARE)
        plan = agents.plan_session(approve(resolved), COMPARE)
        return {entry.label: " ".join(entry.texts) for entry in plan.outlook}

    assert "(as in results/begun)" in told()["Expected"]
    assert "(as in results/newer)" in told(noise=["results/newer"])["Expected"]


def test_a_limit_that_pays_for_too_few_tasks_is_told_before_the_first_trial(
    experiment: Experiment,
) -> None:
    store(experiment, Path("results/alike"))
    resolved = resolve({"repo": "repo", "modes": ["baseline", "canopy"]}, COMPARE)
    planned = agents.plan_session(resolved, COMPARE).experiment

    def messages(limit: float, **typed: object) -> list[str]:
        told = list[Event]()
        settings = load({"max_cost": limit, **typed}).settings
        tell_outlook(planned, settings, told.append, fixed_rules=False)
        return [event.message for event in told if isinstance(event, WarningRaised)]

    (limited,) = messages(1.0)
    assert limited.startswith("--max-cost 1: ")
    assert messages(100.0) == [], "it is enough"
    assert messages(1.0, resume="results/alike") == [], "nobody knows what is spent"


def test_what_setting_up_takes_is_shown_by_a_session_that_is_named(experiment: Experiment) -> None:
    store(experiment, Path("far/away"))
    began = datetime(2026, 1, 2, tzinfo=UTC)
    times = {"started_at": began, "ended_at": began + timedelta(seconds=12)}
    swarm = make_swarm("baseline", **times, workspace_seconds=2.0, agents=(1,))
    SessionFolder(Path("far/away")).append_swarm(swarm)
    assert find_earlier_set_up(experiment, load({}).settings) is None
    set_up = find_earlier_set_up(experiment, load({"noise": ["far/away"]}).settings)
    assert set_up is not None
    assert (set_up.folder, set_up.preparation) == ("far/away", {"baseline": 2.0})
