"""The sessions so far, each in a line."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from swarm_bench.app.stored.past import PastSession, find_shared_address, read_past_sessions
from swarm_bench.app.stored.reporting import report
from swarm_bench.benchmarks.swarm.folder import find_newest_session
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import COMPARE
from tests.builders.contradicted import store_contradicted
from tests.builders.golden import Sentences

GOLDEN = Path(__file__).parents[2] / "golden"
STORED = ("compare", "humaneval", "retrieve", "growing", "calibrate")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Sessions of each kind, and one that was interrupted; the first one ran last."""
    folder = tmp_path / "results"
    for age, name in enumerate(STORED):
        shutil.copytree(GOLDEN / "sessions" / name, folder / name)
        for file in (folder / name).rglob("experiment.json"):
            os.utime(file, (1_700_000_000 - age,) * 2)
    shutil.copytree(GOLDEN / "session", folder / "older")
    os.utime(folder / "older" / "experiment.json", (1_600_000_000,) * 2)
    return folder


def listed(results: Path) -> dict[str, PastSession]:
    past, more = read_past_sessions(results, 20, lambda step: None)
    assert more == 0
    return {session.name: session for session in past}


def test_each_session_says_what_it_was_and_what_it_came_to(
    results: Path, golden: Sentences
) -> None:
    past = listed(results)
    assert [(it.command, it.state, it.ended, it.planned) for it in past.values()] == [
        ("compare", "finished", 9, 9),
        ("run humaneval", "finished", 9, 9),
        ("retrieve", "finished", 10, 10),
        ("compare", "finished", 2, 2),
        ("compare", "finished", 2, 2),
        ("calibrate", "finished", 12, 12),
        ("compare", "interrupted", 0, 12),
    ]
    assert next(iter(past)) == "compare"
    assert "growing/agents-1" in past
    golden(*(f"{it.name}: {it.verdict}" for it in past.values()))


def test_the_verdict_is_what_the_summary_claims(results: Path) -> None:
    judged = {name: past.verdict for name, past in listed(results).items() if past.verdict}
    assert judged.keys() >= {"compare", "humaneval", "retrieve", "calibrate"}
    for name, verdict in judged.items():
        summary = report(results / name).markdown
        for part in verdict.split("; "):
            assert f"{part.rpartition(': ')[2]}.**" in summary, name


def test_only_what_somebody_is_billed_for_has_a_cost(results: Path) -> None:
    assert {session.cost for session in listed(results).values()} == {None}
    path = results / "compare" / "metrics.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for number, record in enumerate(records):
        record |= {"fixed_rules": False, "model": "one", "cost": None if number == 0 else 0.25}
        record.pop("seal", None)
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    past = listed(results)["compare"]
    assert (past.cost, past.unpriced) == (0.25 * (len(records) - 1), 1)


def test_one_that_still_runs_is_not_called_interrupted(results: Path) -> None:
    lock = results / "older" / ".swarm-bench-session"
    lock.touch()
    assert listed(results)["older"].state == "interrupted"
    with lock.open("ab") as held:
        fcntl.flock(held.fileno(), fcntl.LOCK_EX)
        assert listed(results)["older"].state == "running"


def test_one_that_cannot_be_read_hides_no_other(results: Path) -> None:
    (results / "compare" / "experiment.json").write_text('{"session": "abcd", "benchmark": 1}')
    past = listed(results)
    assert (past["compare"].state, past["compare"].id) == ("unreadable", "abcd")
    assert past["compare"].problem
    assert len(past) == 7


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00", "9999-12-31T23:59:59Z"])
def test_one_of_an_odd_date_hides_no_other(results: Path, at: str) -> None:
    file = results / "compare" / "experiment.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "created_at": at}))
    past = listed(results)
    assert past["compare"].state == "unreadable"
    assert len(past) == 7
    assert find_newest_session(results, COMPARE) != results / "compare"


def test_the_newest_are_read_and_the_others_counted(results: Path) -> None:
    steps: list[str] = []
    past, more = read_past_sessions(results, 2, steps.append)
    assert ([session.name for session in past], more) == (["compare", "humaneval"], 5)
    assert len(steps) == 2
    with pytest.raises(UsageError):
        read_past_sessions(results / "absent", 2, steps.append)


@pytest.mark.parametrize(
    ("arms", "shared"),
    [
        (["http://h:1/v1#small", "http://h:1/v1#small-v2"], "http://h:1/v1#"),
        (["http://h:1/v1#small", "http://h:1/v1#small-v2", "copy"], "http://h:1/v1#"),
        (["http://h:1/a/v1#m", "http://h:1/b/v1#m"], "http://h:1/"),
        (["http://h:1/v1#m", "http://h:2/v1#m"], ""),
        (["http://h:1/v1#m", "copy"], ""),
        (["openai:gpt-5", "openai:gpt-5-mini"], ""),
        ([], ""),
    ],
)
def test_the_address_that_arms_share(arms: list[str], shared: str) -> None:
    assert find_shared_address(arms) == shared


def test_figures_that_the_stored_output_contradicts_have_no_verdict(tmp_path: Path) -> None:
    store_contradicted(tmp_path / "results" / "planted")
    (past,) = listed(tmp_path / "results").values()
    assert past.verdict == "canopy: no verdict"
