"""What every implementation of a role must keep. For the tests of plugins as of our own.

Each check raises `AssertionError` with a sentence that names what was broken.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from swarm_bench.core.metric import Guarded, Metric, fault
from swarm_bench.core.outcome import Activity, AgentExit, AgentRequest, Outcome
from swarm_bench.core.ports import (
    Agent,
    Capabilities,
    Message,
    Model,
    Probe,
    ProbeContext,
    ScoreContext,
    Scorer,
    ToolSpec,
)
from swarm_bench.core.session.cases import (
    CaseDelivery,
    CaseEnded,
    CaseGroup,
    CaseJob,
    CaseTrial,
)
from swarm_bench.core.session.records import SwarmRecord, TrialRecord
from swarm_bench.core.session.scores import ScoreRefused, check_keys, checked
from swarm_bench.core.status import CONSEQUENCES, Cause, Status
from swarm_bench.core.treatment.counting import ToolCalls, Transcripts

HOSTILE_OUTPUT: tuple[bytes, ...] = (
    b"",
    b"\n\n",
    b"Segmentation fault\n",
    b'{"type": "result", "resu',
    b"\xff\xfe\x00garbage\n",
    b"null\n[]\n5\n",
    b"[" * 100_000 + b"\n",
    b'{"type": "result", "subtype": 5, "usage": [], "num_turns": "three", "result": {}}\n',
    b'{"type": "result", "total_cost_usd": NaN, "num_turns": -1, "duration_ms": 1e999}\n',
    b'{"type": "result", "num_turns": ' + b"9" * 5000 + b"}\n",
    b'{"type": "assistant", "message": {"content": [{"type": "tool_use"}, null, 3]}}\n',
)
"""Standard output that no agent should print, and that every reader must survive."""

HOSTILE_ANSWERS: tuple[str, ...] = (
    "",
    "\0\x1b[2J\u202e",
    "`" * 50_000,
    "# " * 20_000,
    "a/" * 20_000 + "b.py",
    "- [x](../../etc/passwd.py)\n" * 2_000,
    "\ud800.py",
)
"""Answers that every scorer must survive."""


def check_agent(agent: Agent, folder: Path) -> None:
    """Check that an agent's launch can be started, and that no output makes it raise.

    `folder` is an empty folder to work in.
    """
    _expect(isinstance(agent.capabilities, Capabilities), "an agent states its capabilities")
    launch = agent.launch(_request(folder))
    _expect(bool(launch.argv), "launch() names a program")
    _expect(all(isinstance(word, str) for word in launch.argv), "argv is made of words")
    _expect(
        any("What is here?" in word for word in launch.argv),
        "the prompt is among the arguments",
    )
    stdout, stderr = folder / "stdout", folder / "stderr"
    stderr.write_bytes(b"\xff not text\n")
    for output in HOSTILE_OUTPUT:
        stdout.write_bytes(output)
        for line in output.split(b"\n"):
            shown = agent.activity(line)
            _expect(shown is None or isinstance(shown, Activity), "activity() gives an Activity")
        for code in (0, 1, -9, None):
            exit = AgentExit(returncode=code, stopped=None, stdout=stdout, stderr=stderr)
            _check_outcome(agent.outcome(exit), output)
        stopped = AgentExit(returncode=-9, stopped="timeout", stdout=stdout, stderr=stderr)
        _expect(agent.outcome(stopped).cause is Cause.TIMEOUT, "a time-out is one")


def check_scorer(scorer: Scorer) -> None:
    """Check that a scorer states its keys, gives no others, and raises for no answer."""
    _expect(bool(scorer.name), "a scorer has a name")
    _expect(scorer.version >= 1, "a scorer has a version")
    try:
        check_keys(scorer.keys)
        for text in HOSTILE_ANSWERS:
            context = ScoreContext(text=text, workspace="/w", files=frozenset({"a/b.py"}))
            scores = scorer.score(context)
            checked(scores, scorer.keys)
            _expect(scores == scorer.score(context), "the same answer has the same scores")
    except ScoreRefused as error:
        _expect(False, f"the scores of {scorer.name} can be recorded: {error}")


def check_metric(metric: Metric) -> None:
    """Check that a metric can be shown, and reads records whose figures are missing, 0 or empty."""
    clause = fault(metric)
    _expect(clause is None, f"the metric {metric.key} can be shown: it {clause}")
    bare = TrialRecord(mode="m", agent=1, task="t")
    readers = (metric.read, metric.row.read if metric.row else None)
    for read in filter(None, readers):
        for trial in (bare, bare.model_copy(update=_nothing())):
            _, clause = Guarded(read).attempt(trial)
            _expect(clause is None, f"{metric.key} reads any trial: {clause}")
    if metric.read_swarm:
        swarm = SwarmRecord(session="s", swarm="s", mode="m", run=1, agents=(1,))
        _, clause = Guarded(metric.read_swarm).attempt(swarm)
        _expect(clause is None, f"{metric.key} reads any swarm: {clause}")


async def check_probe(probe: Probe, folder: Path) -> None:
    """Check that a probe reads nothing where its tool never was, that its differences are figures
    of the counters that it states, and that it expects nothing of an agent that called nothing.

    `folder` is an empty folder: a workspace without the tool.
    """
    _expect(bool(probe.name), "a probe has a name")
    _expect(probe.file.endswith("-metrics") and "/" not in probe.file, "its file ends in -metrics")
    context = ProbeContext(workspace=folder, service_url=None)
    reading = await probe.snapshot(context) if probe.reads(context) else None
    _expect(reading is None, "snapshot() gives nothing where the tool made no counters")
    _expect(probe.difference(None, None) is None, "without a reading there is no difference")
    nouns = set(probe.counters.nouns)
    _expect(set(probe.counters.telling) <= nouns, "the telling counters have nouns")
    for name in ("", "mcp__x__y", "mcp__" + "x" * 1000):
        calls = {name: ToolCalls(answered=0)}
        shown = Transcripts(calls=calls, services=(), external=False, counts={})
        for key, expected in probe.expected(shown).items():
            _expect(key in nouns, f"{key} is one of its counters")
            bounds = (expected.plain, expected.low, expected.high)
            _expect(bounds == (0, 0, 0), f"without calls {key} is 0")


def check_benchmark(benchmark: Any, experiment: Any, jobs: Sequence[Any] = ()) -> None:
    """Check that a benchmark describes itself, and that its plan is a pure function of the
    experiment: equal ones have equal plans, a longer one has the trials of the shorter one.

    `experiment` has two arms and two runs or more. `jobs` are some of its groups as they are given
    to be run; a benchmark whose groups can run elsewhere needs them.
    """
    _expect(bool(benchmark.name), "a benchmark has a name")
    _expect(benchmark.version >= 1, "a benchmark has a version")
    about = benchmark.about
    _expect(bool(about) and about.isprintable(), "what it is about is a sentence on one line")
    _check_properties(benchmark.properties)
    metrics = tuple(benchmark.metrics())
    _check_distinct([metric.key for metric in metrics], "keys of metrics")
    for metric in metrics:
        clause = fault(metric)
        _expect(clause is None, f"the metric {metric.key} can be shown: it {clause}")
    scorers = benchmark.scorers()
    _check_distinct([scorer.name for scorer in scorers], "names of scorers")
    for scorer in scorers:
        check_scorer(scorer)
    _check_plan(benchmark, experiment)
    if hasattr(benchmark, "jobs"):
        _expect(bool(jobs), "a benchmark whose groups can run elsewhere is checked with jobs")
        for job in jobs:
            packed = benchmark.jobs.dump_json(job)
            _expect(benchmark.jobs.validate_json(packed) == job, "a job is the same after JSON")


async def check_cases(benchmark: Any) -> None:
    """Check that a benchmark whose trials are pairs of an arm and a case names both, and delivers
    each trial of a group once. Runs the cases of one arm, with the defaults of its properties."""
    _check_properties(benchmark.properties)
    properties = benchmark.properties()
    arms, cases = tuple(benchmark.arms(properties)), tuple(benchmark.cases(properties))
    _expect(bool(arms), "it has arms")
    _expect(bool(cases), "it has cases")
    _check_distinct(arms, "names of arms")
    _check_distinct([case.id for case in cases], "ids of cases")
    trials = tuple(
        CaseTrial(id=f"{number:012x}", run=1, arm=arms[0], case=case, number=number)
        for number, case in enumerate(cases, start=1)
    )
    group = CaseGroup(run=1, arm=arms[0], trials=trials)
    job = CaseJob(group=group, properties=properties.model_dump(mode="json"))
    ended: list[str] = []

    async def keep(delivery: CaseDelivery) -> None:
        TypeAdapter(type(delivery)).dump_json(delivery)
        ended.extend([delivery.trial.id] if isinstance(delivery, CaseEnded) else [])

    await benchmark.run(job, keep)
    _expect(
        sorted(ended) == [trial.id for trial in trials], "each trial of a group is delivered once"
    )


def check_model(model: Model) -> None:
    """Check that a model answers as an assistant, calls only offered tools, and needs none."""
    question = Message(role="user", text="Where is the request handled?")
    tool = ToolSpec(name="Grep", description="Search.", schema={"type": "object"})
    for tools in ([], [tool]):
        answer = model.complete([question], tools)
        _expect(answer.role == "assistant", "complete() gives the assistant's message")
        offered = {spec.name for spec in tools}
        _expect({call.name for call in answer.calls} <= offered, "only offered tools are called")
        _expect(bool(answer.text or answer.calls), "a message has text or calls")


def _check_properties(properties: Any) -> None:
    _expect(issubclass(properties, BaseModel), "its properties are a pydantic model")
    json.dumps(properties.model_json_schema())
    try:
        properties()
    except ValidationError as error:
        _expect(False, f"every property has a default that is valid: {error}")


def _check_plan(benchmark: Any, experiment: Any) -> None:
    plan = tuple(benchmark.plan(experiment))
    _expect(bool(plan), "a plan has blocks")
    longer = experiment.model_copy(
        update={"runs": experiment.runs + 1, "order": (*experiment.order, experiment.order[-1])}
    )
    ids, more = _trial_ids(plan), _trial_ids(benchmark.plan(longer))
    _expect(tuple(benchmark.plan(experiment)) == plan, "the same experiment has the same plan")
    _check_distinct(ids, "ids of trials")
    _expect(more[: len(ids)] == ids and len(more) > len(ids), "more runs come after those before")
    stored = type(experiment).from_json(experiment.model_dump_json())
    _expect(tuple(benchmark.plan(stored)) == plan, "a stored experiment has the same plan")
    for block in plan:
        for group in block.groups:
            _expect(group.run == block.run, "a group is of the run of its block")
            _expect(group.arm in block.order, "the arm of a group is one of its block")
            _check_rest(group)


def _check_rest(group: Any) -> None:
    trials = list(group.trials)
    for finished in ([], trials[:1], trials[1:], trials):
        rest = group.without({trial.id for trial in finished})
        expected = [trial for trial in trials if trial not in finished]
        _expect(list(rest.trials) == expected, "without() has the trials that are not finished")
    _expect(list(group.trials) == trials, "without() leaves the group as it is")


def _trial_ids(plan: Sequence[Any]) -> list[str]:
    return [trial.id for block in plan for group in block.groups for trial in group.trials]


def _check_distinct(names: Sequence[str], what: str) -> None:
    _expect(all(names), f"{what} are not empty")
    _expect(len(set(names)) == len(names), f"{what} are distinct")


def _request(folder: Path) -> AgentRequest:
    workspace, home = folder / "workspace", folder / "home"
    workspace.mkdir()
    (home / "tmp").mkdir(parents=True)  # as whoever runs an agent makes its home
    config = home / "mcp.json"
    config.write_text('{"mcpServers": {}}', encoding="utf-8")
    return AgentRequest(
        prompt="What is here?",
        workspace=workspace,
        home=home,
        mcp_config=config,
        max_turns=3,
        model=None,
        seed=0,
    )


def _nothing() -> dict[str, Any]:
    """Figures of a trial that are 0 or empty where they could be missing."""
    figures = {}
    for key, about in TrialRecord.model_fields.items():
        kind, *others = get_args(about.annotation) or (None,)
        kind = get_origin(kind) or kind
        if others and kind in (int, float, dict, list):
            figures[key] = kind()
    return figures


def _check_outcome(outcome: Outcome, output: bytes) -> None:
    _expect(outcome.cause in CONSEQUENCES, "the cause is one that we know")
    completed = CONSEQUENCES[outcome.cause].status is Status.COMPLETED
    _expect(not completed, f"no answer is found in {output[:40]!r}")
    for figure in (outcome.turns, outcome.cost, outcome.duration_ms, outcome.usage.effective):
        sound = figure is None or (math.isfinite(figure) and figure >= 0)
        _expect(sound, f"no figure is invented from {output[:40]!r}")
    for figures in (outcome.tool_seconds, outcome.tool_result_tokens):
        called = set(figures or ()) <= set(outcome.tool_calls or ())
        _expect(called, "only tools that were called have seconds and tokens")
        sound = all(math.isfinite(value) and value >= 0 for value in (figures or {}).values())
        _expect(sound, f"no seconds or tokens are invented from {output[:40]!r}")


def _expect(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(f"does not hold: {sentence}")
