"""Agents that leave traps, beside one that does not."""

import sqlite3
from contextlib import closing

import pytest
import yaml

from swarm_bench.core.status import Cause
from tests.builders.golden import Sentences
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

NEST = """
import os
for top in (os.getcwd(), os.environ["HOME"]):
    os.chdir(top)
    for _ in range(3000):
        os.mkdir("nested")
        os.chdir("nested")
    os.chmod(".", 0)
"""
ENDLESS = (
    "CREATE VIEW query_events AS WITH RECURSIVE t(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM t) "
    "SELECT id, '[]' AS predicted_globs FROM t"
)


def test_what_agents_leave_neither_ends_the_session_nor_changes_another(
    bench: Bench, golden: Sentences
) -> None:
    mine = bench.folder / "out" / "baseline"
    precious = bench.folder / "precious"
    precious.write_text("mine", encoding="utf-8")
    with closing(sqlite3.connect(bench.folder / "endless.db")) as database:
        database.execute(ENDLESS)
    traps = {
        "Nest": f"cat > nest.py <<'END'\n{NEST}\nEND\npython3 nest.py",
        "Count": f"mkdir .canopy; cp {bench.folder}/endless.db .canopy/feedback.db",
        "Pipe": f"rm {mine}/agent-3.stream.jsonl; mkfifo {mine}/agent-3.stream.jsonl",
        "Link": f"rm {mine}/agent-4.stderr.log; ln -s /dev/zero {mine}/agent-4.stderr.log; "
        f"ln -s {precious} {mine}/agent-4.md; ln -s {precious} {bench.folder}/out/summary.md",
        "Folder": f"cd {mine}; mkdir -p agent-5.json/x agent-5.md/x agent-9.stderr.log/x",
        "Move": f"mv {mine} {bench.folder}/away; ln -s {bench.folder}/away {mine}; "
        f"rm -r {bench.folder}/out/recording; mkfifo {bench.folder}/out/recording",
        "Record": f"cd {bench.folder}/out; rm -f experiment.json retrieval.jsonl; "
        "mkdir experiment.json; ln -s /dev/zero retrieval.jsonl; mkfifo overhead.jsonl",
        "Plant": f"for f in json stream.jsonl; do mkfifo {mine}/agent-9.$f; done",
    }
    tasks = [{"id": word, "title": word, "prompt": word} for word in (*traps, "Honest")]
    (bench.folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
    answer = {"answer": {"text": "See shop/auth.py.\n", "turns": 2}}
    plays = [
        {
            "when": {"prompt": word},
            "steps": [{"init": {"tools": []}}, {"run": ["sh", "-c", trap]}, answer],
        }
        for word, trap in traps.items()
    ]
    plays.append({"steps": [{"init": {"tools": []}}, answer]})
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(plays))
    done = bench.call(
        "compare", "--repo", str(bench.repo), "--modes", "baseline",
        "--agent", "swarm_bench.agents.scripted:Scripted", "--model", "script.yaml",
        "--tasks", "tasks.yaml", "--agents", "9", "--concurrency", "1", "--runs", "1",
        "--output", "out", "--record",
    )  # fmt: skip
    assert done.code == 0, done.err
    causes = {record["task"]: record["cause"] for record in bench.records("out")}
    refused = dict.fromkeys(("Pipe", "Link"), Cause.UNREADABLE_OUTPUT)
    assert causes == {**dict.fromkeys([*traps, "Honest"], Cause.FINISHED), **refused}
    planted = {path.name for path in bench.folder.glob("out/**/planted-*")}
    assert planted == {
        "planted-1-baseline", "planted-1-recording", "planted-1-experiment.json",
        "planted-1-retrieval.jsonl",
    }  # fmt: skip
    (planted_there,) = (it for it in done.out.splitlines() if it.startswith("- Something was put"))
    golden(planted_there)
    assert precious.read_text("utf-8") == "mine"
    assert "cannot be removed" not in done.err
    assert list((bench.folder / "tmp").glob("swarm-bench-*")) == []
