"""`swarm-bench retrieve`: questions with known answers, put to the tools themselves."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.builders.golden import Sentences, parts
from tests.builders.mcp_over_http import Reply, Served, serving
from tests.builders.repositories import git, with_changes
from tests.builders.searching import searching_mode
from tests.e2e.conftest import Bench

TASKS = """
tasks:
- id: auth
  title: Authentication
  prompt: |-
    Which class checks this?

    The token of every request.
  keywords: token request middleware
  key: {files: [shop/auth.py]}
- id: jobs
  title: Jobs
  prompt: Where are background jobs worked off?
  key: {symbols: ["shop/jobs.py::run_worker"]}
- {id: open, title: Open, prompt: "What is this?"}
"""
ANSWER = """
if "this? The token of" in query:
    print("out of memory", file=sys.stderr)
    sys.exit(3)
text = "1. `shop/jobs.py:7`"
"""
"""A server of one's own that dies of one of the questions."""
REFUSING = """
error = {"code": -32000, "message": "syntax error"}
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
continue
"""


FORGETTING = """
calls = globals().get("calls", 0) + 1
if calls > 1:
    error = {"code": -32600, "message": "Session terminated"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
    continue
text = "1. `shop/jobs.py:7`"
"""
"""One that stands for a server elsewhere, and opens one session."""


USED_UP = """
calls = globals().get("calls", 0) + 1
if calls > 1:
    said = [{"type": "text", "text": "Error: monthly quota exceeded (429)"}]
    result = {"content": said, "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
    continue
text = "1. `shop/jobs.py:7`"
"""
"""One that asks a service elsewhere."""


@pytest.fixture
def tasks(bench: Bench) -> str:
    (bench.folder / "mine.yaml").write_text(TASKS)
    return "mine.yaml"


def fragile(bench: Bench, tool: str = "look_up") -> str:
    return searching_mode(bench.folder, "fragile", ANSWER, tool)


def figures(record: dict[str, Any], *keys: str) -> tuple[Any, ...]:
    return tuple(record["figures"].get(key) for key in keys)


def lines(bench: Bench, session: str = "out") -> dict[tuple[str, str, int], dict[str, Any]]:
    return {(it["arm"], it["case"], it["run"]): it for it in bench.records(session)}


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_each_question_is_put_in_both_forms_and_scored(
    bench: Bench, tasks: str, golden: Sentences
) -> None:
    words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out")
    done = bench.call("retrieve", *words, "--modes", "bm25", "grep", fragile(bench))
    assert done.code == 0, done.err
    records = lines(bench)
    cases = ("auth/sentence", "jobs/sentence", "auth/keywords")
    assert [*records] == [(arm, case, 1) for arm in order(bench) for case in cases]
    for case in cases:
        assert figures(records["bm25", case, 1], "recall_5", "failed") == (1, 0)
    assert records["bm25", "auth/sentence", 1]["figures"]["index_bytes"] > 0
    assert records["grep", "auth/sentence", 1]["figures"]["index_seconds"] is None
    # The server that died is started again, and its failure is no missing figure.
    failed, found, other = (records["fragile", case, 1] for case in cases)
    assert figures(failed, "failed", "empty", "recall_10") == (1, 0, 0)
    golden(failed["answer"])
    assert figures(found, "recall_1", "files") == (1, 1)
    assert figures(other, "recall_10", "reciprocal_rank") == (0, 0)
    timed = [
        record["figures"].get("first_seconds") is not None for record in (failed, found, other)
    ]
    assert timed == [True, True, False]
    golden(parts(done.out))
    assert "auth/sentence" not in done.out  # of hundreds of questions, a line each is no summary
    assert done.err.count("fragile: a call failed") == 1
    assert done.err.count("3 of 3 ended") == 3
    assert "starts" not in done.err
    assert "tokens" not in done.err
    assert "recognised by its schema" in done.out
    assert bench.call("report", "out").out == done.out


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_server_that_refuses_a_call_is_asked_on(bench: Bench, tasks: str) -> None:
    mode = searching_mode(bench.folder, "fragile", REFUSING, "look_up")
    starts, server = bench.folder / "starts", bench.folder / "server.py"
    server.write_text(f"print(1, file=open({str(starts)!r}, 'a'))\n{server.read_text()}")
    words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out")
    done = bench.call("retrieve", *words, "--modes", mode)
    assert done.code == 0, done.err
    records = bench.records("out")
    assert [it["answer"] for it in records] == ["syntax error"] * 3
    assert [figures(it, "failed", "empty") for it in records] == [(1, 0)] * 3
    assert ["first_seconds" in it["figures"] for it in records] == [True, False, False]
    assert starts.read_text().count("1") == 2  # to be greeted, and to be asked
    assert done.err.count("a call failed") == 1


