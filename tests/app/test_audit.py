"""Records held against the streams that lie beside them."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.analysis.caveats.integrity import describe_audit
from swarm_bench.analysis.selection import Selection
from swarm_bench.app.audit import audit_streams
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.core.outcome import AgentExit, Outcome
from swarm_bench.core.session.audit import Audit
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.status import Cause
from swarm_bench.retrieval.modes.secrets import make_storable
from tests.builders.executions import figures_of
from tests.builders.golden import Sentences
from tests.builders.reports import summarise
from tests.builders.sessions import make_experiment, make_trial

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
        folder.write_experiment(make_storable(experiment or given))
        (folder.path / "canopy").mkdir()
        for agent in range(1, agents + 1):
            stdout = folder.path / "canopy" / f"agent-{agent}.stream.jsonl"
            shutil.copy(SAMPLE, stdout)
            stderr = stdout.with_name(f"agent-{agent}.stderr.log")
            stderr.touch()
            exit = AgentExit(returncode=0, stopped=None, stdout=stdout, stderr=stderr)
            figures = {**figures_of(Claude().outcome(exit)), "result_lines": 1}
            record = make_trial("canopy", agent=agent, trial=str(agent), **(figures | changes))
            folder.records.append(record)
        return folder

    return session


def audit(folder: SessionFolder, most_bytes: int = 10**9) -> Audit:
    found = audit_streams(folder, folder.read(), most_bytes).audit
    assert found is not None
    return found


def test_what_the_stream_says_too_is_as_it_was(make: Make) -> None:
    found = audit(make())
    assert (found.streams, found.differing, found.lost_streams, found.unread) == (1, {}, 0, 0)


@pytest.mark.parametrize(
    ("key", "value"),
    [("total_tokens", 1), ("cost", 0.001), ("num_turns", 9), ("result_lines", 40), ("requests", 1)],
)
def test_a_figure_that_the_stream_gives_otherwise_is_named(
    key: str, value: float, make: Make, golden: Sentences
) -> None:
    folder = make(**{key: value})
    data = audit_streams(folder, folder.read())
    assert data.audit is not None
    assert data.audit.differing == {("1", 1): (key,)}
    golden(*summarise(data).headline.standings[0].qualifications)


LACKING = {"cost": None, "result_lines": None}


def recorded_by(version: str) -> Experiment:
    return make_experiment(("canopy",), agent=CLAUDE, versions={"swarm-bench": version})


def test_a_figure_that_is_only_in_the_stream_was_taken_away(make: Make) -> None:
    folder = make(experiment=recorded_by(version("swarm-bench")), **LACKING)
    assert audit(folder).differing == {("1", 1): ("cost", "result_lines")}


@pytest.mark.parametrize("then", ["0.0.1", ""])
def test_another_version_may_not_have_read_that_figure(then: str, make: Make) -> None:
    assert audit(make(experiment=recorded_by(then), **LACKING)).differing == {}


@pytest.mark.parametrize(
    ("status", "cause", "differing"),
    [
        ("harness-failed", "adapter-failed", ()),
        ("cancelled", "interrupted", ()),
        ("budget-reached", "timeout", ("cost",)),
        ("completed", None, ("cost",)),
    ],
)
def test_figures_that_are_kept_from_a_record_are_no_difference(
    status: str, cause: str | None, differing: tuple[str, ...], make: Make
) -> None:
    """What ended for a reason of ours may never have been read, and only an answer has lines."""
    experiment = recorded_by(version("swarm-bench"))
    found = audit(make(experiment=experiment, status=status, cause=cause, **LACKING))
    assert found.differing.get(("1", 1), ()) == differing


def test_a_figure_that_is_only_in_the_record_is_no_difference(make: Make) -> None:
    """Some agents leave one in their home, which is gone."""
    folder = make(experiment=recorded_by(version("swarm-bench")))
    stdout = folder.path / "canopy" / "agent-1.stream.jsonl"
    stdout.write_bytes(stdout.read_bytes().replace(b"total_cost_usd", b"unknown"))
    assert audit(folder).differing == {}


def test_only_the_last_attempt_is_held_against_the_stream(make: Make) -> None:
    """Its file has the same name."""
    folder = make()
    (last,) = folder.read().trials
    earlier = last.model_copy(update={"attempt": 1, "total_tokens": 1})
    folder.records.append(last.model_copy(update={"attempt": 2}))
    folder.records.append(earlier)
    found = audit(folder, most_bytes=SAMPLE.stat().st_size)
    assert (found.streams, found.unread, found.differing) == (1, 0, {})
    (folder.path / "canopy" / "agent-1.stream.jsonl").unlink()
    assert audit(folder).lost_streams == 1


@pytest.mark.parametrize("error", [ValueError("a defect"), SystemExit(0)])
def test_a_stream_that_cannot_be_read_again_was_held_against_nothing(
    make: Make, monkeypatch: pytest.MonkeyPatch, error: BaseException, golden: Sentences
) -> None:
    def outcome(_: Claude, exit: AgentExit) -> Outcome:
        if "agent-2" in exit.stdout.name:
            return Outcome(cause=Cause.FINISHED)
        raise error

    folder = make(agents=3)
    monkeypatch.setattr(Claude, "outcome", outcome)
    found = audit(folder)
    assert (found.streams, found.unreadable, found.differing) == (1, 2, {})
    data = replace(folder.read(), audit=found)
    (note,) = describe_audit(Selection(data))
    golden(note)
    single = replace(folder.read(), audit=replace(found, unreadable=1, unread=1))
    notes = " ".join(describe_audit(Selection(single)))
    golden(notes)


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
    assert any("2 of 5 streams" in note for note in describe_audit(Selection(data)))


def test_streams_that_are_gone_are_counted_and_links_are_not_followed(
    make: Make, tmp_path: Path, golden: Sentences
) -> None:
    folder = make(agents=3, total_tokens=1)
    gone, linked = (folder.path / "canopy" / f"agent-{one}.stream.jsonl" for one in (1, 2))
    gone.unlink()
    linked.rename(tmp_path / "elsewhere")
    linked.symlink_to(tmp_path / "elsewhere")
    found = audit(folder)
    assert (found.lost_streams, found.streams, set(found.differing)) == (2, 1, {("3", 1)})
    data = replace(folder.read(), audit=found)
    golden(*describe_audit(Selection(data)))


@pytest.mark.parametrize("name", ["mine:Agent", "codebot (codebot.yaml)", "replay", "command"])
def test_nothing_is_loaded_because_a_session_names_it(name: str, make: Make) -> None:
    agent = {"name": name, "version": "1"}
    folder = make(experiment=make_experiment(("canopy",), agent=agent), total_tokens=1)
    data = audit_streams(folder, folder.read())
    assert data.audit is not None
    assert (data.audit.adapter, data.audit.streams, data.audit.differing) == (False, 0, {})
    assert any("nothing is loaded" in note for note in describe_audit(Selection(data)))


def test_another_version_may_have_read_a_stream_otherwise(make: Make) -> None:
    experiment = make_experiment(("canopy",), agent=CLAUDE, versions={"swarm-bench": "0.0.1"})
    folder = make(experiment=experiment, total_tokens=1)
    warnings = summarise(audit_streams(folder, folder.read())).warnings
    assert any("or swarm-bench 0.0.1" in warning for warning in warnings)
