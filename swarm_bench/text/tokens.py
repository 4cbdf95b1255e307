"""Counts tokens as a chat API with a prompt cache bills them.

Every request sends the tools and all messages again. What the request before had already sent
is read from the cache, the rest is written to it, and what the model produced is output. So
`input` (neither read nor written) is 0, as it nearly is with a provider's own cache.
Two things differ from a provider: no minimum length for caching, and no other requests
that push a prompt out of the cache.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message, ToolSpec

COUNTER = "utf8-bytes/4"
"""Bytes of UTF-8 divided by 4, rounded up: a tokenizer needs tables that have to be downloaded."""


def count(text: str) -> int:
    """Count the tokens of a text."""
    return count_for_bytes(len(text.encode("utf-8", "replace")))


def count_for_bytes(length: int) -> int:
    """Count the tokens of a text of this many bytes."""
    return -(-length // 4)


def build_content(message: Message) -> list[dict[str, Any]]:
    """Build a message's content blocks as Anthropic's messages API has them."""
    blocks: list[dict[str, Any]] = [
        {
            "tool_use_id": result.id,
            "type": "tool_result",
            "content": result.text,
            "is_error": result.is_error,
        }
        for result in message.results
    ]
    if message.text or not (message.calls or message.results):
        blocks.append({"type": "text", "text": message.text})
    for call in message.calls:
        arguments = dict(call.arguments)
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return blocks


class Meter:
    """The sum of the requests of one conversation."""

    def __init__(self) -> None:
        self.total = Usage(input=0, cache_read=0, cache_create=0, output=0)
        self._sent = 0
        self._messages = 0

    def request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], reply: Message
    ) -> Usage:
        """Count the usage of one request. `messages` begins with those of the request before."""
        new = sum(_message(message) for message in messages[self._messages :])
        if self._messages == 0:
            new += sum(count_tool(tool) for tool in tools)
        usage = Usage(
            input=0, cache_read=self._sent, cache_create=new, output=count_produced(reply)
        )
        self._sent += new
        self._messages = len(messages)
        self.total = Usage.total([self.total, usage])
        return usage


def _message(message: Message) -> int:
    return count(_json({"role": message.role, "content": build_content(message)}))


def count_tool(tool: ToolSpec) -> int:
    """Count the tokens of a tool's description, as it is sent with every request."""
    schema = dict(tool.schema)
    return count(
        _json({"name": tool.name, "description": tool.description, "input_schema": schema})
    )


def count_produced(reply: Message) -> int:
    """Count the tokens of what a model wrote."""
    calls = sum(
        count(_json({"name": call.name, "input": dict(call.arguments)})) for call in reply.calls
    )
    return count(reply.text) + calls


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