def test_a_server_whose_session_ends_is_started_again_and_asked_once_more(
    bench: Bench, tasks: str
) -> None:
    mode = searching_mode(bench.folder, "forgetting", FORGETTING, "look_up")
    words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out")
    done = bench.call("retrieve", *words, "--modes", mode)
    assert done.code == 0, done.err
    records = bench.records("out")
    assert [it["answer"] for it in records] == ["1. `shop/jobs.py:7`"] * 3
    assert [figures(it, "failed") for it in records] == [(0,)] * 3


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("status", [429, 402, 500])
def test_questions_that_a_server_takes_from_nobody_are_missing(
    bench: Bench, tasks: str, status: int
) -> None:
    """It refuses two of the first run, and all of the second."""
    more = TASKS.replace("worked off?\n", "worked off?\n  keywords: worker jobs\n")
    (bench.folder / tasks).write_text(more)
    headers = {"content-type": "text/plain", "retry-after": "86400"}

    def answering(served: Served) -> Reply:
        if served.calls in (2, 3, 5, 6, 7):
            return status, headers, b"used up"
        return served.found({"content": [{"type": "text", "text": "shop/jobs.py:7"}]})

    with serving(answering) as (url, served):
        servers = {"quota": {"type": "http", "url": url}}
        search = {"tool": "find", "arguments": {"query": "{{ query }}"}}
        mode = {"mcpServers": servers, "swarmBench": {"search": search}}
        (bench.folder / "quota.json").write_text(json.dumps(mode))
        words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out", "--runs", "2")
        done = bench.call("retrieve", *words, "--modes", "./quota.json")
        assert done.code == 3, done.err
        lost = "service-failed"
        causes = [it["cause"] for it in bench.records("out")]
        assert causes == ["finished", lost, lost, "finished", *[lost] * 4]
        assert served.calls == 7  # after three in a row, the last one is not put
        assert bench.call("retrieve", "--continue", "out").code == 0
    assert {it["cause"] for it in bench.records("out")} == {"finished"}


def test_a_service_behind_a_server_of_ours_refuses_too(
    bench: Bench, tasks: str, golden: Sentences
) -> None:
    mode = searching_mode(bench.folder, "far", USED_UP, "look_up")
    done = bench.call(
        "retrieve", "--repo", str(bench.repo), "--tasks", tasks, "--output", "out", "--modes", mode
    )
    assert done.code == 3, done.err
    lost = "service-failed"
    assert [it["cause"] for it in bench.records("out")] == ["finished", lost, lost]
    golden(bench.records("out")[1]["detail"])


