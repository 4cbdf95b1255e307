"""The page of a session, `report.html`: when it is written, what stands in its way, and how it is
opened."""

import json
import os
import re
import shlex
import sys
import zlib
from base64 import b64decode
from collections import Counter
from contextlib import ExitStack
from html import unescape
from pathlib import Path

import pytest

from swarm_bench.app.stored.pages import is_own, report_page, write_last_page
from swarm_bench.app.stored.session import StoredSession
from swarm_bench.core.events import WarningRaised
from swarm_bench.core.report.document import Document
from swarm_bench.core.report.pictures import MARK
from swarm_bench.engine.folder import LOCK
from swarm_bench.runtime.files import hold_lock
from tests.e2e.conftest import Bench
from tests.e2e.test_script_folder import ANSWER, LINE, write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
TASKS = """
tasks:
  - {id: auth, title: Tokens, prompt: 'Where is a token checked?', key: {files: [shop/auth.py]}}
"""
STILL_RUNS = "This session was still running"
COMPARE = ("compare", "--modes", "baseline", "--agents", "2", "--runs", "1", "--quiet")


@pytest.fixture
def session(bench: Bench) -> Path:
    """A session that has ended."""
    done = bench.call(*COMPARE, "--repo", str(bench.repo), "--output", "out")
    assert done.code == 0, done.err
    return bench.folder / "out"


