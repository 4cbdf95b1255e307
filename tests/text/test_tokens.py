"""Tokens as a chat API with a prompt cache bills them."""

from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Message, ToolCall, ToolResult, ToolSpec
from swarm_bench.text.tokens import Meter, build_content, count

PROMPT = Message(role="user", text="Find the login.")
CALL = ToolCall(id="t1", name="Grep", arguments={"pattern": "login"})
ASKS = Message(role="assistant", calls=(CALL,))
GETS = Message(role="user", results=(ToolResult(id="t1", text="auth.py:1"),))
ANSWERS = Message(role="assistant", text="It is in `auth.py:1`.")
TOOL = ToolSpec(name="Grep", description="Searches.", schema={"type": "object"})


def test_a_token_is_four_bytes() -> None:
    assert [count(text) for text in ("", "a", "abcd", "abcde", "é" * 4)] == [0, 1, 1, 2, 2]


def test_what_is_sent_again_is_read_from_the_cache() -> None:
    meter = Meter()
    first = meter.request([PROMPT], [TOOL], ASKS)
    second = meter.request([PROMPT, ASKS, GETS], [TOOL], ANSWERS)
    assert first.cache_read == 0
    assert first.input == second.input == 0
    assert second.cache_read == first.cache_create
    alone = Meter().request([PROMPT, ASKS, GETS], [TOOL], ANSWERS)
    assert alone.cache_create == (first.cache_create or 0) + (second.cache_create or 0)
    assert second.output == count(ANSWERS.text)
    assert first.output == count('{"name":"Grep","input":{"pattern":"login"}}')
    assert meter.total == Usage(
        input=0,
        cache_read=second.cache_read,
        cache_create=(first.cache_create or 0) + (second.cache_create or 0),
        output=(first.output or 0) + (second.output or 0),
    )


def test_tools_are_part_of_the_prompt() -> None:
    with_tool = Meter().request([PROMPT], [TOOL], ANSWERS).cache_create or 0
    without = Meter().request([PROMPT], [], ANSWERS).cache_create or 0
    schema = '{"name":"Grep","description":"Searches.","input_schema":{"type":"object"}}'
    assert with_tool - without == count(schema)


def test_content_blocks() -> None:
    assert [block["type"] for block in build_content(GETS)] == ["tool_result"]
    assert [block["type"] for block in build_content(ASKS)] == ["tool_use"]
    assert build_content(Message(role="assistant")) == [{"type": "text", "text": ""}]