def test_questions_on_which_a_server_breaks_off_are_missing(bench: Bench, tasks: str) -> None:
    def answering(served: Served) -> Reply | None:
        found = served.found({"content": [{"type": "text", "text": "shop/jobs.py:7"}]})
        return found if served.calls == 1 else None

    with serving(answering) as (url, _served):
        search = {"tool": "find", "arguments": {"query": "{{ query }}"}}
        mode = {"mcpServers": {"far": {"url": url}}, "swarmBench": {"search": search}}
        (bench.folder / "far.json").write_text(json.dumps(mode))
        words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out")
        assert bench.call("retrieve", *words, "--modes", "./far.json").code == 3
    lost = "service-failed"
    assert [it["cause"] for it in bench.records("out")] == ["finished", lost, lost]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_tool_that_says_nothing_could_not_be_measured(bench: Bench, tasks: str) -> None:
    """Every call fails, or is an error in words that names the right file, or has one answer."""
    search = {"tool": "canopy_evidence_pack", "arguments": {"patterns": ["{{ query }}"]}}
    faults = {"broken": "every-call-fails", "naming": "errors-name-files"}
    for name, words in {
        **{name: ["misbehaving_mcp", fault] for name, fault in faults.items()},
        "fixed": ["same_places_mcp", "shop/auth.py:1-3", "shop/jobs.py:1-3"],
    }.items():
        module, *others = words
        arguments = ["-I", "-m", f"swarm_bench.testing.{module}", *others]
        mode: dict[str, Any] = {
            "mcpServers": {"tool": {"command": sys.executable, "args": arguments}}
        }
        if name in faults:
            mode["swarmBench"] = {"search": search}
        (bench.folder / f"{name}.json").write_text(json.dumps(mode))
    modes = ("./broken.json", "./naming.json", "./fixed.json")
    done = bench.call(
        "retrieve", "--repo", str(bench.repo), "--tasks", tasks, "--output", "out",
        "--modes", "bm25", *modes,
    )  # fmt: skip
    assert done.code == 0, done.err
    failed = {it["arm"]: it["figures"]["failed"] for it in bench.records("out")}
    assert failed == {"bm25": 0, "broken": 1, "naming": 1, "fixed": 0}
    for arm in ("broken", "naming", "fixed"):
        assert f"**{arm} (asked in sentences): no verdict.**" in done.out
        held = bench.call("gate", "out", "--min", f"{arm}:recall_5=0")
        assert (held.code, "1 is not measured" in held.err) == (4, True)
    assert "finds more" not in done.out
    assert bench.call("gate", "out", "--min", "bm25:recall_5=0").code == 0


def order(bench: Bench) -> list[str]:
    arms: list[str] = bench.experiment("out")["order"][0]
    return arms


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_session_is_continued_and_grows(bench: Bench, tasks: str, golden: Sentences) -> None:
    words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out", "--modes", "grep")
    assert bench.call("retrieve", *words).code == 0
    path = bench.folder / "out" / "metrics.jsonl"
    whole = path.read_text().splitlines()
    path.write_text("\n".join([*whole[:-1], ""]))
    assert "1 to put, 2 answered" in bench.call("retrieve", "--plan", "--continue", "out").out
    more = bench.call("retrieve", "--continue", "out", "--runs", "2", "--modes", "grep", "bm25")
    assert more.code == 0, more.err
    records = bench.records("out")
    assert {(it["arm"], it["run"]) for it in records} == {
        (arm, run) for arm in ("grep", "bm25") for run in (1, 2)
    }
    assert len({it["trial"] for it in records}) == len(records) == 12
    assert records[0]["ended_at"] == json.loads(whole[0])["ended_at"]
    golden(bench.call("compare", "--continue", "out").err)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_what_modes_are_compared_by_is_named_beforehand(
    bench: Bench, tasks: str, golden: Sentences
) -> None:
    words = ("--modes", "bm25", "grep", "--tasks", tasks, "--output", "out")
    named = ("--quality", "ndcg_10", "--quality-margin", "0.2")
    wrong = bench.call("retrieve", "--repo", str(bench.repo), *words, "--quality", "tokens")
    assert wrong.code == 2
    golden(wrong.err)
    done = bench.call("retrieve", "--repo", str(bench.repo), *words, *named)
    assert done.code == 0, done.err
    assert "nDCG@10" in done.out.partition("## Warnings")[0]
    assert "**Named beforehand:** `nDCG@10`, margin 0.2 (sha256 " in done.out
    again = bench.call("retrieve", "--continue", "out", "--runs", "2")
    assert again.code == 0, again.err
    golden(parts(again.out))
    other = bench.call("retrieve", "--continue", "out", "--quality", "recall_5")
    assert (other.code, "--quality was" in other.err) == (2, True), other.err
    shown = bench.call("report", "out", "--quality", "recall_10")
    golden(parts(shown.out))
    refused = bench.call("report", "out", "--primary", "tokens")
    golden(refused.err)


