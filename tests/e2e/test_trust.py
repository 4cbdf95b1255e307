"""Looking runs nothing: what a folder or a stranger's session names needs trust. Each program
leaves a file behind when it was started."""

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.builders.golden import Sentences
from tests.builders.packages import install
from tests.e2e.conftest import COMMAND, Bench

pytestmark = pytest.mark.timeout(120)

AGENT = """
from pathlib import Path
from swarm_bench.agents.scripted import Scripted
Path("loaded").touch()
class Own(Scripted):
    pass
"""
ANSWER = [{"steps": [{"init": {"tools": ["Read"]}}, {"answer": {"text": "It is `a.py`."}}]}]


def files(bench: Bench) -> None:
    (bench.folder / "own.py").write_text(AGENT)
    (bench.folder / "script.yaml").write_text(yaml.safe_dump(ANSWER))
    (bench.folder / "swarm-bench.toml").write_text(
        f'agent = "own:Own"\nmodel = "script.yaml"\nmodes = ["baseline"]\nruns = 1\nagents = 1\n'
        f"repo = {json.dumps(str(bench.repo))}\n"
    )


def on_a_terminal(bench: Bench, *arguments: str, answer: bytes) -> tuple[int, str]:
    """The exit code and what was printed, with an answer to the question."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=bench.folder,
        env=bench.environment(),
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    os.write(master, answer)
    code, printed = running.wait(60), b""
    try:
        while part := os.read(master, 10_000):
            printed += part
    except OSError:  # the terminal is closed, and all of it was read
        pass
    return code, printed.decode()


def test_a_folder_runs_what_it_names_after_it_was_trusted(bench: Bench, golden: Sentences) -> None:
    files(bench)
    loaded = bench.folder / "loaded"

    refused = bench.call("compare")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    golden(refused.err)
    assert "--trust" in refused.err
    planned = bench.call("compare", "--plan")
    assert (planned.code, "own:Own" in planned.out) == (0, True)
    doctor = bench.call("doctor")
    (unused,) = (line for line in doctor.out.splitlines() if "own:Own (" in line)
    golden(unused)
    code, printed = on_a_terminal(bench, "compare", answer=b"n\n")
    assert (code, "Trust this folder? [y/N]" in printed) == (2, True)
    assert "A yes is remembered for these lines until they change." in printed
    assert not loaded.exists()

    code, printed = on_a_terminal(bench, "compare", "--output", "out", "--quiet", answer=b"y\n")
    assert code == 0, printed
    assert loaded.exists()
    check_session(bench, loaded)


def check_session(bench: Bench, loaded: Path) -> None:
    """A session that was made here goes on; the same in another hand, and a changed one, ask."""
    (bench.folder / "swarm-bench.toml").unlink()
    shutil.move(bench.folder / "out", bench.folder / "moved")
    done = bench.call("compare", "--continue", "moved", "--runs", "2", "--quiet")
    assert done.code == 0, done.err
    loaded.unlink()

    stranger = bench.folder / "stranger"
    stranger.mkdir()
    elsewhere = bench.call("compare", "--continue", "moved", env={"HOME": str(stranger)})
    assert (elsewhere.code, "own:Own (the session" in elsewhere.err) == (2, True)
    assert bench.call("report", "moved", env={"HOME": str(stranger)}).code == 0
    assert not loaded.exists()
    stored = bench.folder / "moved" / "experiment.json"
    experiment = json.loads(stored.read_text())
    experiment["modes"][0]["teardown"] = ["touch", str(bench.folder / "torn")]
    stored.write_text(json.dumps(experiment))
    changed = bench.call("compare", "--continue", "moved")
    assert (changed.code, "torn (the session" in changed.err) == (2, True)
    assert not (bench.folder / "torn").exists()


ASKING = '''
import json
from pathlib import Path

from pydantic import BaseModel, field_validator

from swarm_bench.benchmarks.cases.role import ModelBenchmark, RowCase
from swarm_bench.core.metric import Better, Metric, Style
from swarm_bench.core.roles.language_model import Ask
from swarm_bench.core.entry_points import load


class Row(BaseModel):
    id: str


class Judged(ModelBenchmark):
    """Answers that somebody's class judges."""

    name = "judged"
    dataset = "rows.jsonl"
    Row = Row
    ways = ("text",)
    judges: list[str] = []

    @field_validator("judges")
    @classmethod
    def _loaded(cls, named):
        for word in named:
            load("judges", word)
        return named

    def cases(self, rows):
        return (RowCase(id=row.id, row=row) for row in rows)

    def ask(self, case, way):
        return Ask(prompt=case.id, reference=case.id)

    def read(self, case, completion, way):
        return completion.text

    async def score(self, case, prediction, tools):
        return {"same": prediction == case.id}

    @classmethod
    def metrics(cls):
        return (
            Metric(
                key="same", title="Same", unit="0 to 1", style=Style.FRACTION,
                better=Better.HIGHER, definition="Equal answers.", relative=False,
                read=lambda record: record.scores and float(record.scores["same"]),
            ),
        )
