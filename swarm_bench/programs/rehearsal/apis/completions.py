"""The Completions API, as OpenAI and many others speak it: a text that the model continues."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from swarm_bench.core.ports import Message
from swarm_bench.models.rehearsal.faults import ErrorKind, Stop
from swarm_bench.programs.rehearsal.apis import wire
from swarm_bench.programs.rehearsal.apis.api import AgentRequest, Reply
from swarm_bench.programs.rehearsal.apis.wire import error_body

_FINISH: Mapping[Stop, str] = {"end": "stop", "refusal": "content_filter", "length": "length"}


class _Request(BaseModel):
    model: str
    prompt: str
    stream: bool | None = None


class Completions:
    """Completions."""

    statuses: Mapping[ErrorKind, int] = {}

    def read(self, body: Mapping[str, Any]) -> AgentRequest:
        request = wire.parse(_Request, body)
        return AgentRequest(
            model=request.model,
            stream=bool(request.stream),
            messages=(Message(role="user", text=request.prompt),),
            tools=(),
            parts=(wire.json_text(request.prompt),),
        )

    def answer(self, reply: Reply) -> dict[str, Any]:
        prompt, output = wire.prompt_tokens(reply.usage), wire.output_tokens(reply.usage)
        return {
            **_head(reply),
            "choices": [_choice(reply.message.text, _FINISH[reply.stop])],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": output,
                "total_tokens": prompt + output,
                "prompt_tokens_details": {"cached_tokens": reply.usage.cache_read},
            },
        }

    def events(self, reply: Reply) -> Iterator[str]:
        for piece in wire.pieces(reply.message.text):
            yield wire.event({**_head(reply), "choices": [_choice(piece, None)]})
        yield wire.event({**_head(reply), "choices": [_choice("", _FINISH[reply.stop])]})
        yield "data: [DONE]\n\n"

    def error(
        self, status: int, kind: ErrorKind, sentence: str, retry_seconds: int | None = None
    ) -> dict[str, Any]:
        return error_body(kind, sentence, "prompt")


def _head(reply: Reply) -> dict[str, Any]:
    return {
        "id": f"cmpl-{reply.id}",
        "object": "text_completion",
        "created": 0,
        "model": reply.model,
    }


def _choice(text: str, finish: str | None) -> dict[str, Any]:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
