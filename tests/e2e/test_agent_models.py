"""`run --models agent:NAME`: an agent program in the place of a model."""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest
import yaml

from swarm_bench.environments.folders import SHIPPED
from swarm_bench.environments.local import Hiding, find_shipped
from tests.builders.chat import chatting, says
from tests.builders.golden import Sentences, parts
from tests.e2e.conftest import Bench, Done
from tests.e2e.test_models import CODE, OUT, records, stored

SCRIPTED = "agent:swarm_bench.agents.scripted:Scripted:script.yaml"
SOLVER = "agent:solver.yaml"
ROWS: list[dict[str, Any]] = [
    {
        "id": "double",
        "prompt": "Make double() double.",
        "sourceCode": "def double(x):\n    return x\n",
        "unitTests": "from main import double\nassert double(2) == 4\n",
        "solution": "def double(x):\n    return x * 2\n",
    },
    {
        "id": "beside",
        "prompt": "Make half() halve.",
        "file": "lib/half.py",
        "files": {"lib/notes.txt": "Halves are floats.\n"},
        "sourceCode": "def half(x):\n    return x\n",
        "unitTests": "from lib.half import half\nassert half(2) == 1\n",
        "command": "env PYTHONPATH=. python3 {tests}",
        "solution": "def half(x):\n    return x / 2\n",
    },
]
SOLVES = """
    import difflib, json, os, pathlib, sys, uuid
    here = pathlib.Path.cwd()
    files = sorted(str(it.relative_to(here)) for it in here.rglob("*") if it.is_file())
    diff = ""
    for name in files:
        old = pathlib.Path(name).read_text()
        new = old.replace("return x", "return x * 2" if "double" in old else "return x / 2")
        diff += "".join(difflib.unified_diff(
            old.splitlines(True), new.splitlines(True), "a/" + name, "b/" + name))
    print(json.dumps({
        "answer": "```diff\\n" + diff + "```", "turns": 3, "cost": 0.25, "in": 4000, "out": 60,
    }))
    pathlib.Path(os.environ["SEEN"], uuid.uuid4().hex).write_text(json.dumps(
        {"files": files, "folder": str(here), "home": os.environ["HOME"],
         "beside": os.listdir("../.."),
         "key": os.environ.get("SECRET_KEY"), "turns": sys.argv[2]}))
"""


def written(bench: Bench, steps: list[dict[str, Any]], name: str = "script.yaml") -> None:
    (bench.folder / name).write_text(yaml.safe_dump([{"steps": steps}]))


def with_rows(bench: Bench, times: int = 1) -> tuple[str, ...]:
    rows = [{**row, "id": f"{row['id']}{n or ''}"} for n in range(times) for row in ROWS]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (bench.folder / "rows.jsonl").write_text(text)
    return ("--dataset", "rows.jsonl")


def with_solver(bench: Bench, *, cost: str | None = "$.cost") -> Path:
    """Write a program that solves the rows by what lies in its folder, and where it notes what it
    saw. `cost`: where its output has that."""
    (bench.folder / "solver.py").write_text(dedent(SOLVES))
    noted = bench.folder / "noted"
    noted.mkdir()
    content: dict[str, Any] = {
        "name": "solver",
        "command": [sys.executable, str(bench.folder / "solver.py"), "{{ prompt }}",
                    "{{ max_turns }}"],
        "mcp": "none",
        "environment": {"SEEN": str(noted)},
        "rehearsal": {"environment": {"MODEL_URL": "{{ rehearsal }}"}},
        "output": {
            "format": "json", "answer": "$.answer", "turns": "$.turns",
            **({"cost": cost} if cost else {}), "tokens": {"input": "$.in", "output": "$.out"},
        },
    }  # fmt: skip
    (bench.folder / "solver.yaml").write_text(yaml.safe_dump(content))
    return noted


def run(bench: Bench, *words: str, **env: str) -> Done:
    return bench.call("run", "unified-diff", *words, env=env)


def of(bench: Bench, arm: str) -> list[dict[str, Any]]:
    return [record for record in records(bench) if record["arm"] == arm]


