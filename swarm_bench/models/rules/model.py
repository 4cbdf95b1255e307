"""`rules`: a fixed policy in the place of a model."""

from collections.abc import Sequence

from swarm_bench.core.ports import Message, ToolCall, ToolSpec
from swarm_bench.models.rules import answer, baseline, canopy, evidence
from swarm_bench.models.rules.baseline import Call
from swarm_bench.models.rules.evidence import Step
from swarm_bench.models.rules.terms import Term, task_of, terms_of

OWN_TOOLS = frozenset({"Glob", "Grep", "Read"})


class Rules:
    """Decides from the conversation alone: no state, no chance, no knowledge of the budget."""

    name = "rules"

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Message:
        task = task_of(messages[0].text, tools)
        terms = terms_of(task)
        taken = list(evidence.steps(messages))
        offered = canopy.tools_of(tools)
        calls = canopy.next_calls(terms, taken, offered) if offered else []
        seen = evidence.seen(taken)
        if offered:
            canopy.add_expanded(seen, taken, offered)
        if not calls and not (offered and seen.read and not _own(taken)):
            calls = _next_own(terms, messages)
        calls = [call for call in calls if call[0] in {tool.name for tool in tools}]
        if calls:
            return Message(role="assistant", calls=_numbered(calls, len(messages)))
        order = baseline.ranked(terms, taken)
        if offered:
            handles = canopy.handles_of(taken, offered).values()
            order = list(dict.fromkeys([handle.path for handle in handles] + order))
        return Message(role="assistant", text=answer.write(terms, seen, order))


def _next_own(terms: Sequence[Term], messages: Sequence[Message]) -> list[Call]:
    """The next turn with the built-in tools; empty when it is time to answer."""
    taken = _own(list(evidence.steps(messages)))
    turns = sum(1 for message in messages if _own_calls(message))
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
