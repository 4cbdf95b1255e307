"""What `run` says of a benchmark that cannot be planned, and of a session without answers."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import field_validator

from swarm_bench.app import session
from swarm_bench.app.benchmarks import run_call
from swarm_bench.app.result import EndCounts, SessionResult
from swarm_bench.app.running import pairs
from swarm_bench.app.running.pairs import PairReady, resolve
from swarm_bench.app.session import run
from swarm_bench.app.setup.case_experiment import (
    CaseRequest,
    build_case_experiment,
    resolve_case_properties,
)
from swarm_bench.app.setup.case_properties import CaseProperties
from swarm_bench.benchmarks.cases.folder import CaseFolder
from swarm_bench.config.run_options import RunSettings
from swarm_bench.core.errors import ConfigError, HarnessError, UsageError
from swarm_bench.core.events import Event, WarningRaised
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.document import Document, RenderedDocument
from swarm_bench.core.session.cases import (
    Case,
    CaseEnded,
    CaseExperiment,
    CaseJob,
    CaseRecord,
    Deliver,
)
from swarm_bench.core.status import Cause, Status
from swarm_bench.engine.plan import plan_cases
from swarm_bench.runtime.files import hold_lock
from swarm_bench.testing.toy import Properties, Toy
from tests.builders.golden import Sentences

YES = Case(id="yes", title="say yes")


def build(
    benchmark: Toy, request: CaseRequest, old: CaseExperiment | None = None
) -> tuple[CaseExperiment, CaseProperties[Any]]:
    properties = resolve_case_properties(benchmark, benchmark.properties, request, old)
    return build_case_experiment(benchmark, properties, request, old), properties


def asking(resume: Path | None = None, **settings: Any) -> CaseRequest:
    return CaseRequest(benchmark="toy", settings=RunSettings(**settings), resume=resume)


class Sets(Toy):
    """A benchmark with any arms and cases."""

    def __init__(self, arms: Sequence[str], cases: Sequence[Case]) -> None:
        self._arms, self._cases = tuple(arms), tuple(cases)

    def arms(self, properties: Properties) -> tuple[str, ...]:
        return self._arms

    def cases(self, properties: Properties) -> tuple[Case, ...]:
        return self._cases


class Failing(Toy):
    def arms(self, properties: Properties) -> tuple[str, ...]:
        raise RuntimeError("no prompts")


class Unchecked(Properties):
    @field_validator("seconds", mode="before")
    @classmethod
    def _leave(cls, _: object) -> float:
        raise SystemExit(0)


class Leaving(Toy):
    def cases(self, properties: Properties) -> tuple[Case, ...]:
        raise SystemExit(0)


@pytest.mark.parametrize(
    ("benchmark", "why"),
    [
        (Sets((), (YES,)), "has no arms"),
        (Sets(("a",), ()), "has no cases"),
        (Sets(("a", "a"), (YES,)), "two of its arms are called 'a'"),
        (Sets(("a",), (YES, YES)), "two of its cases are called 'yes'"),
        (Sets((1,), (YES,)), r"\(1,\) is no list of names"),  # type: ignore[arg-type]
        (Sets(("a",), ("yes",)), "its cases are no list of Case"),  # type: ignore[arg-type]
        (Failing(), "RuntimeError: no prompts"),
        (Leaving(), "SystemExit: 0"),
    ],
    ids=["no arms", "no cases", "arms", "cases", "numbers", "texts", "raises", "leaves"],
)
def test_what_cannot_be_planned_is_no_defect_of_ours(benchmark: Toy, why: str) -> None:
    with pytest.raises(ConfigError, match=f"The benchmark 'toy' .*{why}.*; fix it"):
        build(benchmark, CaseRequest(benchmark="toy"))


def test_properties_that_cannot_be_checked_are_no_defect_of_ours() -> None:
    benchmark, request = Toy(), CaseRequest(benchmark="toy", properties=["seconds=1"])
    benchmark.properties = Unchecked
    with pytest.raises(ConfigError, match="'toy' cannot check its properties: .*SystemExit: 0"):
        build(benchmark, request)


def test_a_session_that_is_continued_stays_where_it_is() -> None:
    with pytest.raises(UsageError, match="--output cannot be given with --continue"):
        resolve("toy", [], {"resume": "old", "output": "new"})


def test_the_metric_and_its_margin_are_named_beforehand_and_kept() -> None:
    named, _ = build(Toy(), asking(primary="letters", margin=0.2))
    assert (named.primary, named.margin) == ("letters", 0.2)
    assert named.beforehand
    assert named.beforehand.is_whole
    assert (named.beforehand.primary, named.beforehand.cases) == (
        "letters",
        ("yes", "no", "perhaps"),
    )
    unnamed, _ = build(Toy(), CaseRequest(benchmark="toy"))
    assert (unnamed.primary, unnamed.margin) == ("words", 0.1)
    more, _ = build(Toy(), asking(runs=5, margin=0.2), named)
    assert (more.primary, more.beforehand) == ("letters", named.beforehand)
    for request, option in ({"primary": "words"}, "--primary"), ({"margin": 0.1}, "--margin"):
        with pytest.raises(UsageError, match=f"{option}: the session has"):
            build(Toy(), asking(**request), named)
    with pytest.raises(UsageError, match="--primary word: .* did you mean 'words'"):
        build(Toy(), asking(primary="word"))


def test_a_benchmark_that_compares_nothing_has_no_verdict() -> None:
    class Silent(Toy):
        def metrics(self) -> Metrics:
            return Metrics()

    experiment, _ = build(Silent(), CaseRequest(benchmark="toy"))
    assert (experiment.primary, experiment.beforehand) == (None, None)
    with pytest.raises(UsageError, match="this benchmark has none"):
        build(Silent(), asking(primary="words"))


EMPTY = RenderedDocument(
    document=Document(title="", banner=None, head=(), sections=()), markdown=""
)


@pytest.mark.parametrize(
    ("causes", "unfinished", "why"),
    [
        ({}, 6, "could not be run to their own end: 6;"),
        ({Cause.FINISHED: 5}, 1, "could not be run to their own end: 1"),
        ({Cause.TIMEOUT: 6}, 0, "No trial gave an answer: 6 were stopped at the time limit"),
    ],
)
def test_a_session_without_answers_is_not_complete(
    causes: dict[Cause, int], unfinished: int, why: str
) -> None:
    result = SessionResult(
        folder=Path("out"), to_continue="again", summary=EMPTY, interrupted=False,
        end_counts=EndCounts(causes=Counter(causes), unfinished=unfinished),
    )  # fmt: skip
    with pytest.raises(HarnessError, match=why):
        result.check()


class Endless(Toy):
    """A benchmark that always wants another arm, and keeps what it was shown."""

    def __init__(self) -> None:
        self.shown = list[list[str]]()

    def arms(self, properties: Properties) -> tuple[str, ...]:
        return ("0",)

    def next_arms(self, records: Sequence[CaseRecord]) -> tuple[str, ...]:
        self.shown.append([record.arm for record in records])
        return (str(len(records)),)

    async def run(self, job: CaseJob, deliver: Deliver) -> None:
        for trial in job.group.trials:
            await deliver(CaseEnded(trial=trial, cause=Cause.FINISHED))

    def cases(self, properties: Properties) -> tuple[Case, ...]:
        return (YES,)


@pytest.mark.anyio
async def test_a_benchmark_that_always_adds_arms_is_shown_those_of_the_plan_and_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    monkeypatch.setattr(pairs, "MOST_ROUNDS", 3)
    benchmark, events = Endless(), list[Event]()
    request = asking(runs=1)
    experiment, properties = build(benchmark, request)
    folder = CaseFolder(tmp_path / "out", CaseExperiment, CaseRecord)
    folder.make()
    stranger = CaseRecord(
        arm="of a stranger", case="yes", number=1, run=1, session="x", trial="0123456789ab",
        attempt=1, status=Status.COMPLETED, cause=Cause.FINISHED,
    )  # fmt: skip
    folder.records.append(stranger)
    ready = PairReady[CaseExperiment, CaseRecord](
        request=request,
        benchmark=benchmark,
        experiment=experiment,
        properties=properties,
        old=None,
    )
    assert not await ready.execute(folder, events.append)
    plan = plan_cases(folder.read_experiment())
    assert benchmark.shown == [["0"], ["0", "1"], ["0", "1", "2"]]
    assert [group.arm for block in plan for group in block.groups] == ["0", "1", "2"]
    (trouble,) = [event.message for event in events if isinstance(event, WarningRaised)]
    golden(trouble)


def test_a_session_that_came_and_went_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    summary = out / "summary.md"

    @contextmanager
    def late(path: Path) -> Iterator[None]:
        (out / "experiment.json").write_text("of another")
        summary.write_text("of another")
        with hold_lock(path):
            yield

    monkeypatch.setattr(session, "hold_lock", late)
    request = CaseRequest(benchmark="swarm_bench.testing.toy:Toy", settings=RunSettings(output=out))
    with pytest.raises(UsageError, match="holds another session"):
        run(run_call(request), lambda _: None)
    assert [file.read_text() for file in (out / "experiment.json", summary)] == ["of another"] * 2


def test_a_session_of_models_is_not_continued_without_them(tmp_path: Path) -> None:
    """As the benchmark asked models once, and has arms of its own now."""
    word, out = "swarm_bench.testing.toy:Toy", tmp_path / "out"
    settings = RunSettings(models=["reference"], limit="2", output=out)
    run(run_call(CaseRequest(benchmark="conala", settings=settings)), lambda _: None)
    stored = json.loads((out / "experiment.json").read_text())
    toy = {"benchmark": "toy", "benchmark_version": Toy.version, "properties": {}}
    content = json.dumps(stored | toy | {"benchmark_class": word})
    (out / "experiment.json").write_text(content)
    records = (out / "metrics.jsonl").read_bytes()
    with pytest.raises(UsageError, match="is a session of models, which the benchmark .* no more"):
        run(run_call(CaseRequest(benchmark=word, resume=out)), lambda _: None)
    assert (out / "experiment.json").read_text() == content
    assert (out / "metrics.jsonl").read_bytes() == records
