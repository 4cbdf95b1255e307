"""Growing swarms, from the command to the summary on top."""

import json
import re
import shutil

import pytest
import yaml

from swarm_bench.engine.folder import LOCK
from swarm_bench.runtime.files import hold_lock
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

UNHELD = (
    "- The streams were not held against the records: the agent is no registered one, and nothing "
    "is loaded because a session names it.\n"
)
SCRIPTED = ("--agent", "swarm_bench.agents.scripted:Scripted", "--model", "script.yaml")


def script(bench: Bench, *steps: object) -> None:
    (bench.folder / "script.yaml").write_text(yaml.safe_dump([{"steps": list(steps)}]))


def test_a_series_measures_the_same_trials_in_growing_swarms(bench: Bench) -> None:
    script(bench, {"answer": {"text": "a.py:1", "turns": 2}})
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "canopy-service", *SCRIPTED,
        "--agents", "1", "2", "--runs", "1", "--output", "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert done.out == (bench.folder / "out" / "summary.md").read_text()
    one, two = bench.records("out/agents-1"), bench.records("out/agents-2")
    assert {r["trial"] for r in one} == {r["trial"] for r in two}
    assert len(one) == len(two) == 2
    swarms = {
        size: [
            json.loads(line)["agents"]
            for line in (bench.folder / f"out/agents-{size}/retrieval.jsonl")
            .read_text()
            .splitlines()
        ]
        for size in (1, 2)
    }
    assert sorted(swarms[1]) == [[1], [2]]
    assert sorted(swarms[2]) == [[1, 2]]
    for part in (
        "| Metric", " 1 at a time |", " 2 at a time |", "Wall time", "Query cache hits",
        "canopy-service: where 2 agents share a workspace instead of 1, ",
        "(agents-2/summary.md)",
    ):  # fmt: skip
        assert part in done.out
    assert (bench.folder / "out/agents-2/summary.md").is_file()
    again = bench.call("report", "out")
    assert (again.code, again.out.replace(UNHELD, "")) == (0, done.out)
    assert UNHELD in again.out


def test_a_series_is_continued_and_extended(bench: Bench) -> None:
    script(bench, {"answer": {"text": "a.py:1", "turns": 2}})
    words = ["--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED]
    done = bench.call("compare", *words, "--agents", "1", "3", "--runs", "1")
    assert done.code == 0, done.err
    (folder,) = (bench.folder / "results").glob("swarm-*")
    where = str(folder.relative_to(bench.folder))
    shutil.rmtree(folder / "agents-3")
    done = bench.call("compare", "--continue", "--agents", "1", "2", "3", "--runs", "2")
    assert done.code == 0, done.err
    assert {n: len(bench.records(f"{where}/agents-{n}")) for n in (1, 2, 3)} == dict.fromkeys(
        (1, 2, 3), 6
    )
    done = bench.call("compare", "--continue", where, "--agents", "1", "4")
    assert (done.code, "has 3 agents" in done.err) == (2, True), done.err
    alone = bench.call("compare", "--continue", f"{where}/agents-2", "--runs", "3")
    assert (alone.code, len(bench.records(f"{where}/agents-2"))) == (0, 9), alone.err
    assert "different numbers of runs" in bench.call("report", where).out


def test_a_size_that_was_cut_off_has_a_page_all_the_same(bench: Bench) -> None:
    script(bench, {"answer": {"text": "a.py:1", "turns": 2}})
    words = ["--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED, "--runs", "1"]
    done = bench.call("compare", *words, "--agents", "1", "2", "--output", "out")
    assert done.code == 0, done.err
    held, page = (bench.folder / "out" / f"agents-{size}" / "report.html" for size in (1, 2))
    held.unlink()
    page.unlink()
    with hold_lock(held.parent / LOCK):
        done = bench.call("compare", "--continue", "out")
    assert (done.code, "is in use by another swarm-bench" in done.err) == (2, True), done.err
    assert page.is_file()
    assert not held.exists(), "whoever runs it writes its page"
    whole = (bench.folder / "out" / "report.html").read_text()
    assert 'href="agents-2/report.html"' in whole
    assert " --agents 1 2 " in whole


def test_the_worst_size_gives_the_exit_code(bench: Bench, golden: Sentences) -> None:
    """The second agent dies without an answer: a result, and no failure of the harness."""
    script(bench, {"answer": {"text": "a.py:1"}})
    words = ["--repo", str(bench.repo), "--modes", "canopy", *SCRIPTED, "--runs", "1"]
    done = bench.call(
        "compare", *words, "--agents", "1", "2", "--require-retrieval", "--output", "out"
    )
    assert done.code == 4, done.err
    golden(done.err)
    assert "--continue" in done.err.splitlines()[-1]


def test_a_repository_that_changes_meanwhile_ends_the_series(
    bench: Bench, golden: Sentences
) -> None:
    change = 'cd "$0" && date >> new.py && git add -A && git -c user.name=a '
    change += "-c user.email=a@example.org commit -qm more"
    script(bench, {"run": ["sh", "-c", change, str(bench.repo)]}, {"answer": {"text": "a.py:1"}})
    words = ["--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED, "--runs", "1"]
    done = bench.call("compare", *words, "--agents", "1", "2", "--output", "out")
    assert (done.code, "Since the series began" in done.err) == (2, True), done.err
    assert "Results: " in done.err
    golden(parts(done.out, "Headline", "Warnings"))
    again = bench.call("report", "out").out
    assert again.replace(f"## Notes\n\n{UNHELD}\n", "") == done.out
    assert again == (bench.folder / "out" / "summary.md").read_text()
    assert "Nothing can be said yet" in again
    assert len(bench.records("out/agents-1")) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--agents", "1", "1"], "must be numbers that differ"),
        (["--agents", "0", "2"], "must be at least 1"),
        (["--agents", "1", "9", "--all-tasks"], "a swarm has at most the 5 tasks"),
        (["--agents", "1", "2", "--concurrency", "3"], "--concurrency 3 is more than the 2"),
    ],
)
def test_what_a_series_refuses(bench: Bench, words: list[str], says: str) -> None:
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", *words, "--output", "out"
    )
    assert (done.code, says in done.err) == (2, True), done.err
    assert not (bench.folder / "out").exists()