def test_a_session_is_continued_only_as_it_began(
    bench: Bench, tasks: str, golden: Sentences
) -> None:
    words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out", "--modes", "grep")
    assert bench.call("retrieve", *words).code == 0
    again = ("retrieve", "--continue", "out", "--runs", "2")
    seeded = bench.call(*again, "--seed", "1234567").err
    golden(seeded)
    path: Path = bench.folder / "out" / "experiment.json"
    before = json.loads(path.read_text())
    before["retrieval"]["grep"]["version"] = "0.0"
    path.write_text(json.dumps(before))
    done = bench.call(*again)
    assert done.code == 2, done.out
    golden(done.err)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_task_with_a_commit_is_asked_in_a_workspace_of_that_commit(bench: Bench) -> None:
    commit = git(bench.repo, "rev-parse", "HEAD").strip()
    git(bench.repo, "rm", "-q", "shop/jobs.py")
    git(bench.repo, "commit", "-q", "-m", "No jobs")
    suite = TASKS.replace("id: jobs", f"id: jobs\n  commit: {commit}")
    (bench.folder / "mine.yaml").write_text(suite)
    words = ("--repo", str(bench.repo), "--tasks", "mine.yaml", "--output", "out")
    assert bench.call("retrieve", *words, "--modes", "bm25").code == 0
    assert figures(lines(bench)["bm25", "jobs/sentence", 1], "recall_1") == (1,)
    assert "shop/jobs.py" not in lines(bench)["bm25", "auth/sentence", 1]["answer"]


