"""`rules`: a fixed policy in the place of a model."""

from collections.abc import Sequence
from itertools import dropwhile

from swarm_bench.core.ports import Message, ToolCall, ToolSpec
from swarm_bench.models.rules import answer, baseline, canopy, evidence, foreign
from swarm_bench.models.rules.baseline import Call
from swarm_bench.models.rules.canopy import Tools
from swarm_bench.models.rules.evidence import Step
from swarm_bench.models.rules.foreign import Others
from swarm_bench.models.rules.terms import Term, task_of, terms_of

OWN_TOOLS = frozenset({"Glob", "Grep", "Read"})


class Rules:
    """Decides from the conversation alone: no state, no chance, no knowledge of the budget."""

    name = "rules"
    fixed_rules = True

    def __init__(self, instructions: str = "") -> None:
        self._instructions = instructions

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        if (word := answer.dictated(messages[0].text)) is not None:
            return Message(role="assistant", text=word)
        others = foreign.others_of(tools, messages[0].text)
        prompt = foreign.without_told(messages[0].text) if others else messages[0].text
        terms = terms_of(task_of(prompt, tools, [self._instructions]))
        taken = list(evidence.steps(messages))
        offered = canopy.tools_of(tools)
        calls = _asked_of_servers(terms, taken, offered, others)
        seen = evidence.seen(taken)
        if offered:
            canopy.add_expanded(seen, taken, offered)
        if others:
            foreign.add_found(seen, taken, others)
        if not calls and not (seen.read and _is_enough(taken, offered, others)):
            calls = _next_own(terms, messages)
            calls = (others and foreign.through_reader(calls, taken, others)) or calls
        calls = [call for call in calls if call[0] in {tool.name for tool in tools}]
        if calls:
            return Message(role="assistant", calls=_numbered(calls, len(messages)))
        order = baseline.ranked(terms, taken)
        if others:
            order = list(dict.fromkeys([*foreign.ranked(terms, taken, others), *order]))
        if offered:
            handles = canopy.handles_of(taken, offered).values()
            order = list(dict.fromkeys([handle.path for handle in handles] + order))
        return Message(role="assistant", text=answer.write(terms, seen, order))


def _asked_of_servers(
    terms: Sequence[Term], taken: Sequence[Step], offered: Tools | None, others: Others | None
) -> list[Call]:
    """Canopy leads where it is offered; other servers are asked in its first turn."""
    calls = canopy.next_calls(terms, taken, offered) if offered else []
    if others and (not offered or not taken):
        calls = calls + foreign.next_calls(terms, taken, others)
    return calls


def _is_enough(taken: Sequence[Step], offered: Tools | None, others: Others | None) -> bool:
    """Whether what was read came by way of a server, so that it is time to answer."""
    if others and foreign.is_read(taken, others):
        return True
    return offered is not None and not _own(taken)


def _next_own(terms: Sequence[Term], messages: Sequence[Message]) -> list[Call]:
    """The next turn with the built-in tools; empty when it is time to answer."""
    taken = _own(list(evidence.steps(messages)))
    made = [message for message in messages if _own_calls(message)]
    # Reading comes first where a server has named the files.
    turns = len(list(dropwhile(_only_reads, made)))
    match turns:
        case 0:
            return baseline.survey(terms) if terms else []
        case 1:
            return baseline.locate(terms, taken)
        case 2:
            return baseline.read(terms, taken)
        case 3:
            return baseline.follow(terms, taken)
        case 4:
            return baseline.read_followed(taken)
    return []


def _only_reads(message: Message) -> bool:
    return {call.name for call in message.calls} == {"Read"}


def _own_calls(message: Message) -> bool:
    return any(call.name in OWN_TOOLS for call in message.calls)


def _own(taken: Sequence[Step]) -> list[Step]:
    return [step for step in taken if step.call.name in OWN_TOOLS]


def _numbered(calls: Sequence[Call], messages: int) -> tuple[ToolCall, ...]:
    turn = (messages + 1) // 2
    return tuple(
        ToolCall(id=f"toolu_{turn:03}{index:02}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(calls, start=1)
    )
