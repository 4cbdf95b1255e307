"""What the record says beyond what the agent said."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from swarm_bench.agents.claude.adapter import Claude
from swarm_bench.agents.scripted import Scripted
from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.benchmarks.swarm.running.agent_process import read_outcome
from swarm_bench.benchmarks.swarm.running.trial import read_rehearsal_figures
from swarm_bench.benchmarks.swarm.trial_records import drop_zeros, make_record, sum_up
from swarm_bench.core.outcome import AgentExit, Outcome, Usage
from swarm_bench.core.session.designs import COMPARE
from swarm_bench.core.session.experiment import Experiment, Limits, Mode, Program, Repository, Task
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.status import Cause
from swarm_bench.engine.scoring import ScoringResult
from swarm_bench.models.rehearsal.launch import Traffic
from swarm_bench.runtime.sink import clean_value
from tests.builders.executions import execution

SERVERS = {"canopy": {"command": "canopy-mcp"}}


def experiment(model: str | None) -> Experiment:
    return Experiment(
        session="s",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        benchmark="swarm",
        design=COMPARE,
        repository=Repository(path="r", kind="folder", tree="t", files=1, bytes=1),
        modes=(Mode(name="canopy", source="canopy.json", servers=SERVERS),),
        suite="one",
        tasks=(Task(id="a", title="A", prompt="What is here?"),),
        agent=Program(name="claude"),
        model=model,
        agents=1,
        concurrency=1,
        runs=1,
        limits=Limits(max_turns=5, timeout=1, index_timeout=1),
        seed=0,
        order=(("canopy",),),
    )


def record(model: str | None, outcome: Outcome, seen: Traffic | None = None) -> TrialRecord:
    about = experiment(model)
    trial = plan(about)[0].groups[0].trials[0]
    ended = execution(trial, outcome, rehearsed=read_rehearsal_figures(seen, SERVERS))
    return make_record(about, ended, ScoringResult())


def test_every_record_of_a_rehearsal_is_marked_even_of_a_trial_that_never_began() -> None:
    lost = record("rehearsal", Outcome(cause=Cause.SERVICE_FAILED))
    assert (lost.rehearsal, lost.model, lost.cost_estimated) == (True, "rehearsal", None)
    assert lost.token_counter is not None
    assert lost.rehearsal_requests is None


def test_a_rehearsal_is_not_called_by_the_model_that_the_program_believes_to_ask() -> None:
    outcome = Outcome(cause=Cause.FINISHED, model="claude-opus-5-5", cost=1.0)
    assert record("rehearsal", outcome).model == "rehearsal"
    assert record("rehearsal", outcome).cost_estimated is True
    assert "claude-opus-5-5" in (record("rehearsal", outcome).price_table or "")
    real = record(None, outcome)
    assert (real.rehearsal, real.model, real.cost_estimated) == (None, "claude-opus-5-5", None)


def test_what_the_server_saw_is_sorted_by_whose_tools_it_were() -> None:
    tools = {"Read": 100, "mcp__canopy__canopy_query": 30, "mcp__other__find": 5}
    seen = Traffic(requests=3, faults=1, request_tokens=1000, tools=tools)
    found = record("rehearsal", Outcome(cause=Cause.FINISHED), seen)
    assert (found.rehearsal_tool_tokens, found.rehearsal_mcp_tokens) == (135, 30)
    assert (found.rehearsal_requests, found.rehearsal_faults) == (3, 1)
    assert found.rehearsal_tools == sorted(tools)


@pytest.mark.parametrize(
    ("turns", "requests", "compacted"), [(20, 4, 0), (5, None, 1), (4, 5, 1), (None, None, None)]
)
def test_the_budget_is_compared_with_requests(
    turns: int | None, requests: int | None, compacted: int | None
) -> None:
    found = record(None, Outcome(cause=Cause.FINISHED, turns=turns, requests=requests))
    assert found.requests == (turns if requests is None else requests)
    assert found.compacted == compacted


def test_turns_that_are_no_requests_are_not_taken_for_them() -> None:
    outcome = Outcome(cause=Cause.FINISHED, turns=20, turns_are_requests=False)
    found = record(None, outcome)
    assert (found.num_turns, found.requests, found.compacted) == (20, None, 1)


def test_figures_per_request_and_all_in_are_stored() -> None:
    usage = Usage(input=1, cache_read=2, cache_create=3, output=None)
    whole = Usage(input=1, cache_read=2, cache_create=3, output=4)
    found = record(None, Outcome(cause=Cause.FINISHED, turn_usage=(usage,), all_in=whole))
    assert found.turn_usage == [{"input": 1, "cache_read": 2, "cache_create": 3, "output": None}]
    assert found.all_in_tokens == 10
    assert found.effective_tokens is None


@pytest.mark.parametrize(
    ("usage", "cost", "kept"),
    [
        (Usage(input=0, cache_read=0, cache_create=0, output=0), 0.0, (None, None, None)),
        (Usage(input=0, cache_read=0, cache_create=0, output=0), 0.2, (None, None, 0.2)),
        (Usage(), 0.0, (None, None, None)),
        (Usage(input=5, cache_read=0, cache_create=0, output=1), 0.0, (6, 0, 0.0)),
    ],
)
def test_an_answer_of_no_tokens_has_no_figures_of_them(
    usage: Usage, cost: float, kept: tuple[int | None, int | None, float | None]
) -> None:
    outcome = drop_zeros(Outcome(cause=Cause.FINISHED, text="x", usage=usage, cost=cost))
    figures = sum_up(outcome, 15)
    assert (figures.total_tokens, figures.cache_read, outcome.cost) == kept


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "gone", "endless"])
def test_output_that_an_agent_replaced_is_unreadable_and_not_the_adapters_defect(
    tmp_path: Path, name: str, kind: str
) -> None:
    for stream in ("stdout", "stderr"):
        (tmp_path / stream).write_bytes(b"")
    (planted := tmp_path / name).unlink()
    match kind:
        case "pipe":
            os.mkfifo(planted)
        case "device":
            planted.symlink_to("/dev/zero")
        case "folder":
            planted.mkdir()
        case "endless":
            with planted.open("wb") as sparse:
                sparse.truncate(2**40)
    exit = AgentExit(
        returncode=0, stopped=None, stdout=tmp_path / "stdout", stderr=tmp_path / "stderr"
    )
    outcome = read_outcome(Claude(), exit)
    wanted = Cause.NO_OUTPUT if (kind, name) == ("endless", "stderr") else Cause.UNREADABLE_OUTPUT
    assert outcome.cause is wanted


KEY = "sk-escaped-0123456789"
SPELT = "".join(f"\\u{ord(one):04x}" if at % 2 else one for at, one in enumerate(KEY))
"""As JSON may have it: no form of the key that its bytes are searched for."""


def test_a_key_that_json_spells_in_its_own_way_is_in_no_outcome(tmp_path: Path) -> None:
    tools = [f"mcp__x__a{SPELT}", f"mcp__x__b{SPELT}"]
    calls = [{"type": "tool_use", "id": f"c{at}", "name": one} for at, one in enumerate(tools * 2)]
    events = [
        {"type": "system", "subtype": "init", "tools": tools, "model": SPELT}
        | {"mcp_servers": [{"name": SPELT, "status": SPELT}]},
        {"type": "assistant", "message": {"id": "m", "model": SPELT, "content": calls}},
        {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1}
        | {"result": f"{SPELT} " + "word " * 200_000, "total_cost_usd": 1.0, "session_id": "s"},
    ]
    lines = "\n".join(json.dumps(one).replace(r"\\u", r"\u") for one in events)
    (tmp_path / "out").write_text(f"{lines}\n")
    (tmp_path / "err").write_text("")
    exit = AgentExit(
        returncode=0,
        stopped=None,
        stdout=tmp_path / "out",
        stderr=tmp_path / "err",
        secrets=(KEY, *(f"another-{number:04}" for number in range(200))),
    )
    assert KEY in repr(Claude().outcome(exit))
    began = time.process_time()
    found = read_outcome(Claude(), exit)
    assert time.process_time() - began < 2
    assert KEY not in repr(found)
    assert (found.text or "").startswith("(not stored) word")
    assert found.tool_calls == {"mcp__x__a(not stored)": 2, "mcp__x__b(not stored)": 2}
    assert found.servers == {"(not stored)": "(not stored)"}
    assert found.cause is Cause.FINISHED


def test_figures_of_names_that_become_the_same_are_added() -> None:
    names = {"a-key-1": 1, "a-key-2": 2, "b": 3}
    assert clean_value(names, ("a-key-1", "a-key-2")) == {"(not stored)": 3, "b": 3}


def test_a_key_that_is_spelt_like_the_name_of_a_figure_takes_no_figure() -> None:
    outcome = Outcome(cause=Cause.FINISHED, text="the duration_ms", duration_ms=7, cost=0.5)
    clean = clean_value(outcome, ("duration_ms",))
    assert (clean.text, clean.duration_ms, clean.cost) == ("the (not stored)", 7, 0.5)


@pytest.mark.parametrize(
    "figures",
    [
        {"cost": -1.0},
        {"cost": float("nan")},
        {"turns": -3},
        {"duration_ms": float("inf")},
        {"usage": Usage(input=5, output=-5)},
    ],
)
def test_figures_that_nobody_can_have_are_a_defect_of_the_adapter(
    tmp_path: Path, figures: dict[str, Any]
) -> None:
    class Odd(Scripted):
        def outcome(self, exit: AgentExit) -> Outcome:
            return Outcome(cause=Cause.FINISHED, text="cheap", **figures)

    for name in ("out", "err"):
        (tmp_path / name).touch()
    exit = AgentExit(
        returncode=0, stopped=None, stdout=tmp_path / "out", stderr=tmp_path / "err",
        home=tmp_path, secrets=(), servers=(),
    )  # fmt: skip
    with pytest.raises(ValueError, match="the adapter gave"):
        read_outcome(Odd(), exit)