def test_the_plan_has_all_sizes(bench: Bench, golden: Sentences) -> None:
    words = ["--repo", str(bench.repo), "--modes", "baseline", "--agents", "1", "2", "--runs", "1"]
    done = bench.call("compare", *words, "--plan")
    assert done.code == 0, done.err
    assert "Swarms of 1" in done.out
    assert "Swarms of 2" in done.out
    assert "Cost:" not in done.out
    (all_sizes,) = (line for line in done.out.splitlines() if line.startswith("All sizes:"))
    golden(all_sizes)
    assert not (bench.folder / "results").exists()


def test_an_interruption_ends_the_series(bench: Bench) -> None:
    script(bench, {"print": "begun"}, {"hang": True})
    started = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED, "--runs", "1",
        "--agents", "1", "2", "--output", "out",
    )  # fmt: skip
    assert started.stderr is not None
    for line in started.stderr:
        if b" 1 starts: " in line:
            break
    started.send_signal(2)
    _, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert b"Continue with: swarm-bench compare --continue" in err
    assert not (bench.folder / "out" / "agents-2").exists()
    assert (bench.folder / "out" / "summary.md").is_file()


@pytest.mark.parametrize(
    ("signal", "at"), [(2, b" 2 ended: "), (15, b"swarms of 2"), (1, b"swarms of 2")]
)
def test_a_signal_between_two_sizes_ends_the_series_in_order(
    bench: Bench, signal: int, at: bytes
) -> None:
    """No session listens then."""
    script(bench, {"answer": {"text": "a.py:1", "turns": 2}})
    started = bench.start(
        "compare", "--repo", str(bench.repo), "--modes", "baseline", *SCRIPTED, "--runs", "1",
        "--agents", "1", "2", "--output", "out",
    )  # fmt: skip
    assert started.stderr is not None
    for line in started.stderr:
        if at in line:
            break
    started.send_signal(signal)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    last = err.splitlines()[-3:]
    assert re.fullmatch(rb"Interrupted: [0-9]+ of [0-9]+ trials have ended.", last[0])
    assert last[1].startswith(b"Results: ")
    assert last[2].startswith(b"Continue with: swarm-bench compare --continue ")
    assert b"- 2 agents: not run; --continue runs it." in out
    assert (bench.folder / "out" / "summary.md").read_bytes() == out
    assert (bench.folder / "out" / "agents-1" / "summary.md").is_file()