'''
JUDGE = 'from pathlib import Path\nPath("loaded").touch()\nclass Judge:\n    pass\n'


NAMED, CLASS_OF_MINE = ("run", "judged", "--quiet"), 'judges=["scripted:Judge"]'


class Judging:
    """A benchmark that is installed, and a class beside it that says when it is loaded."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.loaded = bench, bench.folder / "loaded"
        points = "[swarm_bench.benchmarks]\njudged = judged:Judged\n"
        install("judged", ASKING, points, bench.folder)
        (bench.folder / "rows.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n')
        (bench.folder / "scripted.py").write_text(JUDGE)
        self.stranger = bench.folder / "stranger"
        self.stranger.mkdir()

    def __call__(self, *words: str, home: Path | None = None, code: int = 0) -> str:
        folder = self.bench.folder
        env = {"PYTHONPATH": str(folder), "HOME": str(home or folder)}
        done = self.bench.call(*words, env=env)
        assert done.code == code, done.err
        was = self.loaded.exists()
        self.loaded.unlink(missing_ok=True)
        return f"{done.err}{' loaded' if was else ''}"


def test_a_class_that_a_property_names_needs_trust(bench: Bench, golden: Sentences) -> None:
    call, named, class_of_mine = Judging(bench), NAMED, CLASS_OF_MINE
    assert "loaded" in call(*named, "-p", class_of_mine, "--output", "out", "--runs", "1")
    assert "loaded" in call(*named, "--continue", "out", "--runs", "2")
    stranger = call.stranger
    refused = call(*named, "--continue", "out", home=stranger, code=2)
    assert "scripted:Judge of the property judges" in refused
    golden(refused.partition("the session")[0])
    for looking in (["report", "out"], ["report", "out", "--margin", "0.2"]):
        assert "loaded" not in call(*looking, home=stranger)
    for words in ([*named, "--continue", "out", "--plan"], ["rescore", "out"]):
        assert "No code was loaded" in call(*words, home=stranger, code=2)
    assert "loaded" in call("rescore", "out", "--trust", home=stranger)
    own = (*named, "--continue", "out", "-p", class_of_mine)
    assert "loaded" in call(*own, home=stranger)

    (bench.folder / "swarm-bench.toml").write_text('[judged]\njudges = ["scripted:Judge"]\n')
    assert "swarm-bench.toml" in call(*named, home=stranger, code=2)
    (bench.folder / "swarm-bench.toml").unlink()
    (bench.folder / ".env").write_text("SWARM_BENCH_PROPERTY_JUDGES='[\"scripted:Judge\"]'\n")
    assert "(.env)" in call(*named, home=stranger, code=2)
    show = ("benchmarks", "show", "judged", "--case", "a")
    golden(call(*show, home=stranger, code=2))
    assert "loaded" in call(*show, "-p", class_of_mine, home=stranger)
    assert "loaded" in call(*named, "--trust", home=stranger)


def test_no_spelling_of_a_class_and_no_property_of_an_arm_gets_around_trust(bench: Bench) -> None:
    call = Judging(bench)
    stranger = call.stranger
    assert "loaded" in call(*NAMED, "-p", CLASS_OF_MINE, "--output", "out", "--runs", "1")
    stored = bench.folder / "out" / "experiment.json"
    content = stored.read_text()
    for word in ("öwn:Judge", "1own:Judge", "own mod:Judge", "scripted:Judge ", "scripted:"):
        stored.write_text(content.replace("scripted:Judge", word))
        refused = call("rescore", "out", home=stranger, code=2)
        assert not refused.endswith(" loaded"), "some are no name of a class"
    experiment = json.loads(content)
    experiment["properties"]["judges"] = []
    experiment["models"][0]["properties"]["judges"] = ["scripted:Judge"]
    stored.write_text(json.dumps(experiment))
    refused = call(*NAMED, "--continue", "out", "-p", "judges=[]", home=stranger, code=2)
    assert "scripted:Judge of the property judges" in refused, "what an arm has was not typed"
