"""Records held against the streams that lie beside them."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.claude import Claude
from swarm_bench.analysis.audit_concerns import about_audit
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.summary import summarise
from swarm_bench.app.audit import with_streams
from swarm_bench.core.audit import Audit
from swarm_bench.core.experiment import Experiment
from swarm_bench.core.outcome import AgentExit
from swarm_bench.engine.folder import SessionFolder
from swarm_bench.engine.recording import figures_of
from tests.analysis.conftest import make_experiment, make_trial

SAMPLE = Path(__file__).parents[1] / "agents/samples/claude-code/success_stream.jsonl"
CLAUDE = {"name": "claude", "version": "2.1.329"}
Make = Callable[..., SessionFolder]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes a session of so many agents of Claude Code that all left the same stream."""

    def session(agents: int = 1, experiment: Experiment | None = None, **changes: Any) -> Any:
        folder = SessionFolder(tmp_path / "session")
        folder.make()
        given = make_experiment(("canopy",), agents=agents, agent=CLAUDE)
        folder.write_experiment(experiment or given)
        (folder.path / "canopy").mkdir()
        for agent in range(1, agents + 1):
            stdout = folder.path / "canopy" / f"agent-{agent}.stream.jsonl"
            shutil.copy(SAMPLE, stdout)
            stderr = stdout.with_name(f"agent-{agent}.stderr.log")
            stderr.touch()
            exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=stderr)
            figures = figures_of(Claude().outcome(exit), 15) | {"result_lines": 1}
            record = make_trial("canopy", agent=agent, trial=str(agent), **(figures | changes))
            folder.append_trial(record)
        return folder

    return session


def audit(folder: SessionFolder, most_bytes: int = 10**9) -> Audit:
    found = with_streams(folder, folder.read(), most_bytes).audit
    assert found is not None
    return found


def test_what_the_stream_says_too_is_as_it_was(make: Make) -> None:
    found = audit(make())
    assert (found.streams, found.differing, found.lost, found.unread) == (1, {}, 0, 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [("total_tokens", 1), ("cost", 0.001), ("num_turns", 9), ("result_lines", 40), ("requests", 1)],
)
def test_a_figure_that_the_stream_gives_otherwise_is_named(
    key: str, value: float, make: Make
) -> None:
    folder = make(**{key: value})
    data = with_streams(folder, folder.read())
    assert data.audit is not None
    assert data.audit.differing == {("1", 1): (key,)}
    assert "the figures of 1 of 1 trial are not those of their stored streams" in (
        summarise(data).headline.standings[0].qualifications
    )


def test_a_figure_that_one_of_the_two_lacks_is_no_difference(make: Make) -> None:
    assert audit(make(cost=None, input_tokens=None, api_seconds=3.0)).differing == {}


def test_of_too_much_the_streams_of_doubtful_lines_come_first(make: Make) -> None:
    folder = make(agents=5)
    metrics = folder.path / "metrics.jsonl"
    metrics.write_bytes(
        metrics.read_bytes().replace(b'"total_tokens":140', b'"total_tokens":14', 1)
    )
    (edited,) = audit(folder).edited
    found = audit(folder, 2 * SAMPLE.stat().st_size)
    assert (found.streams, found.unread, set(found.differing)) == (2, 3, {edited})
    data = replace(folder.read(), audit=replace(found, edited=frozenset(), differing={}))
    assert any("2 of 5 streams" in note for note in about_audit(Selection(data)))


def test_streams_that_are_gone_are_counted_and_links_are_not_followed(
    make: Make, tmp_path: Path
) -> None:
    folder = make(agents=3, total_tokens=1)
    gone, linked = (folder.path / "canopy" / f"agent-{one}.stream.jsonl" for one in (1, 2))
    gone.unlink()
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    found = audit(folder)
    assert (found.lost, found.streams, set(found.differing)) == (2, 1, {("3", 1)})
    data = replace(folder.read(), audit=found)
    assert any("The streams of 2 trials are not" in note for note in about_audit(Selection(data)))


@pytest.mark.parametrize("name", ["mine:Agent", "codebot (codebot.yaml)", "replay", "command"])
def test_nothing_is_loaded_because_a_session_names_it(name: str, make: Make) -> None:
    agent = {"name": name, "version": "1"}
    folder = make(experiment=make_experiment(("canopy",), agent=agent), total_tokens=1)
    data = with_streams(folder, folder.read())
    assert data.audit is not None
    assert (data.audit.adapter, data.audit.streams, data.audit.differing) == (False, 0, {})
    assert any("nothing is loaded" in note for note in about_audit(Selection(data)))


def test_another_version_may_have_read_a_stream_otherwise(make: Make) -> None:
    experiment = make_experiment(("canopy",), agent=CLAUDE, versions={"swarm-bench": "0.0.1"})
    folder = make(experiment=experiment, total_tokens=1)
    warnings = summarise(with_streams(folder, folder.read())).warnings
    assert any("or swarm-bench 0.0.1" in warning for warning in warnings)
