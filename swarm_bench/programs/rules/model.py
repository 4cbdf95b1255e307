"""`rules`: a fixed policy instead of a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from swarm_bench.core.ports import Message, ToolCall, ToolSpec
from swarm_bench.models.lexical.terms import Term, task_of, terms_of, used_name
from swarm_bench.programs.rules import (
    answer,
    baseline,
    canopy_search,
    foreign,
    observations,
    reading_plan,
)
from swarm_bench.programs.rules.canopy_search import Tools
from swarm_bench.programs.rules.foreign import ForeignTools
from swarm_bench.programs.rules.observations import Call, Observations, Step
from swarm_bench.programs.rules.reading_plan import BUDGET

OWN_TOOLS = frozenset({"Glob", "Grep", "Read"})


class Rules:
    """A policy that decides from the conversation alone: no state, no chance, no knowledge of the
    budget."""

    name = "rules"
    fixed_rules = True

    def __init__(self, instructions: str = "") -> None:
        self._instructions = instructions

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        if (word := answer.dictated(messages[0].text)) is not None:
            return Message(role="assistant", text=word)
        others = foreign.usable_tools(tools, messages[0].text)
        prompt = foreign.without_workspace(messages[0].text) if others else messages[0].text
        task = task_of(prompt, tools, [self._instructions])
        terms = terms_of(task)
        taken = list(observations.steps(messages))
        offered = canopy_search.tools_of(tools)
        observed = observations.observe(taken)
        if offered:
            canopy_search.add_expanded(observed, taken, offered)
        if others:
            foreign.add_shown(observed, taken, others)
        work = _Work(
            terms=terms,
            used=used_name(task, terms),
            taken=taken,
            observed=observed,
            canopy=offered,
            others=others,
        )
        if terms and not reading_plan.is_enough(terms, observed):
            names = {tool.name for tool in tools}
            for calls in work.next_calls(messages):
                if usable := [call for call in calls if call[0] in names]:
                    return Message(role="assistant", calls=_numbered(usable, len(messages)))
        return Message(role="assistant", text=answer.write(terms, observed, work.ranked()))


@dataclass(frozen=True, kw_only=True)
class _Work:
    """The task and the steps taken so far."""

    terms: Sequence[Term]
    used: str | None
    """The name whose uses are asked for."""
    taken: Sequence[Step]
    observed: Observations
    canopy: Tools | None
    others: ForeignTools | None

    def next_calls(self, messages: Sequence[Message]) -> Iterator[list[Call]]:
        """Yield what may be done next, in the order of preference: servers before the built-in
        tools, each within the same budget."""
        requests = [message for message in messages if message.calls]
        of_servers = len(list(takewhile(lambda each: not _surveys(each), requests)))
        if of_servers < BUDGET.requests:
            yield self._of_servers()
        if len(requests) - of_servers < BUDGET.requests:
            yield from self._own()

    def ranked(self) -> list[str]:
        """Rank every file that was named, best first."""
        order = [candidate.path for candidate in self._candidates()]
        if self.others:
            order = foreign.ranked(self.terms, self.taken, self.others) + order
        if self.canopy:
            handles = canopy_search.ranked_handles(self.taken, self.canopy)
            order = [handle.path for handle in handles] + order
        return list(dict.fromkeys(order))

    def _of_servers(self) -> list[Call]:
        """Ask the servers: canopy leads where it is offered; others are asked in its first turn."""
        calls: list[Call] = []
        if self.canopy:
            calls = canopy_search.next_calls(
                self.terms, self.taken, self.canopy, self.observed, self.used
            )
        if self.others and not (self.canopy and self.taken):
            calls = calls + foreign.next_calls(self.terms, self.taken, self.others, self.observed)
        return calls

    def _own(self) -> Iterator[list[Call]]:
        """Yield what the built-in tools do, step by step. Each is done once, whatever came of
        it."""
        searches = [step for step in self.taken if step.call.name in ("Glob", "Grep")]
        if not searches:
            yield baseline.survey(self.terms)
        if not any(baseline.is_locating(step, self.terms) for step in searches):
            yield baseline.locate(self.terms, self.taken)
        planned = reading_plan.plan(self._candidates(), self.terms, BUDGET)
        attempted = baseline.attempted(self.taken)
        if self.others:
            attempted |= foreign.attempted(self.taken, self.others)
        yield [
            foreign.read(wanted, self.taken, self.others) if self.others else baseline.read(wanted)
            for wanted in reading_plan.next_of(planned, attempted, self.observed, BUDGET)
        ]
        followed = any(baseline.is_following(step, self.terms) for step in searches)
        if not followed and reading_plan.has_room(planned, BUDGET):
            yield baseline.follow(self.terms, self.observed)

    def _candidates(self) -> list[reading_plan.Candidate]:
        return baseline.candidates(self.terms, self.taken)


def _surveys(message: Message) -> bool:
    """Tell whether the built-in tools have begun to search."""
    return any(call.name in ("Glob", "Grep") for call in message.calls)


def _numbered(calls: Sequence[Call], messages: int) -> tuple[ToolCall, ...]:
    turn = (messages + 1) // 2
    return tuple(
        ToolCall(id=f"toolu_{turn:03}{index:02}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(calls, start=1)
    )
