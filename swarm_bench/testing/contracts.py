"""What every implementation of a role must keep. For the tests of plugins as of our own.

Each check raises `AssertionError` with a sentence that names what was broken.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

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
from swarm_bench.core.session.records import SwarmRecord, TrialRecord
from swarm_bench.core.session.scores import ScoreRefused, check_keys, check_scores
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
    expect(isinstance(agent.capabilities, Capabilities), "an agent states its capabilities")
    launch = agent.launch(_request(folder))
    expect(bool(launch.argv), "launch() names a program")
    expect(all(isinstance(word, str) for word in launch.argv), "argv is made of words")
    expect(
        any("What is here?" in word for word in launch.argv),
        "the prompt is among the arguments",
    )
    stdout, stderr = folder / "stdout", folder / "stderr"
    stderr.write_bytes(b"\xff not text\n")
    for output in HOSTILE_OUTPUT:
        stdout.write_bytes(output)
        for line in output.split(b"\n"):
            activity = agent.activity(line)
            expect(
                activity is None or isinstance(activity, Activity), "activity() gives an Activity"
            )
        for code in (0, 1, -9, None):
            exit = AgentExit(returncode=code, stopped=None, stdout=stdout, stderr=stderr)
            _check_outcome(agent.outcome(exit), output)
        stopped = AgentExit(returncode=-9, stopped="timeout", stdout=stdout, stderr=stderr)
        expect(agent.outcome(stopped).cause is Cause.TIMEOUT, "a time-out is one")


def check_scorer(scorer: Scorer) -> None:
    """Check that a scorer states its keys, gives no others, and raises for no answer."""
    expect(bool(scorer.name), "a scorer has a name")
    expect(scorer.version >= 1, "a scorer has a version")
    try:
        check_keys(scorer.keys, TrialRecord)
        for text in HOSTILE_ANSWERS:
            context = ScoreContext(text=text, workspace="/w", files=frozenset({"a/b.py"}))
            scores = scorer.score(context)
            check_scores(scores, scorer.keys, TrialRecord)
            expect(scores == scorer.score(context), "the same answer has the same scores")
    except ScoreRefused as error:
        expect(False, f"the scores of {scorer.name} can be recorded: {error}")


def check_metric(metric: Metric) -> None:
    """Check that a metric can be shown, and reads records whose figures are missing, 0 or empty."""
    clause = fault(metric)
    expect(clause is None, f"the metric {metric.key} can be shown: it {clause}")
    record = TrialRecord(mode="m", agent=1, task="t")
    readers = (metric.read, metric.row.read if metric.row else None)
    for read in filter(None, readers):
        for trial in (record, record.model_copy(update=_nothing())):
            _, clause = Guarded(read).attempt(trial)
            expect(clause is None, f"{metric.key} reads any trial: {clause}")
    if metric.read_swarm:
        swarm = SwarmRecord(session="s", swarm="s", mode="m", run=1, agents=(1,))
        _, clause = Guarded(metric.read_swarm).attempt(swarm)
        expect(clause is None, f"{metric.key} reads any swarm: {clause}")


async def check_probe(probe: Probe, folder: Path) -> None:
    """Check that a probe reads nothing where its tool never was, that its differences are figures
    of the counters that it states, and that it expects nothing of an agent that called nothing.

    `folder` is an empty folder: a workspace without the tool.
    """
    expect(bool(probe.name), "a probe has a name")
    expect(probe.file.endswith("-metrics") and "/" not in probe.file, "its file ends in -metrics")
    context = ProbeContext(workspace=folder, service_url=None)
    reading = await probe.snapshot(context) if probe.reads(context) else None
    expect(reading is None, "snapshot() gives nothing where the tool made no counters")
    expect(probe.difference(None, None) is None, "without a reading there is no difference")
    nouns = set(probe.counters.nouns)
    expect(set(probe.counters.telling) <= nouns, "the telling counters have nouns")
    for name in ("", "mcp__x__y", "mcp__" + "x" * 1000):
        calls = {name: ToolCalls(answered=0)}
        transcripts = Transcripts(calls=calls, services=(), external=False, counts={})
        for key, expected in probe.expected(transcripts).items():
            expect(key in nouns, f"{key} is one of its counters")
            bounds = (expected.plain, expected.low, expected.high)
            expect(bounds == (0, 0, 0), f"without calls {key} is 0")


def check_model(model: Model) -> None:
    """Check that a model answers as an assistant, calls only offered tools, and needs none."""
    question = Message(role="user", text="Where is the request handled?")
    tool = ToolSpec(name="Grep", description="Search.", schema={"type": "object"})
    for tools in ([], [tool]):
        answer = model.complete([question], tools)
        expect(answer.role == "assistant", "complete() gives the assistant's message")
        names = {spec.name for spec in tools}
        expect({call.name for call in answer.calls} <= names, "only offered tools are called")
        expect(bool(answer.text or answer.calls), "a message has text or calls")


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
    figures: dict[str, Any] = {}
    hints = get_type_hints(TrialRecord)
    for key in TrialRecord.model_fields:
        kind, *more_types = get_args(hints[key]) or (None,)
        kind = get_origin(kind) or kind
        if kind is Mapping:
            kind = dict
        if more_types and kind in (int, float, dict, list, tuple):
            figures[key] = kind()
    return figures


def _check_outcome(outcome: Outcome, output: bytes) -> None:
    expect(outcome.cause in CONSEQUENCES, "the cause is one that we know")
    completed = CONSEQUENCES[outcome.cause].status is Status.COMPLETED
    expect(not completed, f"no answer is found in {output[:40]!r}")
    for figure in (outcome.turns, outcome.cost, outcome.duration_ms, outcome.usage.effective):
        sound = figure is None or (math.isfinite(figure) and figure >= 0)
        expect(sound, f"no figure is invented from {output[:40]!r}")
    for figures in (outcome.tool_seconds, outcome.tool_result_tokens):
        are_called = set(figures or ()) <= set(outcome.tool_calls or ())
        expect(are_called, "only tools that were called have seconds and tokens")
        sound = all(math.isfinite(value) and value >= 0 for value in (figures or {}).values())
        expect(sound, f"no seconds or tokens are invented from {output[:40]!r}")


def expect(holds: bool, sentence: str) -> None:
    """Raise `AssertionError` with the sentence unless it holds."""
    if not holds:
        raise AssertionError(f"does not hold: {sentence}")