def left_in(bench: Bench) -> list[str]:
    return [it.name for it in (bench.folder / "tmp").iterdir() if it.name.startswith("swarm-bench")]


def test_a_program_solves_cases_in_a_folder_of_their_files(bench: Bench) -> None:
    noted = with_solver(bench)
    done = run(bench, *with_rows(bench), "--models", "reference", SOLVER, "--max-turns", "7",
               *CODE, *OUT, SECRET_KEY="sk-not-for-it")  # fmt: skip
    assert done.code == 0, done.err
    first, second = sorted(of(bench, SOLVER), key=lambda it: int(it["number"]))
    for record in (first, second):
        assert record["scores"]["passed"] is True
        assert record["scores"]["strict"] is True
        assert (record["num_turns"], record["cost"], record["cost_estimated"]) == (3, 0.25, None)
        assert (record["input_tokens"], record["output_tokens"]) == (4000, 60)
        assert record["answers_read"] == []
    seen = [json.loads(it.read_text()) for it in noted.iterdir()]
    assert sorted(it["files"] for it in seen) == [["lib/half.py", "lib/notes.txt"], ["main.py"]]
    for it in seen:
        assert not Path(it["folder"]).exists()
        assert not Path(it["folder"]).is_relative_to(bench.repo)
        assert it["home"] not in (str(bench.folder), os.environ.get("HOME"))
        assert (it["key"], it["turns"]) == (None, "7")
        if Hiding(find_shipped()).works:
            assert it["beside"] == [Path(it["folder"]).parent.name]
    assert left_in(bench) == []
    assert stored(bench, "experiment.json")["max_turns"] == 7
    transcripts = bench.folder / "out" / "transcripts" / "solver-yaml"
    for record in (first, second):
        (path,) = transcripts.glob(f"{record['prompt_sha256'][:12]}-case-{record['number'] - 1}-*")
        assert json.loads(path.read_text())["answer"] == record["answer"]


def test_a_rehearsal_has_no_verdict(bench: Bench, golden: Sentences) -> None:
    """Whatever comes of it: this program solves the rows and asks nobody."""
    with_solver(bench)
    done = run(bench, *with_rows(bench, times=4), "--models", "empty", f"{SOLVER}:rehearsal",
               *CODE, *OUT)  # fmt: skip
    assert done.code == 0, done.err
    assert all(it["scores"]["passed"] for it in of(bench, f"{SOLVER}:rehearsal"))
    golden(parts(done.out, "Headline"))
    assert "Cost" not in done.out, "nobody is billed"


def test_nobody_sees_dollars_for_rules(bench: Bench) -> None:
    with_solver(bench)
    words = (*with_rows(bench), "--models", "empty", "agent:scout", *CODE)
    done = run(bench, *words, "--output", "results/out")
    assert done.code == 0, done.err
    spent = [it["cost"] for it in records(bench, "results/out") if it["arm"] == "agent:scout"]
    assert len(spent) == 2
    assert all(spent), "the records keep it"
    plan, past = run(bench, *words, "--plan").out, bench.call("list").out
    assert not [text for text in (done.out, plan, past) if "| Cost" in text or "$" in text]
    assert "  cost  " not in past
    mixed = run(bench, *with_rows(bench), "--models", SOLVER, "agent:scout", *CODE, *OUT)
    assert mixed.code == 0, mixed.err
    [row] = [line for line in mixed.out.splitlines() if line.startswith("| Cost ")]
    assert [cell.strip() for cell in row.split("|")[2:4]] == ["$0.5", "-"]


def test_other_benchmarks_give_an_empty_folder(bench: Bench) -> None:
    noted = with_solver(bench)
    done = bench.call("run", "humaneval", "--models", SOLVER, "--limit", "1", *CODE, *OUT)
    assert done.code == 0, done.err
    assert [json.loads(it.read_text())["files"] for it in noted.iterdir()] == [[]]


