"""`rules`: a fixed policy instead of a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from swarm_bench.core.ports import Message, ToolCall, ToolSpec
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
from swarm_bench.text.terms import Term, task_of, terms_of, used_name

OWN_TOOLS = frozenset({"Glob", "Grep", "Read"})


class Rules:
    """A policy that decides from the conversation alone: no state, no chance, no knowledge of the
    budget."""

    name = "rules"
    fixed_rules = True

    def __init__(self, instructions: str = "") -> None:
        self._instructions = instructions

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        if (word := answer.find_dictated(messages[0].text)) is not None:
            return Message(role="assistant", text=word)
        foreign_tools = foreign.find_usable_tools(tools, messages[0].text)
        prompt = foreign.drop_workspace(messages[0].text) if foreign_tools else messages[0].text
        task = task_of(prompt, tools, [self._instructions])
        terms = terms_of(task)
        past_steps = list(observations.read_steps(messages))
        canopy_tools = canopy_search.find_tools(tools)
        observed = observations.observe(past_steps)
        if canopy_tools:
            canopy_search.observe_expanded(observed, past_steps, canopy_tools)
        if foreign_tools:
            foreign.observe_shown(observed, past_steps, foreign_tools)
        work = _Work(
            terms=terms,
            used=used_name(task, terms),
            past_steps=past_steps,
            observed=observed,
            canopy=canopy_tools,
            foreign_tools=foreign_tools,
        )
        if terms and not reading_plan.is_enough(terms, observed):
            names = {tool.name for tool in tools}
            for calls in work.next_calls(messages):
                if usable := [call for call in calls if call[0] in names]:
                    return Message(role="assistant", calls=_number_calls(usable, len(messages)))
        return Message(role="assistant", text=answer.write(terms, observed, work.rank_files()))


@dataclass(frozen=True, kw_only=True)
class _Work:
    """The task and the steps taken so far."""

    terms: Sequence[Term]
    used: str | None
    """The name whose uses are asked for."""
    past_steps: Sequence[Step]
    observed: Observations
    canopy: Tools | None
    foreign_tools: ForeignTools | None

    def next_calls(self, messages: Sequence[Message]) -> Iterator[list[Call]]:
        """Yield what may be done next, in the order of preference: servers before the built-in
        tools, each within the same budget."""
        requests = [message for message in messages if message.calls]
        server_requests = len(list(takewhile(lambda message: not _surveys(message), requests)))
        if server_requests < BUDGET.requests:
            yield self._ask_servers()
        if len(requests) - server_requests < BUDGET.requests:
            yield from self._use_own_tools()

    def rank_files(self) -> list[str]:
        """Rank every file that was named, best first."""
        order = [candidate.path for candidate in self._list_candidates()]
        if self.foreign_tools:
            order = foreign.rank_files(self.terms, self.past_steps, self.foreign_tools) + order
        if self.canopy:
            handles = canopy_search.rank_handles(self.past_steps, self.canopy)
            order = [handle.path for handle in handles] + order
        return list(dict.fromkeys(order))

    def _ask_servers(self) -> list[Call]:
        """Ask the servers: canopy leads where it is offered; others are asked in its first turn."""
        calls: list[Call] = []
        if self.canopy:
            calls = canopy_search.next_calls(
                self.terms, self.past_steps, self.canopy, self.observed, self.used
            )
        if self.foreign_tools and not (self.canopy and self.past_steps):
            calls = calls + foreign.next_calls(
                self.terms, self.past_steps, self.foreign_tools, self.observed
            )
        return calls

    def _use_own_tools(self) -> Iterator[list[Call]]:
        """Yield what the built-in tools do, step by step. Each is done once, whatever came of
        it."""
        searches = [step for step in self.past_steps if step.call.name in ("Glob", "Grep")]
        if not searches:
            yield baseline.survey(self.terms)
        if not any(baseline.is_locating(step, self.terms) for step in searches):
            yield baseline.locate(self.terms, self.past_steps)
        planned = reading_plan.plan(self._list_candidates(), self.terms, BUDGET)
        attempted = baseline.find_attempted(self.past_steps)
        if self.foreign_tools:
            attempted |= foreign.find_attempted(self.past_steps, self.foreign_tools)
        yield [
            foreign.read(reading, self.past_steps, self.foreign_tools)
            if self.foreign_tools
            else baseline.read(reading)
            for reading in reading_plan.choose_next(planned, attempted, self.observed, BUDGET)
        ]
        followed = any(baseline.is_following(step, self.terms) for step in searches)
        if not followed and reading_plan.has_room(planned, BUDGET):
            yield baseline.follow(self.terms, self.observed)

    def _list_candidates(self) -> list[reading_plan.Candidate]:
        return baseline.list_candidates(self.terms, self.past_steps)


def _surveys(message: Message) -> bool:
    """Tell whether the built-in tools have begun to search."""
    return any(call.name in ("Glob", "Grep") for call in message.calls)


def _number_calls(calls: Sequence[Call], messages: int) -> tuple[ToolCall, ...]:
    turn = (messages + 1) // 2
    return tuple(
        ToolCall(id=f"toolu_{turn:03}{index:02}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(calls, start=1)
    )
