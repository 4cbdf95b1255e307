"""Deliveries as JSON, files that are sent, and a group that is given up."""

import json
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import anyio
import pytest

from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.running.portable import groups
from swarm_bench.app.running.portable.cases import PortableModels, PortablePairs
from swarm_bench.app.running.portable.groups import PortableGroups, move_to, read_files
from swarm_bench.core.errors import UsageError
from swarm_bench.core.outcome import Usage
from swarm_bench.core.session.cases import (
    Case,
    CaseDelivery,
    CaseEnded,
    CaseGroup,
    CaseJob,
    CaseStarted,
    CaseTrial,
    JudgeAsked,
)
from swarm_bench.core.session.models import AnswerFields
from swarm_bench.core.status import Cause
from swarm_bench.engine.plan import plan_cases
from tests.builders.workers import Workers, request

CASE = Case(id="c", title="a case", group="g")
TRIAL = CaseTrial(id="t", run=1, arm="a", case=CASE, number=1)


@pytest.mark.parametrize(
    "delivery",
    [
        CaseStarted(trial=TRIAL),
        JudgeAsked(trial=TRIAL, max_cost=0.5),
        CaseEnded(trial=TRIAL, cause=Cause.FINISHED),
        CaseEnded(
            trial=TRIAL, cause=Cause.JUDGE_FAILED, detail="\u2028", answer="x\ny",
            started_at=datetime(2026, 1, 1, tzinfo=UTC), ended_at=datetime.now(UTC),
            wall_seconds=1.5, usage=Usage(input=1, output=None), cost=0.1,
            figures={"a": 1.0, "b": None}, own=AnswerFields(finish="stop", understated=("input",)),
            scores={"a": True, "b": 1, "c": 1.0, "d": [1, 2], "e": "x", "f": None},
        ),
    ],
    ids=["start", "judge", "end", "all"],
)  # fmt: skip
def test_a_delivery_is_the_same_behind_the_wire(delivery: CaseDelivery) -> None:
    adapter = PortableGroups().deliveries
    line = json.dumps(adapter.dump_python(delivery, mode="json"))
    received = adapter.validate_python(json.loads(line))
    assert received == delivery
    assert type(received) is type(delivery)
    if isinstance(received, CaseEnded) and isinstance(delivery, CaseEnded):
        kinds = [[*map(type, (it.scores or {}).values())] for it in (received, delivery)]
        assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    ("file", "is_owned"),
    [
        ("transcripts/claude/0123456789ab-case-7-run-1.txt", True),
        ("transcripts/claude/0123456789ab-case-7-run-2.txt", False),
        ("transcripts/claude/0123456789ab-case-8-run-1.txt", False),
        ("transcripts/0123456789ab-case-7-run-1.txt", False),
        ("transcripts/claude/more/0123456789ab-case-7-run-1.txt", False),
        ("transcripts/claude/metrics.jsonl", False),
        ("claude/0123456789ab-case-7-run-1.txt", False),
        ("metrics.jsonl", False),
    ],
)
def test_of_models_only_transcripts_of_the_group_are_taken(file: str, *, is_owned: bool) -> None:
    job = CaseJob(group=CaseGroup(id="g", run=1, arm="a", trials=(TRIAL,)), properties={})
    portable = PortableModels()
    portable.numbers = {"a": {"c": 7}}
    assert portable.owns_file(job, PurePosixPath(file)) == is_owned
    assert not PortableGroups().owns_file(job, PurePosixPath(file))


def test_trials_of_a_lost_node_have_an_end() -> None:
    second = CaseTrial(id="u", run=1, arm="a", case=CASE, number=2)
    job = CaseJob(group=CaseGroup(id="g", run=1, arm="a", trials=(TRIAL, second)), properties={})
    portable = PortableGroups()
    lost = list(portable.describe_lost(job, {"t"}, "gone"))
    assert lost == [CaseEnded(trial=second, cause=Cause.NODE_LOST, detail="gone")]
    assert [portable.find_end(it) for it in (*lost, CaseStarted(trial=second))] == ["u", None]


def test_files_are_sent_that_are_named_below_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "pack").mkdir(parents=True)
    there.mkdir()
    monkeypatch.chdir(here)
    for name in ("rows.jsonl", "pack/__init__.py", "pack/mine.py", ".env", "../up.txt"):
        Path(name).write_text(name)
    texts = [
        "rows.jsonl", "pack.mine:Class", "generations:rows.jsonl", ".env", "../up.txt",
        str(tmp_path / "up.txt"), "a text\nof lines", "x" * 5000, "", "nothing.txt",
    ]  # fmt: skip
    files = read_files(texts, ())
    assert files.contents.keys() == {"rows.jsonl", "pack/__init__.py", "pack/mine.py"}
    assert files.absent == ("../up.txt", str(tmp_path / "up.txt"))
    with pytest.raises(UsageError, match="There is no file ../up.txt on this machine"):
        move_to(there / "files", files)
    assert Path("pack/mine.py").read_text() == "pack/mine.py"
    assert Path.cwd() == there / "files"

    monkeypatch.chdir(here)
    monkeypatch.setattr(groups, "MOST_BYTES", 12)
    with pytest.raises(UsageError, match="pack/__init__.py and the files before it have more than"):
        read_files(texts, ())


@pytest.mark.anyio
@pytest.mark.slow
async def test_a_trial_that_waits_for_money_can_be_given_up(tmp_path: Path) -> None:
    call = run_call(request("swarm_bench.testing.toy:Toy", tmp_path / "s", runs=1, max_cost=1))
    async with call.prepare(None, None) as ready:
        session = PortablePairs().pack(ready, tmp_path / "s", lambda _: None)  # type: ignore[arg-type]
        group = plan_cases(ready.experiment)[0].groups[0]  # type: ignore[attr-defined]
    waits = anyio.Event()

    async def wait(delivery: CaseDelivery) -> None:
        waits.set()
        await anyio.sleep_forever()

    with anyio.fail_after(40):
        async with (
            Workers(tmp_path / "workers", nodes=1).open_session(session) as executor,
            executor.reserve_host() as host,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(host.execute, CaseJob(group=group, properties={}), wait)
            await waits.wait()
            tasks.cancel_scope.cancel()
