"""The line of a trial stays as it is, to the byte: programs read it.

`tests/golden/records.jsonl` was written before its parts had types.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from swarm_bench.benchmarks.swarm.run_plan import plan
from swarm_bench.benchmarks.swarm.running.trial import read_rehearsal_figures
from swarm_bench.benchmarks.swarm.scorers import load_scorers
from swarm_bench.benchmarks.swarm.trial_records import make_record
from swarm_bench.core.outcome import Outcome, Reported, ToolAnswer, Usage
from swarm_bench.core.ports import ScoreContext
from swarm_bench.core.session.records import Measurements, Rehearsed, Spending, TrialRecord
from swarm_bench.core.session.scores import OwnScores
from swarm_bench.core.status import Cause
from swarm_bench.engine.scoring import ScoringResult, score
from swarm_bench.models.rehearsal.launch import Traffic
from tests.benchmarks.swarm.test_trial_records import SERVERS, experiment
from tests.builders.executions import execution

GOLDEN = Path(__file__).parents[1] / "golden" / "records.jsonl"
NOW = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
QUERY, LIST = "mcp__canopy__canopy_query", "mcp__canopy__list_files"
ANSWER = "# A\n\n# B\n\n# C\n\n- `src/a.py`\n- src/b.py:12\n- Node.js\n- d\n- e\n\n```\ncode\n```\n"
SEEN = Traffic(requests=3, faults=1, request_tokens=1000, tools={"Read": 100, QUERY: 30})
WHOLE = Outcome(
    cause=Cause.FINISHED,
    text=ANSWER,
    usage=Usage(input=10, cache_read=20, cache_create=30, output=40),
    all_in=Usage(input=11, cache_read=21, cache_create=31, output=41),
    turn_usage=(Usage(input=1, output=2), Usage(cache_read=3, cache_create=4)),
    turns=7,
    requests=5,
    duration_ms=1234.5,
    api_ms=900.0,
    cost=0.25,
    cost_unreliable=False,
    model="model-1",
    fixed_rules=False,
    program_version="2.0",
    tool_calls={"Read": 2, QUERY: 3, LIST: 1},
    tool_failures={"Read": 1},
    tool_unanswered={QUERY: 1},
    tool_seconds={"Read": 0.5},
    tool_result_tokens={"Read": 12, QUERY: 34},
    tool_answers=(ToolAnswer(tool=QUERY, question="q", answer="a", bytes=9),),
    unusable_tools=(LIST,),
    permission_denials={"Bash": 1},
    retries=1,
    compactions=0,
    subagents=2,
    servers={"canopy": "connected"},
    tools_offered=("Read", QUERY, LIST),
)
PRICED = replace(WHOLE, cost=0.0, cost_estimated=True, price_table="p 2026", token_counter="c")
FAILED = Outcome(cause=Cause.SERVICE_FAILED, detail="the service died")
CASES: dict[str, tuple[str | None, Outcome, Traffic | None]] = {
    "whole": ("model-0", WHOLE, None),
    "priced": (None, PRICED, None),
    "rehearsed": ("rehearsal", WHOLE, SEEN),
    "rehearsed without a cost": ("rehearsal", replace(WHOLE, cost=None), None),
    "failed": (None, FAILED, None),
}
CONTEXT = ScoreContext(text=ANSWER, workspace="/w", files=frozenset({"src/a.py", "src/c.py"}))


def line(name: str) -> str:
    model, outcome, seen = CASES[name]
    about = experiment(model)
    ran = outcome is not FAILED
    measured = Measurements(
        started_at=NOW if ran else None,
        ended_at=NOW,
        wall_seconds=2.5 if ran else None,
        exit_code=0 if ran else None,
        peak_memory_bytes=1000 if ran else None,
        cpu_seconds=0.75 if ran else None,
        attempt=2,
        turns_counted=True if ran else None,
    )
    scored = ScoringResult()
    if ran:
        chosen = load_scorers(("references", "structure"))
        scored = score(chosen, CONTEXT, secrets=(), record=TrialRecord)
    ended = execution(
        plan(about)[0].groups[0].trials[0],
        outcome,
        measured=measured,
        rehearsed=read_rehearsal_figures(seen, SERVERS),
        outside=("it read x",) if ran else (),
    )
    return make_record(about, ended, scored).model_dump_json()


@pytest.mark.parametrize(("number", "name"), [*enumerate(CASES)], ids=str)
def test_a_line_is_as_it_was(number: int, name: str) -> None:
    assert line(name) == GOLDEN.read_text(encoding="utf-8").split("\n")[number]


PARTS = (Reported, Measurements, Spending, Rehearsed, OwnScores)


def _text(hint: Any) -> str:
    return re.sub(r"typing\.Optional\[(\w+)\]", r"\1 | None", str(hint))


def members(hint: Any) -> set[str]:
    """The types that a value may have; what pydantic makes of a sequence is a list."""
    names = {"collections.abc.Mapping": "dict", "collections.abc.Sequence": "list"}
    texts = map(_text, get_args(hint) if get_origin(hint) in (UnionType, Union) else [hint])
    return {re.sub("|".join(names), lambda name: names[name[0]], text) for text in texts}


def typed() -> Iterator[tuple[str, Any]]:
    for part in PARTS:
        own = vars(part)["__annotations__"]
        yield from ((name, hint) for name, hint in get_type_hints(part).items() if name in own)


def test_no_two_parts_have_a_key_and_the_record_has_each_with_its_type() -> None:
    names = [name for name, _ in typed()]
    assert len(set(names)) == len(names)
    record = get_type_hints(TrialRecord)
    for name, hint in typed():
        assert members(hint) <= members(record[name]), name


def test_a_new_key_stands_behind_those_of_every_earlier_line() -> None:
    lines = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    keys = list(dict.fromkeys(key for line in lines for key in line))
    assert [key for key in TrialRecord.model_fields if key in keys] == keys
    assert not set(list(TrialRecord.model_fields)[: len(keys)]) - set(keys)


def test_parts_that_share_a_key_make_no_record() -> None:
    with pytest.raises(TypeError, match="multiple values"):
        TrialRecord(**vars(Rehearsed()), **vars(Rehearsed()))
