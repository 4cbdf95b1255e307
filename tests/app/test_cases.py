"""What `run` says of a benchmark that cannot be planned, and of a session without answers."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from swarm_bench.app.result import Ends, Result
from swarm_bench.app.setup.case_experiment import CaseRequest, case_experiment
from swarm_bench.core.errors import ConfigError, HarnessError, UsageError
from swarm_bench.core.session.cases import Case
from swarm_bench.core.status import Cause
from swarm_bench.testing.toy import Properties, Toy

YES = Case(id="yes", title="say yes")


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


@pytest.mark.parametrize(
    ("benchmark", "why"),
    [
        (Sets((), (YES,)), "has no arms"),
        (Sets(("a",), ()), "has no cases"),
        (Sets(("a", "a"), (YES,)), "two of its arms are called 'a'"),
        (Sets(("a",), (YES, YES)), "two of its cases are called 'yes'"),
        (Failing(), "RuntimeError: no prompts"),
    ],
    ids=["no arms", "no cases", "arms", "cases", "raises"],
)
def test_what_cannot_be_planned_is_no_defect_of_ours(benchmark: Toy, why: str) -> None:
    with pytest.raises(ConfigError, match=f"The benchmark 'toy' .*{why}.*; fix it"):
        case_experiment(benchmark, CaseRequest(benchmark="toy"), None)


def test_a_session_that_is_continued_stays_where_it_is() -> None:
    request = CaseRequest(benchmark="toy", resume=Path("old"), output=Path("new"))
    old, _ = case_experiment(Toy(), CaseRequest(benchmark="toy"), None)
    with pytest.raises(UsageError, match="--output cannot be given with --continue"):
        case_experiment(Toy(), request, old)


@pytest.mark.parametrize(
    ("causes", "unfinished", "why"),
    [
        ({}, 6, "Nothing could be measured"),
        ({Cause.FINISHED: 5}, 1, "could not be run to their own end: 1"),
        ({Cause.TIMEOUT: 6}, 0, "No trial gave an answer: 6 were stopped at the time limit"),
    ],
)
def test_a_session_without_answers_is_not_complete(
    causes: dict[Cause, int], unfinished: int, why: str
) -> None:
    result = Result(
        folder=Path("out"), to_continue="again", summary="", interrupted=False,
        ends=Ends(causes=Counter(causes), unfinished=unfinished),
    )  # fmt: skip
    with pytest.raises(HarnessError, match=why):
        result.check()
