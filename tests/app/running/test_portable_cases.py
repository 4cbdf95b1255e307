"""Sessions of `run` whose groups are run by workers, with nothing but JSON in and out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.app import session as life
from swarm_bench.app.benchmarks import run_call
from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.events import Emit
from swarm_bench.core.roles.executor import Needs
from swarm_bench.executors.node_facts import Facts
from swarm_bench.testing.worker_nodes import WorkerNodes
from tests.builders.chat import chatting, says
from tests.builders.workers import Workers, compare, read, request, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
TOY = "swarm_bench.testing.toy:Toy"
PRICES = "[m]\ninput = 1000\ncache_write = 1000\ncache_read = 1000\noutput = 1000\n"
MOST = 1.0
NEAR, FAR = "near-key-0123456789", "far-key-0123456789"
GROWING = """
from swarm_bench.testing.toy import Toy

class Growing(Toy):
    def arms(self, properties):
        return ("plain",)

    def next_arms(self, records):
        return ("plain", "polite") if len(records) == 3 else ()
"""
KEYED = f"""
from dataclasses import replace
from pydantic import SecretStr
from swarm_bench.core.session.cases import CaseEnded
from swarm_bench.testing.toy import Properties, Toy

class WithToken(Properties):
    token: SecretStr = SecretStr("")

class Keyed(Toy):
    properties = WithToken

    async def run(self, job, deliver):
        token = job.properties["token"]
        figures = {{"far": float(token == "{FAR}")}}

        async def deliver_more(delivery):
            if isinstance(delivery, CaseEnded):
                delivery = replace(delivery, answer="the key is " + token, figures=figures)
            await deliver(delivery)

        await super().run(job, deliver_more)
