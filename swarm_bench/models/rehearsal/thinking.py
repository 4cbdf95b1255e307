"""Lets `rules` think for a foreign agent program: with its tools, in its words."""

import json

from swarm_bench.core.ports import Message, ToolCall
from swarm_bench.models.rehearsal.api import Asked
from swarm_bench.models.rehearsal.schema_answer import smallest
from swarm_bench.models.rules.model import Rules

SHORT = "Rehearsal"
"""What a request that is not about the task is answered with: a title, a topic, a summary."""


def think(asked: Asked, made: dict[str, ToolCall]) -> Message:
    """The next message of the assistant, in the program's own terms.

    `made` is the memory of one trial: what `rules` wished for, in scout's terms, by the id under
    which the program was asked for it. Calls of this turn are added.
    """
    if asked.schema is not None:
        return Message(role="assistant", text=json.dumps(smallest(asked.schema)))
    if not asked.tools or not asked.messages:
        return Message(role="assistant", text=SHORT)
    wished = Rules().complete(asked.messages, asked.tools)
    calls = []
    for call in wished.calls:
        call = ToolCall(id=f"call_{len(made) + 1:05}", name=call.name, arguments=call.arguments)
        made[call.id] = call
        calls.append(call)
    return Message(role="assistant", text=wished.text, calls=tuple(calls))
