"""Sessions of `retrieve` whose groups are run by workers, with nothing but JSON in and out."""

import json
import shutil
from typing import Any

import pytest

from swarm_bench.app import session as life
from swarm_bench.app.running.retrieve import RetrieveCall, resolve
from swarm_bench.core.errors import HarnessError, UsageError
from swarm_bench.core.session.experiment import NOT_STORED
from tests.builders.repositories import commit
from tests.builders.searching import searching_mode
from tests.builders.workers import Workers
from tests.e2e.conftest import Bench

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
NEAR, FAR = "near-key-0123456789", "far-key-0123456789"
TASKS = """
tasks:
- id: auth
  title: Authentication
  prompt: Which class checks the token of every request?
  keywords: token request middleware
  key: {files: [shop/auth.py]}
- id: jobs
  title: Jobs
  prompt: Where are background jobs worked off?
  keywords: background jobs
  key: {symbols: ["shop/jobs.py::run_worker"]}
"""
ANSWER = """
import os
text = f"1. `shop/jobs.py:7` {os.environ.get('TOKEN')}"
"""
MEASURED = {"session", "node", "started_at", "ended_at", "wall_seconds", "sha256"}
TIMED = {"first_seconds", "later_seconds", "index_seconds", "index_bytes"}


@pytest.fixture
def here(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.chdir(bench.folder)
    monkeypatch.setenv("HOME", str(bench.folder))
    (bench.folder / "mine.yaml").write_text(TASKS)
    return bench


def run(bench: Bench, output: str, workers: Workers | None = None, **options: Any) -> None:
    typed = {"repo": bench.repo, "tasks": "mine.yaml", "output": output, **options}
    life.run(RetrieveCall(resolved=resolve(typed), executor=workers), lambda _: None)


def read(bench: Bench, output: str) -> list[dict[str, Any]]:
    same = [{k: v for k, v in it.items() if k not in MEASURED} for it in bench.records(output)]
    for record in same:
        record["figures"] = {k: v for k, v in record["figures"].items() if k not in TIMED}
    return sorted(same, key=lambda line: str(line["trial"]))


def test_questions_are_put_by_workers_with_the_same_records(here: Bench) -> None:
    old = commit(here.repo, "shop/old.py", {"shop/old.py": "class Old:\n    pass\n"})
    commit(here.repo, "last", {"last.py": "X = 1\n"})
    pinned = f'- {{id: old, title: O, prompt: "Which class is old?", commit: {old}, key: {{files: '
    (here.folder / "mine.yaml").write_text(f"{TASKS}{pinned}[shop/old.py]}}}}\n")
    modes = ["bm25", searching_mode(here.folder, "fragile", ANSWER, "look_up")]
    run(here, "local", modes=modes)
    workers = Workers(here.folder / "workers")
    run(here, "away", workers, modes=modes)
    assert workers.used == {"node-1", "node-2"}
    records = read(here, "away")
    assert len(records) == 2 * 5
    assert records == read(here, "local")
    assert {line["cause"] for line in records} == {"finished"}
    contents = json.loads(workers.opened[0].context)["files"]["contents"]
    assert contents.keys() == {"server.py"}


def test_keys_of_modes_stay_where_they_are(here: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    word = searching_mode(here.folder, "keyed", ANSWER)
    path = here.folder / "keyed.json"
    mode = json.loads(path.read_text())
    mode["mcpServers"]["keyed"]["env"] = {"TOKEN": NEAR}
    path.write_text(json.dumps(mode))
    with pytest.raises(UsageError, match="The mode keyed sets values in its file"):
        run(here, "no", Workers(here.folder / "no-workers"), modes=[word])

    mode["mcpServers"]["keyed"]["env"] = {"TOKEN": "${MY_TOKEN}"}
    path.write_text(json.dumps(mode))
    monkeypatch.setenv("MY_TOKEN", NEAR)
    with pytest.raises(HarnessError, match="The variable MY_TOKEN, .* not set on this machine"):
        run(here, "none", Workers(here.folder / "without"), modes=[word])
    workers = Workers(here.folder / "workers", {"MY_TOKEN": FAR})
    run(here, "away", workers, modes=[word])
    answers = {line["answer"] for line in read(here, "away")}
    assert answers == {f"1. `shop/jobs.py:7` {NOT_STORED}"}  # each server has the far key
    assert workers.needs.keys == (("MY_TOKEN",),)
    sent = b"".join([workers.opened[0].context, *workers.sent])
    assert NEAR.encode() not in sent


def test_a_program_outside_of_the_working_folder_has_to_be_there(here: Bench) -> None:
    elsewhere = here.folder.parent / "elsewhere"
    elsewhere.mkdir()
    word = searching_mode(here.folder, "fragile", ANSWER, "look_up")
    shutil.move(here.folder / "server.py", elsewhere / "server.py")
    path = here.folder / "fragile.json"
    path.write_text(path.read_text().replace("{{ mode_folder }}", str(elsewhere)))

    class Forgetful(Workers):
        def open_link(self, name: str, session: Any) -> Any:
            (elsewhere / "server.py").unlink(missing_ok=True)
            return super().open_link(name, session)

    with pytest.raises(HarnessError, match="There is no file .*elsewhere/server.py on this"):
        run(here, "away", Forgetful(here.folder / "workers"), modes=[word])
