"""Answers with nothing in them: empty ones, errors in words, and the same for every question."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from swarm_bench.analysis.concerns import Concern
from swarm_bench.analysis.treated import Treated
from swarm_bench.analysis.wording import amount
from swarm_bench.core.answers import ToolAnswers
from swarm_bench.retrieval.treatment import is_of_server

_TELLING = 2
"""Answers of one tool of several, or different questions, from which on equal ones say something:
one search that finds nothing is a search."""


@dataclass(frozen=True, kw_only=True)
class _Pooled:
    """The answers of one tool in all trials of a mode that count."""

    answers: int
    empty: int
    errors: int
    hidden: int
    questions: int
    """Different ones, of answers with something in them."""
    different: int

    @property
    def all_empty(self) -> bool:
        return 0 < self.answers == self.empty

    @property
    def all_same(self) -> bool:
        """Whether all answers with something in them are equal, and were to different questions."""
        return self.different == 1 and self.questions >= _TELLING and not self.hidden


def hollow_answers(treated: Treated) -> Iterator[Concern]:
    """One for each way in which the mode's tools answered without saying anything."""
    tools = _pooled(treated)
    answers = sum(one.answers for one in tools.values())
    errors = sum(one.errors for one in tools.values())
    if errors:
        some = f"{errors} of {amount(answers, 'answer')}"
        verb = "is an error text" if errors == 1 else "are error texts"
        yield _concern(treated, f"{some} {verb}", "they look like successful calls")
    yield from _alike(treated, tools)


def _alike(treated: Treated, tools: Mapping[str, _Pooled]) -> Iterator[Concern]:
    """Said of all tools together, or of each tool that was asked more than once."""
    answered = [one for one in tools.values() if one.answers > one.errors]
    together = sum(one.answers for one in answered)
    if answered and all(one.all_empty for one in answered):
        what = f"all results were empty ({amount(together, 'answer')})"
        yield _concern(treated, what, "the tool gave its agents nothing")
        return
    for tool, one in tools.items():
        if one.all_empty and one.answers >= _TELLING:
            what = f"all results of {tool} were empty ({amount(one.answers, 'answer')})"
            yield _concern(treated, what, "it gave its agents nothing")
        elif one.all_same:
            some = f"{amount(one.answers, 'answer')} to different questions"
            what = f"every call of {tool} got the same answer ({some})"
            if one.empty or one.errors:
                what = f"all answers of {tool} with something in them were the same ({some})"
            yield _concern(treated, what, "it did not answer what it was asked")


def _concern(treated: Treated, what: str, meaning: str) -> Concern:
    return Concern(qualification=what, warning=f"{treated.mode}: {what}: {meaning}.")


def _pooled(treated: Treated) -> dict[str, _Pooled]:
    """By tool of the mode's servers, without those that do not retrieve: a status may well be the
    same in every call."""
    selection = treated.selection
    servers, experiment = selection.servers(treated.mode), selection.data.experiment
    purposes = experiment.tool_purposes.get(treated.mode, {}) if experiment else {}
    found: dict[str, list[ToolAnswers]] = {}
    for trial in treated.counted:
        for tool, answers in (trial.tool_answers or {}).items():
            if is_of_server(tool, servers) and purposes.get(tool) != "other":
                found.setdefault(tool, []).append(answers)
    return {tool: _sum(each) for tool, each in sorted(found.items())}


def _sum(each: Iterable[ToolAnswers]) -> _Pooled:
    given = list(each)
    return _Pooled(
        answers=sum(one.answers for one in given),
        empty=sum(one.empty for one in given),
        errors=sum(one.errors for one in given),
        hidden=sum(one.hidden for one in given),
        questions=len({digest for one in given for digest in one.questions}),
        different=len({digest for one in given for digest in one.different}),
    )
