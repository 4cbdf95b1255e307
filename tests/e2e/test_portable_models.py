"""Sessions of models whose groups are run by workers: judges, agents, and what is scored later."""

import json
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from swarm_bench.app import session as life
from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.setup.case_experiment import CaseRequest
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import CostLimitReached
from tests.builders.chat import chatting, says
from tests.builders.workers import Workers, compare, read, request, run
from tests.e2e import test_agent_models, test_judged

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
PRICES = "[j]\ninput = 0\ncache_write = 0\ncache_read = 0\noutput = 1_000\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_judge_on_other_machines_is_paid_within_the_limit(folder: Path) -> None:
    (folder / "own_paid.py").write_text(dedent(test_judged.OWN))
    write_rows(folder, test_judged.ROWS)
    (folder / "prices.toml").write_text(PRICES)
    workers = Workers(folder / "workers")
    with chatting(lambda _: says("8")) as server:
        asked = request(
            "own_paid:Essay", folder / "s", models=["reference"], judge=f"{server.url}#j",
            max_cost=0.045, concurrency=1,
        )  # fmt: skip
        call = run_call(asked)
        result = life.run(replace(call, executor=workers), lambda _: None)
        assert isinstance(result.stopped, CostLimitReached)
        assert len(server.bodies) == 3  # of 20 tokens each at most, and of 10 as it says
        settings = RunSettings(max_cost=0.09)
        more = CaseRequest(benchmark="own_paid:Essay", settings=settings, resume=folder / "s")
        assert life.run(replace(run_call(more), executor=workers), lambda _: None).stopped is None
        assert len(server.bodies) == 4
    records = read(folder / "s")
    assert [line["judge_cost"] for line in records] == [0.01] * 4
    assert {line["cause"] for line in records} == {"finished"}


def test_answers_of_an_earlier_call_are_only_scored(folder: Path) -> None:
    own = dedent(test_judged.OWN).replace('"repaired"', repr(str(folder / "repaired")))
    (folder / "own_later.py").write_text(own)
    write_rows(folder, [{**row, "answer": "FAIL"} for row in test_judged.ROWS])
    run(request("own_later:Essay", folder / "s", models=["reference"], judge="own_later:Judge"))
    assert {line["cause"] for line in read(folder / "s")} == {"judge-failed"}
    more = CaseRequest(benchmark="own_later:Essay", settings=RunSettings(), resume=folder / "s")
    workers = Workers(folder / "workers")
    (folder / "repaired").touch()
    life.run(replace(run_call(more), executor=workers), lambda _: None)
    assert len(json.loads(workers.opened[0].context)["answers"]) == 4
    records = read(folder / "s")
    assert [(line["attempt"], line["scores"]["quality"]) for line in records] == [(2, 0.7)] * 4
    assert {line["cause"] for line in records} == {"finished"}


def test_agents_are_asked_by_workers_with_the_same_files(folder: Path) -> None:
    write_rows(folder, test_agent_models.ROWS)
    steps = [{"init": {"tools": ["Read"]}}, {"answer": {"text": "no diff", "turns": 1}}]
    (folder / "script.yaml").write_text(yaml.safe_dump([{"steps": steps}]))
    workers, records = compare(
        folder, "unified-diff", models=[test_agent_models.SCRIPTED], dataset="rows.jsonl",
        allow_code_execution=True, environment="unconfined", runs=2,
    )  # fmt: skip
    assert [line["cause"] for line in records] == ["finished"] * 4
    sent = json.loads(workers.opened[0].context)["files"]["contents"]
    assert sent.keys() == {"rows.jsonl", "script.yaml"}
    files = [
        {path.relative_to(folder / name) for path in (folder / name).rglob("*") if path.is_file()}
        for name in ("local", "away")
    ]
    assert files[0] == files[1]
    assert any("transcripts" in path.parts for path in files[0])
