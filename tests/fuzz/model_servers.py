"""What servers of models say: answers in all forms, and refusals."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from swarm_bench.core.roles.language_model import Completion
from swarm_bench.core.status import CONSEQUENCES
from swarm_bench.models.servers.anthropic import message_in
from swarm_bench.models.servers.compatible import completion_in
from swarm_bench.models.servers.explanations import refusal_of
from swarm_bench.models.servers.forms import Body, NoAnswer, body_of
from swarm_bench.models.servers.llamacpp import read_infill
from swarm_bench.models.servers.ollama import answer_in
from tests.builders.chat import says

READERS: tuple[Callable[[Body], Completion], ...] = (completion_in, message_in, answer_in)
_STATES = (None, 200, 307, 400, 402, 403, 413, 422, 429, 500, 522)
_DELTA = {"choices": [{"delta": {"content": "A"}, "finish_reason": "stop"}]}
_EVENTS = (
    {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 7}}},
    {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "A"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
)
_BODIES = (
    {"error": {"message": "maximum context length is 8", "code": "x", "metadata": {"raw": "{}"}}},
    [{"error": {"status": "RESOURCE_EXHAUSTED", "details": [{"retryDelay": "3s"}]}}],
    {"detail": [{"loc": ["body", "messages"], "msg": "no", "type": "value_error"}]},
    {"type": "message", "content": [{"type": "text", "text": "A"}], "stop_reason": "end_turn"},
    {"message": {"content": "A", "thinking": "B"}, "done": True, "done_reason": "stop"},
    {"choices": [{"message": {"content": [{"type": "text", "text": "A"}]}}], "usage": {}},
    {"choices": [{"text": "A", "native_finish_reason": "network_error"}]},
    {"content": "A", "stop_type": "eos", "tokens_evaluated": 7, "tokens_predicted": 3},
)


def answers() -> list[bytes]:
    stream = f": x\r\ndata: {json.dumps(_DELTA)}\n\nevent: error\ndata: [DONE]".encode()
    events = "".join(f"data: {json.dumps(event)}\n\n" for event in _EVENTS).encode()
    lines = b'{"response": "A", "done": false}\n{"response": "", "done": true}'
    page = b"<html><title>522: a &amp; b</title>"
    return [says("A")[2], stream, events, lines, page, *(json.dumps(it).encode() for it in _BODIES)]


def answer(data: bytes, _folder: Path) -> None:
    """Every body is a completion with whole figures, no answer for a reason, or none at all."""
    for kind in ("", "text/event-stream"):
        for read in READERS:
            with suppress(ValueError, NoAnswer):
                completion = read(body_of(data, kind))
                assert isinstance(completion.text, str)
                counts = vars(completion.usage).values()
                assert all(count is None or count >= 0 for count in counts)
        with suppress(ValueError, NoAnswer):
            assert isinstance(read_infill(body_of(data, kind)).content, str)
    for state in _STATES:
        refusal = refusal_of(data, state, {"content-type": "text/plain; charset=latin-1"})
        assert refusal.cause in CONSEQUENCES
        assert refusal.text.isprintable() or "\n" not in refusal.text
