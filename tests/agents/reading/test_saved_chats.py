"""What conversations that Gemini CLI and Qwen Code save show of a tool's answer."""

from typing import Any

import pytest

from swarm_bench.agents.reading.saved_chats import answer_text

LINK = {"type": "resource_link", "uri": "src/oar.py", "name": "oar"}


def responded(response: object, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": "c", "name": "find", "response": response, **more}}


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([responded({"output": "src/oar.py"})], "src/oar.py"),
        ([responded({"output": "a", "more": "b"}), {"text": "c"}], "abc"),
        ([responded({"content": [{"type": "text", "text": "src/oar.py"}]})], "src/oar.py"),
        ([responded({"content": [LINK]})], "src/oar.py\noar"),
        ([responded({"content": [], "structuredContent": {"n": 1}})], '{"n": 1}'),
        ([responded({"result": {"content": [LINK], "isError": False}})], "src/oar.py\noar"),
        ([responded({"result": {"path": "src/oar.py"}})], '{"path": "src/oar.py"}'),
    ],
)
def test_all_that_the_model_gets_is_the_answer(parts: list[Any], text: str) -> None:
    assert answer_text(parts) == text


@pytest.mark.parametrize(
    "parts",
    [
        None,
        [],
        [responded({})],
        [responded(None)],
        [responded({"output": "a"}), {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}],
        [responded({"output": "a"}, parts=[{"inlineData": {"data": "QUJD"}}])],
        [responded({"content": [{"type": "image", "data": "QUJD"}]})],
    ],
)
def test_what_is_not_all_text_is_missing(parts: object) -> None:
    assert answer_text(parts) is None
