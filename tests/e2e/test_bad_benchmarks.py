"""Benchmarks of other packages that are wrong: each is named, and none looks like a success."""

import pytest

from tests.e2e.conftest import Bench, Done

CODE = """
from dataclasses import replace
import anyio
from swarm_bench.core.metric import Metrics
from swarm_bench.testing.toy import METRICS, Toy

class Base(Toy):
    async def exit(self):
        raise SystemExit(0)

class Leaves(Base):
    async def run(self, job, deliver):
        await self.exit()

class LeavesInATask(Base):
    async def run(self, job, deliver):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.exit)

class FailsOnce(Base):
    name = "Fails once/or twice"

    async def run(self, job, deliver):
        if job.group.arm == "plain":
            raise ValueError("not today")
        await super().run(job, deliver)

class RunsNothing(Base):
    groups_at_once = 0

class HasNoMetrics(Base):
    def metrics(self):
        raise SystemExit(0)

class HasABareMetric(Base):
    def metrics(self):
        return Metrics((replace(next(iter(METRICS)), read=None),))

class HasAMetricOfSwarms(Base):
    def metrics(self):
        return Metrics((replace(next(iter(METRICS)), read_swarm=len),))

class Scorer:
    version, keys = 1, ("mood",)

class HasABareScorer(Base):
    def scorers(self):
        return (Scorer(),)

class HasNoName(Base):
    @property
    def name(self):
        raise RuntimeError("no name")

class GrowsLetters(Base):
    def next_arms(self, records):
        return "abc"

class GrowsNumbers(Base):
    def next_arms(self, records):
        return [1]
"""


def run(bench: Bench, *words: str) -> Done:
    (bench.folder / "bad.py").write_text(CODE)
    return bench.call("run", *words)


@pytest.mark.parametrize(
    ("name", "code", "sentence"),
    [
        ("Leaves", 3, "could not be run to their own end"),
        ("LeavesInATask", 3, "ended the session by SystemExit"),
        ("RunsNothing", 2, "groups_at_once is 0"),
        ("HasNoMetrics", 2, "SystemExit: 0"),
        ("HasABareMetric", 2, "the metric words has a row, and reads nothing"),
        ("HasAMetricOfSwarms", 2, "the metric words reads swarms, and it has none"),
        ("HasABareScorer", 2, "lacks what a scorer has"),
        ("HasNoName", 2, "no name"),
        ("GrowsLetters", 2, "is no list of names"),
        ("GrowsNumbers", 2, "is no list of names"),
    ],
)
def test_a_wrong_benchmark_is_named(bench: Bench, name: str, code: int, sentence: str) -> None:
    done = run(bench, f"bad:{name}", "--runs", "1", "--output", "out")
    assert (done.code, sentence in done.err) == (code, True), done.err
    assert "defect of swarm-bench" not in done.err
    assert name[:3] != "Has" or not (bench.folder / "out").exists()


def test_the_command_to_continue_names_the_class_that_was_typed(bench: Bench) -> None:
    done = run(bench, "bad:FailsOnce", "--runs", "1")
    assert (done.code, "swarm-bench run bad:FailsOnce --continue" in done.err) == (3, True)
    (folder,) = (bench.folder / "results").glob("*/")
    assert folder.name.startswith("fails-once-or-twice-2")
