"""Sessions made of a few words, so that a test shows what it is about and nothing else."""

from datetime import UTC, datetime
from typing import Any

from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import Experiment
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.core.treatment.overhead import Overhead
from swarm_bench.importers.canopy_script.folder import build_experiment

MODES: dict[str, dict[str, Any]] = {
    "baseline": {},
    "told": {"control_of": ("canopy",)},
    "placebo": {
        "control_of": ("canopy",),
        "control_kind": "placebo",
        "servers": {"canopy": {}},
    },
    "canopy": {"servers": {"canopy": {}}, "probes": ("feedback",)},
    "canopy-service": {"servers": {"canopy": {}}, "probes": ("feedback", "service")},
}
WHOLE = {
    "duration_s": 10.0,
    "wall_seconds": 11.0,
    "num_turns": 4,
    "cache_read": 900,
    "total_tokens": 100,
    "effective_tokens": 1000,
    "cost": 0.5,
    "result_lines": 20,
    "compacted": 0,
    "status": "completed",
    "cause": "finished",
    "references": 3,
    "references_existing": 2,
    "grounded": True,
    "structured": True,
    "mcp_calls": 0,
    "retrieval": "not-given",
}
ANSWERS = {"mcp__canopy__query": {"answers": 2, "questions": ("q", "r"), "different": ("a", "b")}}
"""Of a tool that works."""


def make_trial(mode: str = "baseline", **changes: Any) -> TrialRecord:
    """A trial that ended well; agent, run and task are 1, 1 and `a` unless said otherwise."""
    values = {"mode": mode, "agent": 1, "run": 1, "task": "a", **WHOLE}
    if MODES[mode].get("servers"):
        values |= {"retrieval": "used", "mcp_calls": 2, "tool_answers": ANSWERS}
    return TrialRecord.model_validate(values | changes)


def make_failed(mode: str, cause: str, status: str, **changes: Any) -> TrialRecord:
    """A trial that gave no figures."""
    empty = dict.fromkeys(WHOLE) | {"cause": cause, "status": status}
    return make_trial(mode, **(empty | changes))


def make_swarm(mode: str, **changes: Any) -> SwarmRecord:
    """A swarm of agents 1 to 9 whose counters were both 3, and fit the transcripts."""
    difference = {
        "canopy": {"feedback": {"query_events": 3, "expand_events": 3}},
        "canopy-service": {
            "feedback": {"query_events": 3, "expand_events": 3},
            "service": {"queries": 3, "expands": 3, "evidence_packs": 2},
        },
    }
    run = changes.get("run", 1)
    values = {
        "session": "s",
        "swarm": f"{mode}-{run}",
        "mode": mode,
        "run": run,
        "agents": tuple(range(1, 10)),
        "difference": difference.get(mode, {}),
        "index_seconds": 2.0 if mode != "baseline" else None,
        "counters": "agree" if mode in difference else None,
    }
    return SwarmRecord.model_validate(values | changes)


def make_experiment(modes: tuple[str, ...], **changes: Any) -> Experiment:
    values = {
        "session": "swarm-1",
        "created_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "benchmark": "swarm",
        "design": COMPARE,
        "repository": {
            "path": "/srv/shop",
            "kind": "git",
            "commit": "0123456789abcdef",
            "tree": "t",
            "files": 12,
            "bytes": 3456,
        },
        "modes": [{"name": mode, "source": "test", **MODES[mode]} for mode in modes],
        "suite": "exploration",
        "tasks": [
            {"id": "a", "title": "Login", "prompt": "Explain the login."},
            {"id": "b", "title": "Models", "prompt": "List the models."},
        ],
        "agent": {"name": "scout", "version": "1.0"},
        "agents": 1,
        "concurrency": 1,
        "runs": 1,
        "limits": {"max_turns": 15, "timeout": 900, "index_timeout": 600},
        "seed": 7,
        "order": [modes],
    }
    return Experiment.model_validate(values | changes)


def make_script_session(*trials: TrialRecord, **head: str) -> SessionData:
    """What canopy's script could have left of these trials; `head` is what it says of itself."""
    modes = tuple(dict.fromkeys(trial.mode for trial in trials))
    experiment = build_experiment("results", modes, head, trials=trials)
    return SessionData(experiment=experiment, trials=trials, swarms=())


def make_session(*records: TrialRecord | SwarmRecord, **changes: Any) -> SessionData:
    """A session of these records; the modes are those of the trials, in their order. Swarms are
    added where a mode has none."""
    trials = tuple(one for one in records if isinstance(one, TrialRecord))
    modes = changes.pop("modes", None) or tuple(dict.fromkeys(trial.mode for trial in trials))
    swarms = [one for one in records if isinstance(one, SwarmRecord)]
    for run, mode in dict.fromkeys((trial.run, trial.mode) for trial in trials):
        if not any(swarm.mode == mode and swarm.run == run for swarm in swarms):
            swarms.append(make_swarm(mode, run=run))
    planned = changes.pop("planned", {})
    overhead = tuple(
        Overhead.model_validate({"session": "s"} | one) for one in changes.pop("overhead", ())
    )
    warnings = changes.pop("warnings", ())
    changes.setdefault("runs", max((trial.run for trial in trials), default=1))
    return SessionData(
        experiment=make_experiment(modes, **changes),
        trials=trials,
        swarms=tuple(swarms),
        overhead=overhead,
        planned=planned,
        warnings=warnings,
    )
