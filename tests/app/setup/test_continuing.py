"""A session of one's own goes on from any folder, and says what keeps it from that."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml

from swarm_bench.analysis.planning.session_plan import PlannedSession
from swarm_bench.app import series
from swarm_bench.app.running import agents
from swarm_bench.app.setup.preparation import open_prepared_session
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.app.trust.approval import approve, remember_session
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.config.layers import Resolved
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import COMPARE, DESIGNS, Design
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.retrieval.modes.secrets import make_storable

AGENT = {
    "name": "own",
    "command": ["true", "{{ prompt }}", "{{ mcp_config }}", "{{ max_turns }}"],
    "output": {"format": "json", "answer": "$.answer"},
}
GIVEN = {
    "modes": ["baseline", "../good.json"],
    "tasks": "../t.yaml",
    "agent": "../slow.yaml",
    "agents": 1,
    "runs": 2,
}


class Reads:
    """Counts how often files are opened to be read, by name. Python can add a hook, and take none
    away."""

    def __init__(self) -> None:
        self.count = Counter[str]()
        self._counts = True
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not (self._counts and event == "open" and isinstance(arguments[0], str | os.PathLike)):
            return
        if not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            self.count[Path(arguments[0]).name] += 1

    def stop(self) -> None:
        self._counts = False


@pytest.fixture
def reads() -> Iterator[Counter[str]]:
    """How often files were read so far, by name."""
    counting = Reads()
    yield counting.count
    counting.stop()


SCRIPTED = {
    "modes": ["baseline"],
    "tasks": "../t.yaml",
    "agent": "swarm_bench.agents.scripted:Scripted",
    "model": "../script.yaml",
    "runs": 1,
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of the user's, a repository `app` among them, which is gone to."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    here = tmp_path / "w"
    (here / "app").mkdir(parents=True)
    (here / "other").mkdir()
    (here / "app" / "a.py").write_text("A = 1\n")
    good = {"mcpServers": {"x": {"command": "true"}}}
    (here / "good.json").write_text(json.dumps(good))
    tasks = [{"id": "a", "title": "A", "prompt": "Where is A?"}]
    (here / "t.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    (here / "slow.yaml").write_text(yaml.safe_dump(AGENT))
    steps = [{"init": {"tools": ["Read"]}}, {"answer": {"text": "a.py:1", "turns": 1}}]
    (here / "script.yaml").write_text(yaml.safe_dump([{"steps": steps}]))
    monkeypatch.chdir(here / "app")
    return here


def make(given: Mapping[str, Any], folder: Path, design: Design = COMPARE) -> Experiment:
    """A session as a call stores and remembers it, before its first trial."""
    resolved = resolve(given, design, None)
    experiment = anyio.run(_experiment, resolved, design)
    store(experiment, folder)
    remember_session(experiment, resolved, ignore, continued=False)
    return experiment


async def _experiment(resolved: Resolved, design: Design) -> Experiment:
    async with open_prepared_session(resolved, design, None, None) as ready:
        return ready.experiment


def store(experiment: Experiment, folder: Path) -> None:
    made = SessionFolder(folder)
    made.make()
    made.write_experiment(make_storable(experiment))


def ignore(event: object) -> None:
    """Hears an event, and says nothing."""


def go_on(folder: Path, **given: object) -> PlannedSession:
    resolved = resolve({"resume": str(folder), **given}, COMPARE, None)
    return agents.plan_session(approve(resolved), COMPARE)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_an_older_session_goes_on_by_its_own_command(design: Design) -> None:
    given = {**GIVEN, "modes": ["baseline"]}
    experiment = make(given, Path("out"), design)
    file = Path("out", "experiment.json")
    content = json.loads(file.read_text())
    del content["design"], content["benchmark_version"]
    file.write_text(json.dumps({**content, "benchmark": design.stem}))
    resolved = resolve({"resume": "out"}, design)
    assert resolved.session == experiment
    other = next(each for each in DESIGNS.values() if each != design)
    with pytest.raises(UsageError, match=f"continue it with: swarm-bench {design.name} --continue"):
        resolve({"resume": "out"}, other)


def test_a_session_of_ones_own_goes_on_from_any_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(GIVEN, place / "out")
    monkeypatch.chdir(place / "other")
    grown = go_on(place / "out", runs=3).experiment
    assert grown.runs == 3
    assert [mode.name for mode in grown.modes] == ["baseline", "good"]
    files = {"modes": ["baseline", "../good.json"], "agent": "../slow.yaml", "tasks": "../t.yaml"}
    assert len(go_on(place / "out", **files).experiment.tasks) == 1
    with pytest.raises(UsageError, match="give 2 or more"):  # before anything is copied
        resolve({"resume": str(place / "out"), "runs": 1}, COMPARE, None)
    (place / "other" / "good.json").write_text("{}")
    with pytest.raises(UsageError, match="both called 'good'"):
        go_on(place / "out", modes=["./good.json"])


def test_paths_of_an_older_session_are_those_of_its_files(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make({**GIVEN, "agent": "scout"}, place / "new")
    typed = made.settings["modes"].model_copy(update={"value": GIVEN["modes"]})
    store(made.model_copy(update={"settings": {**made.settings, "modes": typed}}), place / "old")
    monkeypatch.chdir(place / "other")
    assert go_on(place / "old", runs=3).experiment.runs == 3
    (place / "good.json").write_text(json.dumps({"mcpServers": {"x": {"command": "false"}}}))
    with pytest.raises(UsageError, match="has changed since the session began"):
        go_on(place / "old", runs=3)


def test_the_plan_shows_an_agent_whose_file_changed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(GIVEN, place / "out")
    (place / "slow.yaml").write_text(yaml.safe_dump({**AGENT, "about": "changed"}))
    monkeypatch.chdir(place / "other")
    resolved = resolve({"resume": str(place / "out")}, COMPARE, None)
    planned = agents.plan_session(approve(resolved, refuse=False), COMPARE)
    assert planned.experiment.agent.name == "own (slow.yaml)"
    (withheld,) = planned.launches.unapproved
    assert "slow.yaml" in withheld


def test_a_session_is_read_once(
    place: Path, reads: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make({**GIVEN, "agents": 2, "agent": "scout"}, place / "out")
    (place / "out" / "metrics.jsonl").touch()
    reads.clear()
    monkeypatch.chdir(place / "other")
    Path(".env").write_text("SWARM_BENCH_QUIET=1\n")
    Path("swarm-bench.toml").write_text("quiet = true\n")
    go_on(place / "out", runs=3)
    for name in ("experiment.json", ".env", "swarm-bench.toml"):
        assert reads[name] == 1, name
    assert reads["metrics.jsonl"] == 2  # what is done, and what that shows of the rest
    for size in (1, 2):
        own = made.model_copy(update={"swarm_size": size, "concurrency": size})
        store(own, place / "sizes" / f"agents-{size}")
    reads.clear()
    resolved = resolve({"resume": str(place / "sizes"), "agents": [1, 2]}, COMPARE)
    series.show_plan(approve(resolved, refuse=False), COMPARE)
    assert reads["experiment.json"] == 2


def test_a_session_needs_its_task_file_no_more(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place / "other")
    Path("tasks").mkdir()
    suite = (place / "t.yaml").rename(Path("tasks", "mine.yaml").absolute())
    made = make({**GIVEN, "repo": "../app", "tasks": "mine"}, place / "out")
    suite.unlink()
    assert go_on(place / "out", runs=3).experiment.tasks == made.tasks


def test_a_session_that_changed_since_it_was_read_is_refused(place: Path) -> None:
    made = make({**GIVEN, "agent": "scout"}, place / "out")
    resolved = approve(resolve({"resume": str(place / "out")}, COMPARE))
    store(made.model_copy(update={"runs": 3}), place / "out")
    with pytest.raises(UsageError, match="was changed while this command started"):
        agents.plan_session(resolved, COMPARE)


def test_a_session_that_grows_is_read_again_for_its_summary_only(
    place: Path, reads: Counter[str]
) -> None:
    typed = {**SCRIPTED, "output": place / "out"}
    agents.run(resolve(typed, COMPARE), COMPARE, ignore)
    reads.clear()
    grown = approve(resolve({"resume": str(place / "out"), "runs": 2}, COMPARE))
    assert agents.run(grown, COMPARE, ignore).end_counts.unfinished == 0
    assert reads["experiment.json"] == 4, "the page is of the stored session, of whatever kind"
    assert reads["metrics.jsonl"] == 4, (
        "once before, once to fold it, for the summary, and for the page"
    )


@pytest.mark.usefixtures("place")
def test_the_newest_session_is_found_without_reading_them_all(reads: Counter[str]) -> None:
    made = make({**GIVEN, "agent": "scout"}, Path("results", "0"))
    for number in range(1, 5):
        later = made.created_at + timedelta(seconds=60 * number)
        file = Path("results", str(number))
        store(made.model_copy(update={"created_at": later}), file)
        os.utime(file / "experiment.json", (later.timestamp(), later.timestamp()))
    reads.clear()
    assert str(resolve({"resume": ""}, COMPARE).settings.resume).endswith("results/4")
    assert reads["experiment.json"] == 2
    now = time.time() + 3600
    os.utime(Path("results", "0", "experiment.json"), (now, now))  # it was continued
    Path("results", "gone").mkdir()
    Path("results", "gone", "experiment.json").symlink_to("nowhere")
    assert str(resolve({"resume": ""}, COMPARE).settings.resume).endswith("results/4")


def test_a_series_reads_each_size_once_for_its_summaries(place: Path, reads: Counter[str]) -> None:
    resolved = resolve({**SCRIPTED, "agents": [1, 2, 3], "output": place / "out"}, COMPARE)
    reads.clear()
    series.run(resolved, COMPARE, ignore)
    assert reads["retrieval.jsonl"] == 11, (
        "of each size for its own summary and page, for the series, and for what the next one shows"
    )


def test_what_was_named_before_the_first_trial_stays(place: Path) -> None:
    made = make({**GIVEN, "agent": "scout"}, place / "out")
    assert made.beforehand is not None
    assert made.beforehand.is_whole
    again = {"resume": str(place / "out")}
    assert resolve({**again, "primary": "effective_tokens"}, COMPARE).settings.margin == 0.1
    with pytest.raises(UsageError, match="--primary was named before the first trial, as 'effec"):
        resolve({**again, "primary": "cost"}, COMPARE)


@pytest.mark.parametrize(
    ("command", "given", "runs"),
    [
        ("compare", {}, 1),
        ("compare", {"agents": [4]}, 3),
        ("compare", {"agents": [1, 2]}, 3),
        ("compare", {"agents": [4], "runs": 2}, 2),
        ("ab", {}, 3),
        ("calibrate", {}, 2),
        ("calibrate", {"agents": [4]}, 5),
    ],
)
def test_a_number_of_agents_has_the_runs_that_it_always_had(
    command: str, given: Mapping[str, Any], runs: int
) -> None:
    assert resolve(given, DESIGNS[command]).settings.runs == runs


@pytest.mark.parametrize(("agents", "runs"), [([], 2), ([4], 5)])
def test_a_settings_file_for_compare_makes_no_calibration_wait_for_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agents: list[int], runs: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swarm-bench.toml").write_text("until_clear = true\n")
    assert resolve({}, COMPARE).settings.until_clear
    resolved = resolve({"agents": agents} if agents else {}, DESIGNS["calibrate"])
    assert (resolved.settings.until_clear, resolved.settings.runs) == (False, runs)
    assert resolved.dump_settings()["until_clear"].source == "default"