def test_a_session_ends_with_its_page(bench: Bench, session: Path) -> None:
    page = (session / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<h1>Swarm Benchmark Summary</h1>" in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    (session / "report.html").unlink()
    plain = bench.call("report", "out")
    assert not (session / "report.html").exists()
    again = bench.call("report", "out", "--html")
    assert (again.code, again.out) == (0, plain.out), again.err
    assert (session / "report.html").read_text() == page


def test_a_page_follows_its_summary(bench: Bench, session: Path) -> None:
    marked = (session / "report.html").read_text().replace("<h1>", "<h1>Old ")
    (session / "report.html").write_text(marked)
    assert bench.call("report", "out").code == 0
    assert "<h1>Old " not in (session / "report.html").read_text()


def test_other_files_stay(bench: Bench, session: Path) -> None:
    (session / "report.html").write_text("<p>mine</p>")
    (session / "summary.md").unlink()
    for words, output in ((("report", "out", "--html"), "# Swarm"), (("view", "out"), "")):
        done = bench.call(*words)
        assert (done.code, done.out[:7]) == (2, output)
        assert "report.html is no page of swarm-bench and stays as it is; rename it" in done.err
        assert done.err.count("\n") == 1, done.err
    assert (session / "summary.md").is_file()
    assert (session / "report.html").read_text() == "<p>mine</p>"
    assert bench.call("report", "out").code == 0
    assert (session / "report.html").read_text() == "<p>mine</p>"


def test_a_link_in_its_place_is_not_followed(bench: Bench, session: Path) -> None:
    target = bench.folder / "target.html"
    target.write_text((session / "report.html").read_text())
    (session / "report.html").unlink()
    (session / "report.html").symlink_to(target)
    before = target.read_text()
    done = bench.call("report", "out", "--html")
    assert (done.code, target.read_text()) == (2, before)
    assert (session / "report.html").is_symlink()


def test_a_session_ends_well_without_its_page(tmp_path: Path) -> None:
    document, events = Document(title="T", banner=None, head=(), sections=()), list[object]()
    (tmp_path / "file").touch()
    write_last_page(StoredSession(tmp_path / "file" / "folder"), document, events.append)
    (tmp_path / "report.html").mkdir()
    write_last_page(StoredSession(tmp_path), document, events.append)
    assert len(events) == 2
    for event in events:
        assert isinstance(event, WarningRaised)
        assert event.message.startswith("The page of ")


def test_a_full_disk_leaves_the_summary(bench: Bench, session: Path) -> None:
    (session / "summary.md").unlink()
    before = (session / "report.html").read_bytes()
    assert len(before) > 20_000
    limited, env = ("prlimit", "--fsize=16384"), {"PYTHONDONTWRITEBYTECODE": "1"}
    done = bench.call("report", "out", "--html", inside=limited, env=env)
    assert done.code == 3, done.err
    assert "report.html could not be written" in done.err
    assert done.err.count("\n") == 1
    assert done.out.startswith("# Swarm"), "what is there is shown"
    assert (session / "summary.md").is_file()
    assert (session / "report.html").read_bytes() == before


def test_settings_of_the_verdict_are_refused(bench: Bench, session: Path) -> None:
    done = bench.call("report", "out", "--html", "--margin", "20%")
    assert done.code == 2
    assert "omit" in done.err


def test_torn_and_newer_sessions(bench: Bench, session: Path) -> None:
    with (session / "metrics.jsonl").open("ab") as file:
        file.write(b'{"mode": "base')
    for path in session.rglob("*.stream.jsonl"):
        path.unlink()
    done = bench.call("report", "out", "--html")
    assert done.code == 0, done.err
    assert "metrics.jsonl" in (session / "report.html").read_text()
    before = (session / "report.html").read_bytes()
    experiment = json.loads((session / "experiment.json").read_text())
    (session / "experiment.json").write_text(json.dumps({**experiment, "schema_version": 99}))
    done = bench.call("report", "out", "--html")
    assert done.code == 2
    assert "newer swarm-bench" in done.err
    assert done.err.count("\n") == 1
    assert (session / "report.html").read_bytes() == before


def test_view_opens_it(bench: Bench, session: Path) -> None:
    script, opened = bench.folder / "browser", bench.folder / "opened"
    script.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    script.chmod(0o700)
    page = session / "report.html"
    page.unlink()
    done = bench.call("view", "out", env={"BROWSER": f"{script} %s"})
    assert done.code == 0, done.err
    assert opened.read_text() == f"{page.as_uri()}\n"
    assert is_own(page)


def test_view_shows_no_page_of_somebody_else(bench: Bench, session: Path) -> None:
    forged = '<meta name="generator" content="swarm-bench report"><script>send()</script>'
    (session / "report.html").write_text(forged)
    assert bench.call("view", "out", env={"BROWSER": "true %s"}).code == 0
    assert "send()" not in (session / "report.html").read_text()


def test_view_prints_the_path_without_a_browser(bench: Bench, session: Path) -> None:
    empty = bench.folder / "empty"
    empty.mkdir()
    done = bench.call("view", "out", env={"BROWSER": "false", "PATH": str(empty)})
    assert (done.code, done.out) == (0, f"{session / 'report.html'}\n"), done.err


def test_transcripts_are_those_of_the_streams(bench: Bench, session: Path) -> None:
    page = (session / "report.html").read_text()
    packed = re.findall('<script type="application/octet-stream"[^>]*>(.*?)</script>', page)
    tasks = [json.loads(zlib.decompress(b64decode(content))) for content in packed]
    trials = {trial["name"]: trial for task in tasks for trial in task["trials"]}
    for record in bench.records("out"):
        trial = trials[f"baseline, run 1, agent {record['agent']}"]
        assert Counter(call["tool"] for call in trial["calls"]) == record["tool_calls"]
        assert all(call["result"] is not None for call in trial["calls"])
        assert len(trial["turns"]) == record["num_turns"]
        assert len(trial["answer"].splitlines()) == record["result_lines"]
        assert trial["remarks"] == []
        assert trial["markdown"]
        assert record["scores"]["citations_invented"] == 0
        assert all(exists for _, exists in trial["cited"])
    assert any(trial["cited"] for trial in trials.values())
    assert page.count("data-bar=") == len(trials) == 2


def test_trials_without_streams_say_so(bench: Bench, session: Path) -> None:
    for path in session.rglob("*.stream.jsonl"):
        path.unlink()
    assert bench.call("report", "out", "--html").code == 0
    page = (session / "report.html").read_text()
    (content, *_) = re.findall('<script type="application/octet-stream"[^>]*>(.*?)</script>', page)
    (trial, *_) = json.loads(zlib.decompress(b64decode(content)))["trials"]
    assert trial["calls"] is None
    assert "not in the session's folder" in trial["remarks"][0]


MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
sys.exit(done.returncode)
"""


def test_streams_of_any_size_and_bytes_leave_the_rest(bench: Bench, session: Path) -> None:
    first, second = (session / "baseline" / f"agent-{n}.stream.jsonl" for n in (1, 2))
    os.truncate(first, 200 * 1024 * 1024)
    lines = second.read_bytes().splitlines()
    at = next(number for number, line in enumerate(lines) if b"tool_result" in line)
    event = json.loads(lines[at])
    event["message"]["content"][0]["content"] = "@"
    lines[at] = json.dumps(event).encode().replace(b"@", b"x" * 10_000_000 + b"\xff\xfe \xe2\x82")
    second.write_bytes(b"\n".join([b"\xff\xfe", *lines, b'{"type": "assi']))
    figure = bench.folder / "kilobytes"
    inside = (sys.executable, "-c", MEASURE, str(figure))
    done = bench.call("report", "out", "--html", inside=inside)
    assert done.code == 0, done.err
    assert int(figure.read_text()) < 600_000
    page = (session / "report.html").read_text()
    packed = re.findall('<script type="application/octet-stream"[^>]*>(.*?)</script>', page)
    tasks = [json.loads(zlib.decompress(b64decode(content))) for content in packed]
    trials = {trial["name"]: trial for task in tasks for trial in task["trials"]}
    large, odd = (trials[f"baseline, run 1, agent {number}"] for number in (1, 2))
    assert large["calls"] is None
    assert "no room for the transcript" in large["remarks"][0]
    assert large["answer"]  # from the trial's page, as agents without a stream have it
    assert odd["remarks"] == []
    assert any("9,980,00" in text for task in tasks for text in task["results"])
    assert len(page) < 200_000


def test_pages_of_tasks_go_with_the_room_that_they_were_made_for(
    bench: Bench, session: Path
) -> None:
    page = (session / "report.html").read_text()
    (session / "report-task-7.html").write_text(page)
    (session / "report-task-8.html").write_text("mine")
    assert bench.call("report", "out", "--html").code == 0
    assert [path.name for path in session.glob("report-*")] == ["report-task-8.html"]


def test_pictures_of_others_stay(bench: Bench, session: Path) -> None:
    (session / "cost.svg").write_text("<svg>mine</svg>")
    (session / "recall.svg").mkdir()
    (session / "ranks-1.svg").write_text(f"{MARK}<svg/>")
    (session / "effects.svg").write_text("<svg>mine</svg>")
    (session / "tasks-1.svg").symlink_to(bench.folder / "elsewhere.svg")
    assert bench.call("report", "out").code == 0
    assert (session / "cost.svg").read_text() == "<svg>mine</svg>"
    assert (session / "recall.svg").is_dir()
    assert (session / "effects.svg").read_text() == "<svg>mine</svg>"
    assert not (session / "ranks-1.svg").exists()
    assert (session / "tasks-1.svg").is_symlink()


def test_a_folder_of_the_script_stays_as_it_is(bench: Bench) -> None:
    folder = bench.folder / "script"
    write(folder, {("baseline", 1): (ANSWER, LINE), ("canopy", 1): (ANSWER, LINE)})
    before = sorted(path.name for path in folder.rglob("*"))
    for words in (("report", "script", "--html"), ("view", "script")):
        done = bench.call(*words)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert sorted(path.name for path in folder.rglob("*")) == before


SERIES = ("compare", "--modes", "baseline", "--agents", "1", "2", "--runs", "1", "--quiet")


@pytest.fixture
def series(bench: Bench) -> Path:
    """A series that has ended."""
    done = bench.call(*SERIES, "--repo", str(bench.repo), "--output", "out")
    assert done.code == 0, done.err
    return bench.folder / "out"


def find_links(page: Path) -> list[str]:
    return re.findall('<a href="(agents-[^"]*)">', page.read_text())


def test_the_page_of_a_series_leads_to_those_of_its_sessions(bench: Bench, series: Path) -> None:
    pages = [series / f"agents-{size}" / "report.html" for size in (1, 2)]
    assert find_links(series / "report.html") == ["agents-1/report.html", "agents-2/report.html"]
    assert "agents-2/summary.md" in (series / "summary.md").read_text()
    before = [page.read_bytes() for page in pages]
    for page in pages:
        page.unlink()
    assert bench.call("report", "out").code == 0
    assert find_links(series / "report.html") == ["agents-1/summary.md", "agents-2/summary.md"]
    done = bench.call("report", "out", "--html")
    assert (done.code, done.err) == (0, "")
    assert [page.read_bytes() for page in pages] == before
    assert find_links(series / "report.html") == ["agents-1/report.html", "agents-2/report.html"]


def test_a_foreign_file_in_a_session_of_a_series_is_one_warning(bench: Bench, series: Path) -> None:
    foreign, forged = (series / f"agents-{size}" / "report.html" for size in (1, 2))
    for words in (("report", "out", "--html"), ("view", "out")):
        foreign.write_text("<p>mine</p>")
        forged.write_text(forged.read_text().replace("<h1>", "<h1>Old "))
        done = bench.call(*words, env={"BROWSER": "true %s"})
        assert done.code == 0, done.err
        (warning, *_) = done.err.splitlines()
        assert warning.startswith("note: The page of ")
        assert "agents-1/report.html is no page of swarm-bench and stays as it is" in warning
        assert done.err.count("note: ") == 1
        assert foreign.read_text() == "<p>mine</p>"
        assert "<h1>Old " not in forged.read_text()
        assert find_links(series / "report.html") == [
            "agents-1/summary.md", "agents-2/report.html"
        ]  # fmt: skip


def test_a_page_that_somebody_planted_in_a_series_is_written_anew(
    bench: Bench, series: Path
) -> None:
    planted = series / "agents-2" / "report.html"
    planted.write_text(planted.read_text().replace("<h1>", "<h1>Planted "))
    assert bench.call("report", "out").code == 0
    assert "<h1>Planted " not in planted.read_text()
    assert "agents-2/report.html" in find_links(series / "report.html")


def test_copies_of_a_page_by_other_names_stay(bench: Bench, session: Path) -> None:
    copies = [session / f"report-task-{name}.html" for name in ("mine", "01", "1-2")]
    for copy in copies:
        copy.write_text((session / "report.html").read_text())
    assert bench.call("report", "out", "--html").code == 0
    assert all(copy.is_file() for copy in copies)


def test_a_series_of_which_a_session_runs_says_so(bench: Bench, series: Path) -> None:
    with hold_lock(series / "agents-2" / LOCK):
        assert bench.call("report", "out", "--html").code == 0
    for folder in (series, series / "agents-2"):
        assert STILL_RUNS in (folder / "report.html").read_text()
    assert STILL_RUNS not in (series / "agents-1" / "report.html").read_text()


def test_what_ends_while_it_is_reported_is_reported_again(bench: Bench, series: Path) -> None:
    (series / "agents-1" / "report.html").write_text("<p>mine</p>")
    with ExitStack() as running:
        running.enter_context(hold_lock(series / "agents-2" / LOCK))
        report_page(series, {}, lambda event: running.close())
    for folder in (series, series / "agents-2"):
        assert STILL_RUNS not in (folder / "report.html").read_text()


def test_a_session_that_runs_says_so(bench: Bench, session: Path) -> None:
    files = [session / name for name in ("report.html", "summary.md", "details.md")]
    with hold_lock(session / LOCK):
        for words in (("--html",), (), ("--margin", "50%")):
            done = bench.call("report", "out", *words)
            assert done.code == 0
            assert " ".join(done.out.split()).count(STILL_RUNS) == 1
        assert [file.read_text().count(STILL_RUNS) for file in files] == [1, 1, 1]
    done = bench.call("report", "out", "--html")
    assert STILL_RUNS not in " ".join(done.out.split())
    assert not any(STILL_RUNS in file.read_text() for file in files)


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "--modes", "baseline", "bm25", "--agents", "2", "--margin", "20%"),
        ("calibrate", "--mode", "bm25", "--tasks", "mine.yaml"),
        ("ab", "--modes", "baseline", "bm25", "--tasks", "mine.yaml", "--max-turns", "9"),
        ("retrieve", "--modes", "bm25", "grep", "--tasks", "mine.yaml", "--seed", "3"),
        ("run", "humaneval", "--models", "copy", "reference", "--limit", "3:2", "-p",
         "max_tokens=64", "--generate-only", "--margin", "0.2"),
        ("run", "humaneval", "--models", "copy", "reference", "--limit", "6", "--slice", "2/3",
         "--generate-only"),
        ("compare", "--modes", "baseline", "bm25", "--agents", "3", "--block-size", "1",
         "--slice", "2/3"),
        ("compare", "--modes", "baseline", "bm25", "--agents", "3", "1", "--max-turns", "9"),
    ],
    ids=[
        "compare", "calibrate", "ab", "retrieve", "run", "slice of run", "slice of compare",
        "series",
    ],
)  # fmt: skip
def test_the_command_on_the_page_repeats_the_session(bench: Bench, words: tuple[str, ...]) -> None:
    repo = () if words[0] == "run" else ("--repo", str(bench.repo))
    (bench.folder / "mine.yaml").write_text(TASKS)
    runs = "2" if words[0] == "calibrate" else "1"
    done = bench.call(*words, *repo, "--runs", runs, "--quiet", "--output", "out")
    assert done.code in (0, 4), done.err
    page = (bench.folder / "out" / "report.html").read_text()
    (shown,) = re.findall(r'aria-label="Command that repeats the session">(.*?)</pre>', page)
    program, *typed = shlex.split(unescape(shown))
    assert program == "swarm-bench"
    again = bench.call(*typed, "--quiet", "--output", "again")
    assert again.code == done.code, again.err
    keys = ("order", "agents", "swarm_size", "limits", "runs")
    plans = [
        {
            path.parent.relative_to(folder): (
                (experiment := json.loads(path.read_bytes()))["beforehand"]["sha256"],
                *(experiment.get(key) for key in keys),
            )
            for path in folder.rglob("experiment.json")
        }
        for folder in (bench.folder / "out", bench.folder / "again")
    ]
    assert plans[0] == plans[1]
    assert plans[0]
