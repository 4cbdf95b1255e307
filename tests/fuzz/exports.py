"""What is exported of a trial: of what an agent printed, and of what a model was asked."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from swarm_bench.app.stored.exported import read_prompts, read_turns
from swarm_bench.core.outcome import Outcome
from swarm_bench.core.report.exported import ExportedSession, ExportedTrial, Message
from swarm_bench.core.report.trials import Entry
from swarm_bench.reports.formats.atif import render_trajectory
from swarm_bench.reports.formats.inspect_log import render_log
from swarm_bench.reports.formats.otel import render_trace
from tests.builders.formats import read_spans

PROMPTS = [
    b'{"sha256": "a", "way": "text", "prompt": "def f():"}\n',
    b'{"sha256": "b", "prompt": [{"role": "system", "text": "Be brief."}]}\n',
    b'{"sha256": "c", "prompt": {"prefix": "a", "suffix": "b"}}\n{"sha256": [], "prompt": 1}\n',
]
_ROW: dict[str, Entry] = {
    "arm": "canopy",
    "case": "auth",
    "run": 1,
    "number": 1,
    "trial": "canopy-auth",
    "status": "completed",
    "started_at": "2026-11-27T10:00:00+00:00",
    "ended_at": "2026-11-27T10:00:02+00:00",
}


def check_outcome(outcome: Outcome) -> None:
    """Whatever an agent printed, its trial is a document in every format."""
    _check(
        ExportedTrial(
            row=_ROW,
            prompt=(Message(role="user", text="Where?"),),
            answer=outcome.text,
            usage=outcome.usage,
            model=outcome.model,
            agent="claude",
            turns=outcome.turn_usage or (),
            conversation=outcome.conversation,
        )
    )


def prompts(data: bytes, folder: Path) -> None:
    """Whatever the file says, what can be read of it is a document in every format."""
    (folder / "prompts.jsonl").write_bytes(data)
    for prompt in read_prompts(folder / "prompts.jsonl").values():
        _check(ExportedTrial(row=_ROW, prompt=prompt, answer="", turns=read_turns([{}])))


def _check(trial: ExportedTrial) -> None:
    def read_trials(_arm: str | None) -> Iterator[ExportedTrial]:
        yield trial

    session = ExportedSession(
        id="s",
        benchmark="compare",
        kind="agent",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        version=None,
        runs=1,
        planned={"canopy": 1},
        models={},
        verdicts={},
        caveats={},
        data="suite",
        score_title=None,
        rows=[_ROW],
        read_trials=read_trials,
    )
    trajectory = render_trajectory(session, trial)
    trace = render_trace(session, trial, contents=True)
    assert trajectory is not None
    assert trace is not None
    read_spans(trace)
    for text in (trajectory, trace, "".join(render_log(session, "canopy"))):
        assert text.isascii()
        assert text.replace("\n", "").isprintable()
        json.loads(text, parse_constant=_refuse).keys()


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