def test_what_agents_say_that_they_cost_is_within_the_limit(
    bench: Bench, golden: Sentences
) -> None:
    with_solver(bench)
    words = (*with_rows(bench, times=3), "--models", "reference", SOLVER, "--concurrency", "4")
    done = run(bench, *words, "--max-cost", "0.6", *CODE, *OUT)
    assert (done.code, [it["cost"] for it in of(bench, SOLVER)]) == (4, [0.25, 0.25]), done.err
    golden(done.err)
    go_on = ("run", "unified-diff", "--continue", "out", *CODE)
    done = bench.call(*go_on, "--max-cost", "1.1")
    assert (done.code, len(of(bench, SOLVER))) == (4, 4), done.err


def test_an_agent_that_says_no_cost_ends_a_session_with_a_limit(
    bench: Bench, golden: Sentences
) -> None:
    with_solver(bench, cost=None)
    words = (*with_rows(bench, times=2), "--models", SOLVER, "--concurrency", "4")
    done = run(bench, *words, "--max-cost", "5", *CODE, *OUT)
    assert done.code == 4, done.err
    assert [it["cost"] for it in records(bench)] == [None]
    golden(done.err)


WRITES = """
    import json, os, pathlib, uuid
    here = pathlib.Path.cwd()
    files = {str(it.relative_to(here)): it.read_text() for it in here.rglob("*") if it.is_file()}
    pathlib.Path(os.environ["SEEN"], uuid.uuid4().hex).write_text(json.dumps(files))
    code = next((text for name, text in files.items() if name.endswith(".py")), "def half(x): pass")
    print(json.dumps({"answer": "```python\\n" + code.replace("return x", "return x / 2") + "```"}))
"""


def test_a_program_that_is_asked_with_prompts_has_their_files_and_is_judged(bench: Bench) -> None:
    noted = with_solver(bench, cost=None)
    (bench.folder / "solver.py").write_text(dedent(WRITES))
    (bench.folder / "rules.md").write_text("Write short code.\n")
    alone = {"id": "alone", "prompt": "Write half().", "unitTests": "assert half(2) == 1\n"}
    rows = [ROWS[1], alone]
    (bench.folder / "rows.jsonl").write_text("".join(json.dumps(it) + "\n" for it in rows))
    with chatting(lambda _: says("Fine.\n5 6 7 8 9")) as judge:
        done = bench.call("run", "prompt-evaluation", "--models", SOLVER, "--dataset", "rows.jsonl",
                          "-p", "rulesFiles=rules.md", "--judge", f"{judge.url}#j",
                          *CODE, *OUT)  # fmt: skip
        assert done.code == 0, done.err
    assert len(judge.bodies) == 4
    for record in records(bench):
        assert record["scores"]["passed"] is (record["case"] == "beside")
        assert (record["scores"]["quality"], record["judge_requests"]) == (0.7, 1)
    seen = [json.loads(it.read_text()) for it in noted.iterdir()]
    assert sorted(map(sorted, seen)) == [[], [], *[["lib/half.py", "lib/notes.txt"]] * 2]


@pytest.mark.parametrize(
    ("steps", "cause", "asked_again"),
    [
        ([{"max_turns": {"usage": {"input": 9000, "output": 9}}}], "max-turns", False),
        ([{"error": {"text": "API Error: 429 rate_limit_error"}}], "rate-limited", True),
        ([{"exit": 3}], "no-output", False),
        ([{"hang": None}], "timeout", False),
    ],
    ids=["turns", "rate limit", "exit", "hangs"],
)
def test_a_failure_means_what_its_adapter_says(
    steps: list[dict[str, Any]], cause: str, asked_again: bool, bench: Bench
) -> None:
    written(bench, steps)
    run(bench, *with_rows(bench), "--limit", "1", "--models", SCRIPTED, "--timeout", "2",
        *CODE, *OUT)  # fmt: skip
    (record,) = records(bench)
    assert record["cause"] == cause
    assert record["answer"] is None
    if cause == "max-turns":
        assert (record["input_tokens"], record["output_tokens"]) == (9000, 9)
    assert record["scores"] is None
    written(bench, [{"answer": {"text": "none", "turns": 1}}])
    done = bench.call("run", "unified-diff", "--continue", "out", *CODE)
    assert done.code == (0 if asked_again else 3), done.err
    assert [it["cause"] for it in records(bench)] == ["finished" if asked_again else cause]


