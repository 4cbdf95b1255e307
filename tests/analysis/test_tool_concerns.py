"""Whatever a warning says of a mode's treatment, the headline says too."""

from collections.abc import Callable
from typing import Any

import pytest

from swarm_bench.analysis import tool_concerns
from swarm_bench.analysis.concerns import warned
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.summary import summarise
from swarm_bench.core.records import SessionData
from tests.analysis.conftest import make_session, make_swarm, make_trial

STILL = {"feedback": {"query_events": 0, "expand_events": 0}}
DEAD: dict[str, Any] = {"tool_calls": {"Grep": 3}, "tool_failures": {"Grep": 3}}


def canopy(*records: Any, **changes: Any) -> SessionData:
    return make_session(make_trial(), make_trial("canopy", **changes), *records)


CASES: dict[str, Callable[[], SessionData]] = {
    "contaminated": lambda: canopy(make_trial("canopy", agent=2, retrieval="contaminated")),
    "contradicted": lambda: canopy(
        make_swarm("canopy", counters="contradict", counters_why=["So."])
    ),
    "not_exercised": lambda: canopy(make_swarm("canopy", difference=STILL), retrieval="unknown"),
    "labels": lambda: canopy(retrieval="unused"),
    "unusable": lambda: canopy(retrieval="unused", unusable_tools=["a"]),
    "broken": lambda: canopy(**DEAD),
    "unheard": lambda: canopy(make_swarm("canopy", counters=None)),
    "counted_twice": lambda: canopy(make_swarm("canopy"), attempt=2),
}


def test_each_kind_has_a_case() -> None:
    assert set(CASES) == {kind.__name__ for kind in tool_concerns.KINDS}


@pytest.mark.parametrize("name", CASES)
def test_a_warning_about_a_mode_qualifies_the_headline(name: str) -> None:
    data = CASES[name]()
    kind = getattr(tool_concerns, name)
    warnings = list(warned(Selection(data), kind))
    assert warnings
    found = summarise(data)
    assert set(warnings) <= set(found.warnings)
    (standing,) = [one for one in found.headline.standings if one.mode == "canopy"]
    assert standing.no_verdict or standing.qualifications
    assert found.headline.qualified