def test_a_plan_starts_no_server(bench: Bench, tasks: str) -> None:
    mode = fragile(bench)
    (bench.folder / "server.py").write_text("open('was-started', 'w')")
    words = ("--repo", str(bench.repo), "--tasks", tasks, "--modes", "bm25", mode)
    done = bench.call("retrieve", "--plan", *words)
    assert done.code == 0, done.err
    assert "6 to put, 0 answered" in done.out
    assert not [*bench.folder.rglob("was-started")]
    assert not (bench.folder / "results").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--tasks", "exploration"), "answer key"),
        (("--tasks", "mine.yaml", "--modes", "baseline"), "no tool that could be asked"),
        (("--tasks", "nowhere.yaml"), "nowhere.yaml"),
        (
            ("--tasks", "foreign.yaml"),
            "does not have ffffffffffff, on which there are tasks (jobs)",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(
    bench: Bench, tasks: str, words: tuple[str, ...], sentence: str
) -> None:
    foreign = TASKS.replace("id: jobs", f"id: jobs\n  commit: {'f' * 40}")
    (bench.folder / "foreign.yaml").write_text(foreign)
    done = bench.call("retrieve", "--repo", str(bench.repo), *words)
    assert done.code == 2
    assert sentence in done.err


def test_a_tool_that_searches_nothing_is_refused(
    bench: Bench, tasks: str, golden: Sentences
) -> None:
    mode = fragile(bench, "write_file")
    done = bench.call("retrieve", "--repo", str(bench.repo), "--tasks", tasks, "--modes", mode)
    assert done.code == 2
    golden(done.err)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_session_of_somebody_else_starts_nothing_without_trust(bench: Bench, tasks: str) -> None:
    words = ("--repo", str(bench.repo), "--tasks", tasks, "--output", "out")
    assert bench.call("retrieve", *words, "--modes", fragile(bench)).code == 0
    path: Path = bench.folder / "out" / "experiment.json"
    stranger = json.loads(path.read_text())
    path.write_text(json.dumps({**stranger, "session": "0badc0de"}))
    done = bench.call("retrieve", "--continue", "out", "--runs", "2")
    assert done.code == 2
    assert "server.py" in done.err
    assert "--trust" in done.err


ONE_WORD = """
if not re.fullmatch(r"\\w+", query):
    text = "No results found."
elif query == "worked":
    text = "`shop/jobs.py:7`"
else:
    text = "`shop/auth.py:1` `shop/jobs.py:7`" if query == "jobs" else "No results found."
"""
"""A server that knows names only."""


def test_a_tool_of_single_names_is_asked_for_each_word(bench: Bench, tasks: str) -> None:
    mode = searching_mode(bench.folder, "names", ONE_WORD)
    words = ("--repo", str(bench.repo), "--tasks", tasks)
    whole = bench.call("retrieve", *words, "--output", "whole", "--modes", mode)
    assert whole.code == 0, whole.err
    assert figures(lines(bench, "whole")["names", "jobs/sentence", 1], "recall", "empty") == (0, 1)
    content = json.loads((bench.folder / "names.json").read_text())
    search = {"tool": "search", "arguments": {"query": "{{ words }}"}, "per_word": True}
    content["swarmBench"] = {"search": search}
    (bench.folder / "names.json").write_text(json.dumps(content))
    done = bench.call("retrieve", *words, "--output", "out", "--modes", mode)
    assert done.code == 0, done.err
    record = lines(bench)["names", "jobs/sentence", 1]
    assert figures(record, "recall_1", "files", "failed", "empty") == (1, 2, 0, 0)
    assert record["answer"].count("`shop/jobs.py:7`") == 2


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_mode_file_and_nothing_more_is_enough(bench: Bench) -> None:
    repo = with_changes(bench.folder / "changed")
    mode = searching_mode(bench.folder, "mine", "text = 'part1.py:2'")
    done = bench.call("retrieve", mode, "--repo", str(repo), "--output", "out")
    assert done.code == 0, done.err
    stored = json.loads((bench.folder / "out" / "experiment.json").read_text())
    assert sorted(stored["arms"]) == ["bm25", "grep", "mine"]
    assert (stored["suite"], len(stored["tasks"])) == ("repository", 8)
    again = ("--repo", str(repo), "--tasks", "out/tasks.yaml", "--plan")
    plan = bench.call("retrieve", *again, "--modes", "bm25")
    assert plan.code == 0, plan.err
    kept = bench.call("retrieve", "--continue", "out", mode, "--plan")
    assert kept.code == 0, kept.err
    done_rows = [line for line in kept.out.splitlines() if line.endswith("  yes")]
    assert len(bench.records("out")) == len(done_rows)


def test_a_repository_that_gives_no_tasks_is_refused(bench: Bench, golden: Sentences) -> None:
    done = bench.call("retrieve", "bm25", "--repo", str(bench.repo), "--output", "out")
    assert done.code == 2
    golden(done.err)
    assert not (bench.folder / "out").exists()


@pytest.mark.parametrize(
    ("command", "more", "modes"),
    [
        ("compare", (), ["baseline", "bm25"]),
        ("ab", ("--modes", "grep", "--tasks", "ab"), ["grep", "bm25"]),
        ("calibrate", (), ["bm25", "bm25-again"]),
        ("retrieve", ("--tasks", "mine.yaml"), ["bm25", "grep"]),
    ],
)
def test_every_design_takes_modes_as_arguments(
    bench: Bench, tasks: str, command: str, more: tuple[str, ...], modes: list[str]
) -> None:
    plan = bench.call(command, "bm25", "--repo", str(bench.repo), *more, "--plan")
    assert plan.code == 0, plan.err
    named = {mode for mode in ("baseline", "bm25", "bm25-again", "grep") if f" {mode} " in plan.out}
    assert named == set(modes)