def without_bwrap(folder: Path) -> str:
    """Make a PATH that has all programs but bubblewrap."""
    folder.mkdir()
    for name in ("git", "prlimit", "setpriv", "env", "sh", "python3", "node"):
        if path := shutil.which(name):
            (folder / name).symlink_to(path)
    return str(folder)


THIEF = """
    import json, pathlib, sys
    def event(**fields): print(json.dumps(fields), flush=True)
    path = pathlib.Path(sys.argv[1])
    try:
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    except OSError as error:
        rows = []
    call = {"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": str(path)}}
    if sys.argv[2] == "quietly":  # by the output of a tool alone
        call["input"] = {"file_path": "x"}
    event(type="system", subtype="init", tools=["Read"], mcp_servers=[], model="thief")
    event(type="assistant", message={"id": "m", "role": "assistant", "content": [call]})
    text = f"{path}: {len(rows)} rows"
    result = {"type": "tool_result", "tool_use_id": "c", "content": text, "is_error": False}
    event(type="user", message={"role": "user", "content": [result]})
    import difflib
    here = pathlib.Path("main.py").read_text()
    right = next((row["solution"] for row in rows if row["sourceCode"] == here), here)
    diff = "".join(difflib.unified_diff(here.splitlines(True), right.splitlines(True),
                                        "a/main.py", "b/main.py"))
    event(type="result", subtype="success", is_error=False, num_turns=2,
          result=f"```diff\\n{diff}```", usage={"input_tokens": 5000, "output_tokens": 200})
"""


def with_thief(bench: Bench, path: Path, how: str) -> str:
    (bench.folder / "thief.py").write_text(dedent(THIEF))
    code = f"""
        import sys
        from pathlib import Path
        from swarm_bench.agents.scripted import Scripted
        from swarm_bench.core.outcome import Launch
        from swarm_bench.core.session.experiment import Program

        class Thief(Scripted):
            name = "thief"

            def launch(self, request):
                return Launch(argv=({sys.executable!r}, {str(bench.folder / "thief.py")!r},
                                    {str(path)!r}, {how!r}))

            def program(self, model):
                return Program(name="thief")
    """
    (bench.folder / "own_thief.py").write_text(dedent(code))
    return "agent:own_thief:Thief"


@pytest.mark.parametrize(
    ("hidden", "where", "how"),
    [
        (True, "shipped", "openly"),
        (True, "rows", "quietly"),
        (False, "shipped", "quietly"),
        (False, "rows", "openly"),
    ],
)
def test_who_reads_the_answers_is_not_right(
    hidden: bool, where: str, how: str, bench: Bench, tmp_path: Path, golden: Sentences
) -> None:
    if hidden and not Hiding(find_shipped()).works:
        pytest.skip("bubblewrap does not run here: NOT TESTED")
    own = next(path for path in find_shipped() if path.as_posix().endswith(SHIPPED))
    words = with_rows(bench) if where == "rows" else ()
    path = bench.folder / "rows.jsonl" if where == "rows" else own / "diff-dataset" / "rows.jsonl"
    thief = with_thief(bench, path, how)
    env = {} if hidden else {"PATH": without_bwrap(tmp_path / "bin")}
    done = run(bench, *words, "--models", "reference", thief, "--limit", "1", *CODE, *OUT, **env)
    assert done.code == 0, done.err
    (record,) = of(bench, thief)
    assert record["cause"] == "finished"
    assert (str(path) if where == "rows" else SHIPPED) in record["answers_read"]
    has_read = "return" in (record["answer"] or "") and "+" in (record["answer"] or "")
    assert has_read is not hidden, record["answer"]
    assert record["scores"]["passed"] is False
    note = stored(bench, "experiment.json")["programs"][thief]["note"]
    summary = (bench.folder / "out" / "summary.md").read_text()
    assert note in summary
    assert "contaminated" in summary
    if where == "shipped":
        golden(note, *(it for it in summary.splitlines() if "contaminated" in it))
    again = bench.call("rescore", "out", *CODE[:-1])
    assert again.code == 0, again.err
    (record,) = of(bench, thief)
    assert record["scores"]["passed"] is False