"""


def make_row(number: int, intent: str) -> str:
    return json.dumps({"question_id": number, "intent": intent, "snippet": f"x = {number}"})


def test_models_are_asked_by_workers_with_the_same_records(tmp_path: Path) -> None:
    _, records = compare(
        tmp_path, "humaneval", limit="6", models=["reference", "copy"], allow_code_execution=True,
        environment="unconfined",
    )  # fmt: skip
    assert len(records) == 12
    assert {line["cause"] for line in records} == {"finished"}
    assert all(line["scores"] and line["prompt_sha256"] for line in records)
    files = [{path.name for path in (tmp_path / it).iterdir()} for it in ("local", "away")]
    assert files[0] == files[1]


def test_a_plain_benchmark_is_run_by_workers_with_the_same_records(tmp_path: Path) -> None:
    _, records = compare(tmp_path, TOY, runs=2)
    assert len(records) == 12
    assert {line["answer"] for line in records} == {"yes", "no", "perhaps"}
    assert all(line["score_failures"] for line in records)


def test_files_that_are_named_by_relative_paths_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [make_row(number, f"do {number}") for number in range(4)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.jsonl").write_text("\n".join(rows))
    (tmp_path / "answers.json").write_text(json.dumps([["x = 1"], ["y"], ["x = 2"], ["x = 3"]]))
    workers, records = compare(
        tmp_path, "conala", models=["generations:answers.json", "copy"], dataset="data/rows.jsonl"
    )
    assert len(records) == 8
    assert json.loads(workers.opened[0].context)["files"]["contents"].keys() == {
        "data/rows.jsonl", "answers.json",
    }  # fmt: skip
    outside = tmp_path / "workers" / "away.jsonl"
    outside.write_text("\n".join(rows))
    monkeypatch.chdir(tmp_path / "data")
    (tmp_path / "data" / "away.json").write_text("[]")
    asked = request("conala", tmp_path / "no", models=["reference"], dataset=str(outside))

    class Forgetful(Workers):
        def open_link(self, name: str, session: Any) -> Any:
            outside.unlink(missing_ok=True)
            return super().open_link(name, session)

    with pytest.raises(HarnessError, match="away.jsonl"):
        run(asked, Forgetful(tmp_path / "others"))


def test_arms_that_the_records_ask_for_are_run_by_workers_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "growing_here.py").write_text(GROWING)
    workers, records = compare(tmp_path, "growing_here:Growing", runs=1)
    assert [line["arm"] for line in records].count("polite") == 3
    assert len(workers.opened) == 2  # one for each round


def test_keys_stay_where_they_are_and_each_machine_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "keyed_here.py").write_text(KEYED)
    typed = request("keyed_here:Keyed", tmp_path / "no", properties=[f"token={NEAR}"])
    with pytest.raises(UsageError, match="--property token: .*SWARM_BENCH_PROPERTY_TOKEN"):
        run(typed, Workers(tmp_path / "workers"))

    monkeypatch.setenv("SWARM_BENCH_PROPERTY_TOKEN", NEAR)
    asked = request("keyed_here:Keyed", tmp_path / "away", runs=1)
    with pytest.raises(HarnessError, match="set the variable SWARM_BENCH_PROPERTY_TOKEN on this"):
        run(replace(asked, settings=replace(asked.settings, output=None)), Workers(tmp_path / "w"))
    workers = Workers(tmp_path / "workers", {"SWARM_BENCH_PROPERTY_TOKEN": FAR})
    run(asked, workers)
    assert [line["figures"]["far"] for line in read(tmp_path / "away")] == [1.0] * 6
    assert workers.needs.keys == (("SWARM_BENCH_PROPERTY_TOKEN",),)
    for name in ("node-1", "node-2"):
        folder = tmp_path / "with-dotenv" / name
        folder.mkdir(parents=True)
        (folder / ".env").write_text(f"SWARM_BENCH_PROPERTY_TOKEN={FAR}\n")
    run(request("keyed_here:Keyed", tmp_path / "b", runs=1), Workers(tmp_path / "with-dotenv"))
    assert read(tmp_path / "b") == read(tmp_path / "away")
    sent = b"".join([workers.opened[0].context, *workers.sent])
    assert NEAR.encode() not in sent
    stored = b"".join(path.read_bytes() for path in (tmp_path / "away").iterdir())
    assert NEAR.encode() not in stored
    assert FAR.encode() not in stored  # a trial answers with it


def test_a_file_with_a_key_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_API_KEY", NEAR)
    (tmp_path / "rows.jsonl").write_text(make_row(1, "x").replace("x = 1", NEAR))
    asked = request("conala", tmp_path / "away", models=["reference"], dataset="rows.jsonl")
    with pytest.raises(UsageError, match="rows.jsonl has a key in it"):
        run(asked, Workers(tmp_path / "workers"))


def test_money_that_ends_lets_workers_finish_what_was_asked(tmp_path: Path) -> None:
    with chatting(lambda _: says("x = 1")) as chat:
        word = f"{chat.url}/v1#m"
        asked = request("conala", tmp_path / "s", models=[word], limit="8", max_cost=MOST)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            (tmp_path / "prices.toml").write_text(PRICES)
            result = life.run(
                replace(run_call(asked), executor=Workers(tmp_path / "workers")),
                lambda _: None,
            )
        assert result.stopped is not None
        records = read(tmp_path / "s")
        assert 0 < len(records) < 8
        assert len(chat.bodies) == len(records)  # what was asked is stored


class Older(Workers):
    """Nodes of which the second has an older version."""

    def collect_facts(self, name: str, needs: Needs) -> Facts:
        facts = super().collect_facts(name, needs)
        return {**facts, "version": "0.0.1"} if name == "node-2" else facts

    def connect(self, needs: Needs, emit: Emit) -> Any:
        return WorkerNodes.connect(self, needs, emit)


def test_no_model_is_asked_where_a_node_is_refused(tmp_path: Path) -> None:
    with chatting(lambda _: says("x = 1")) as chat:
        words = [f"{chat.url}/v1#m", f"{chat.url}/v1#n"]
        asked = request("conala", tmp_path / "s", models=words, limit="2")
        with pytest.raises(HarnessError, match=r"^The node node-2 has swarm-bench 0\.0\.1, and"):
            run(asked, Older(tmp_path / "workers"))
        assert chat.bodies == chat.greetings == []
        assert not (tmp_path / "s").exists()
        run(asked, Workers(tmp_path / "workers"))
        assert len(chat.greetings) == 2