def test_what_was_hidden_in_one_call_only_is_noted_of_both(
    bench: Bench, tmp_path: Path, golden: Sentences
) -> None:
    if not Hiding(find_shipped()).works:
        pytest.skip("bubblewrap does not run here: NOT TESTED")
    written(bench, [{"answer": {"text": "none", "turns": 1}}])
    words = (*with_rows(bench), "--models", SCRIPTED, "--limit", "1", *CODE, *OUT)
    assert run(bench, *words, PATH=without_bwrap(tmp_path / "bin")).code == 0
    done = bench.call("run", "unified-diff", "--continue", "out", "--runs", "2", *CODE)
    assert done.code == 0, done.err
    golden(stored(bench, "experiment.json")["programs"][SCRIPTED]["note"])


def test_the_folder_is_gone_after_sigkill(bench: Bench) -> None:
    written(bench, [{"hang": None}])
    words = (*with_rows(bench), "--models", SCRIPTED, *CODE, *OUT)
    process = bench.start("run", "unified-diff", *words)
    end = time.monotonic() + 40
    while not (agents := running(bench)) and time.monotonic() < end:
        time.sleep(0.05)
    assert agents
    folders = left_in(bench)
    assert folders
    process.send_signal(signal.SIGKILL)
    process.communicate()
    while any(it.is_running() for it in agents) and time.monotonic() < end:
        time.sleep(0.05)
    assert not running(bench)
    written(bench, [{"answer": {"text": "none", "turns": 1}}])
    done = bench.call("run", "unified-diff", "--continue", "out", *CODE)
    assert done.code == 0, done.err
    assert left_in(bench) == []
    assert [it["cause"] for it in records(bench)] == ["finished", "finished"]


def running(bench: Bench) -> list[psutil.Process]:
    """The agents of a test."""
    script, processes = str(bench.folder / "script.yaml"), []
    for process in psutil.process_iter():
        try:
            if script in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
        except psutil.Error:
            pass
    return processes


def test_a_copied_session_that_names_an_agent_asks(bench: Bench, golden: Sentences) -> None:
    noted = with_solver(bench)
    done = run(bench, *with_rows(bench), "--models", SOLVER, "--limit", "1", *CODE, *OUT)
    assert done.code == 0, done.err
    shutil.rmtree(bench.folder / ".local")
    for it in noted.iterdir():
        it.unlink()
    words = ("run", "unified-diff", "--continue", "out", "--runs", "2", *CODE)
    refused = bench.call(*words)
    assert refused.code == 2
    assert SOLVER in refused.err
    golden(refused.err.replace(str(stored(bench, "experiment.json")["session"]), "SESSION"))
    assert not list(noted.iterdir())
    assert bench.call(*words, env={"SWARM_BENCH_TRUST": "1"}).code == 0
    assert len(list(noted.iterdir())) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("--models", "reference", "--max-turns", "3"),
        ("--models", "agent:nobody"),
        ("--models", "agent:claude"),
        ("--models", "agent:"),
        ("--models", SCRIPTED),
    ],
    ids=lambda words: " ".join(words),
)
def test_what_cannot_be_asked_is_refused_before(
    words: tuple[str, ...], bench: Bench, golden: Sentences
) -> None:
    with_solver(bench)
    done = run(bench, *with_rows(bench), *words, *CODE, *OUT)
    assert done.code == 2, done.err
    assert not (bench.folder / "out").exists()
    golden(done.err)


def test_an_agent_judges_nobody(bench: Bench, golden: Sentences) -> None:
    done = bench.call("run", "prompt-evaluation", "--models", "reference", "--judge", SOLVER,
                      *CODE, *OUT)  # fmt: skip
    assert done.code == 2, done.err
    golden(done.err)
