"""Servers over HTTP that refuse, break off, ask to wait and forget their sessions."""

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from swarm_bench.runtime.mcp.client import (
    Answer,
    CallRefused,
    LateAnswer,
    ServerFailed,
    TurnedAway,
    open_connection,
)
from tests.builders.mcp_over_http import EVENTS, JSON, TEXT, Answering, Reply, Served, serving

pytestmark = pytest.mark.anyio


async def asked(
    answering: Answering, *, may_repeat: bool = True, seconds: float = 20.0
) -> tuple[Answer, Served]:
    with serving(answering) as (url, served):
        async with open_connection({"url": url}, env={}) as connection:
            answer = await connection.call("find", {}, seconds=seconds, may_repeat=may_repeat)
        return answer, served


def once(status: int, headers: Mapping[str, str], content: bytes = b"") -> Answering:
    """Answers so the first time, and then as it should."""
    return lambda served: (status, headers, content) if served.calls == 1 else served.found()


def once_closed(served: Served) -> Reply | None:
    return None if served.calls == 1 else served.found()


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (404, JSON, "Session not found"),
        (404, TEXT, "gone"),
        (404, {"content-type": "text/html"}, "<h1>Not Found</h1>"),
        (400, JSON, "Bad Request: No valid session ID provided"),
        (400, JSON, "Bad Request: Mcp-Session-Id header is invalid: unknown session"),
        (400, TEXT, "Invalid session ID"),
        (401, TEXT, "Unauthorized: Session not found"),
        (410, TEXT, "The session has expired."),
        (200, JSON, "Session terminated"),
        (500, JSON, "session s1 does not exist"),
        (400, JSON, "Bad Request: Server not initialized"),
        (422, TEXT, "Unexpected message, expect initialize request"),
        (410, TEXT, "Gone"),
        (403, JSON, "Session is not valid anymore"),
        (200, JSON, "Received request before initialization was complete"),
        (400, JSON, "Session ID is required"),
        (400, TEXT, "No active session"),
        (400, TEXT, "SESSION_EXPIRED_OR_SO"),
        (200, JSON, "session s1 timed out after 60 s"),
        (200, JSON, "SESSION_NOT_FOUND"),
        (404, JSON, "No transport found for sessionId"),
        (200, EVENTS, "Session not found"),
    ],
)
async def test_a_session_that_ended_is_opened_again(
    status: int, headers: Mapping[str, str], words: str
) -> None:
    def forgets(served: Served) -> Reply:
        if served.session == "s2":
            return served.found()
        content = words.encode() if headers is TEXT else served.refused(words)
        return status, headers, b"data: " + content + b"\n\n" if headers is EVENTS else content

    answer, served = await asked(forgets, may_repeat=False)
    assert answer.text == "src/oar.py"
    assert answer.waited > 0
    assert (served.sessions, served.calls) == (2, 2)
    assert served.methods[-3:] == ["initialize", "notifications/initialized", "tools/call"]


async def test_a_session_that_ends_at_every_call_is_opened_once_for_each() -> None:
    def forgets(served: Served) -> Reply:
        return 404, JSON, served.refused("Session not found")

    with serving(forgets) as (url, served):
        async with open_connection({"url": url}, env={}) as connection:
            for calls in (2, 4):
                with pytest.raises(CallRefused, match=r"^HTTP 404 Not Found: Session not found$"):
                    await connection.call("find", {}, seconds=20)
                assert served.calls == calls


async def test_an_error_that_only_names_a_session_opens_another_one_once() -> None:
    words = "the table sessions is locked"
    with serving(lambda served: (400, JSON, served.refused(words))) as (url, served):
        async with open_connection({"url": url}, env={}) as connection:
            with pytest.raises(CallRefused, match=f"HTTP 400 Bad Request: {words}"):
                await connection.call("find", {})
    assert (served.sessions, served.calls) == (2, 2)


@pytest.mark.parametrize("words", ["no variable in x.py", "the table is locked", "quota used up"])
async def test_an_error_that_is_of_no_session_opens_none(words: str) -> None:
    with serving(lambda served: (400, JSON, served.refused(words))) as (url, served):
        async with open_connection({"url": url}, env={}) as connection:
            with pytest.raises(CallRefused, match=f"HTTP 400 Bad Request: {words}"):
                await connection.call("find", {})
    assert (served.sessions, served.calls) == (1, 1)


def in_a_second() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=1.5), usegmt=True)


@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize(
    "after", ["1", None, "date", "soon", "Tue, 1 Jan 99999999999 00:00:00 GMT"]
)
async def test_a_server_that_asks_to_wait_is_asked_again(status: int, after: str | None) -> None:
    def answering(served: Served) -> Reply:
        date = in_a_second() if after == "date" else after
        headers = {**TEXT, **({"retry-after": date} if date else {})}
        return once(status, headers, b"busy")(served) or served.found()

    started = time.monotonic()
    answer, served = await asked(answering, may_repeat=False)
    assert answer.text == "src/oar.py"
    assert served.calls == 2
    assert 0.4 < answer.waited < time.monotonic() - started


@pytest.mark.parametrize("status", [408, 502, 504, 520, 524])
async def test_what_may_have_been_done_is_repeated_only_where_it_may(status: int) -> None:
    answer, served = await asked(once(status, TEXT))
    assert (answer.text, served.calls) == ("src/oar.py", 2)
    with pytest.raises(CallRefused, match=f"HTTP {status}"):
        await asked(once(status, TEXT), may_repeat=False)


async def test_a_connection_that_breaks_is_opened_once_more() -> None:
    answer, served = await asked(once_closed)
    assert (answer.text, served.calls) == ("src/oar.py", 2)
    with pytest.raises(ServerFailed):
        await asked(lambda _served: None)
    with pytest.raises(ServerFailed):
        await asked(once_closed, may_repeat=False)


@pytest.mark.parametrize(
    ("status", "headers", "content", "words"),
    [
        (429, {"retry-after": "3600", **TEXT}, b"slow down", "HTTP 429 .*3600.*: slow down"),
        (503, {"retry-after": in_a_second().replace("20", "29"), **TEXT}, b"", "HTTP 503 "),
        (500, TEXT, b"no index", "HTTP 500 Internal Server Error: no index$"),
        (500, {"content-type": "text/html"}, b"<html>oops</html>", "Server Error$"),
        (403, JSON, b'{"detail": "no key"}', "HTTP 403 Forbidden: no key$"),
        (422, JSON, b'{"error": "no query"}', "HTTP 422 .*: no query$"),
        (418, JSON, b"[[[", "HTTP 418 "),
    ],
)
async def test_a_refusal_has_its_status_and_its_words(
    status: int, headers: Mapping[str, str], content: bytes, words: str
) -> None:
    with pytest.raises(CallRefused, match=words):
        await asked(lambda _served: (status, headers, content))


@pytest.mark.parametrize("status", [401, 402, 403, 407, 429, 500, 503, 599])
async def test_a_server_that_answers_nobody_is_told_from_a_call_that_fails(status: int) -> None:
    headers = {**TEXT, "retry-after": "86400"}
    with pytest.raises(TurnedAway, match=f"^HTTP {status}.*: used up"):
        await asked(lambda _served: (status, headers, b"used up"))


@pytest.mark.parametrize("status", [400, 404, 413, 422])
async def test_a_call_that_is_refused_is_not_of_all_calls(status: int) -> None:
    with pytest.raises(CallRefused) as refused:
        await asked(lambda served: (status, JSON, served.refused("bad query")))
    assert not isinstance(refused.value, TurnedAway)


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_within_a_server_is_followed(status: int) -> None:
    def forgets(served: Served) -> Reply:
        return served.found() if served.session == "s2" else (404, TEXT, b"gone")

    with serving(forgets, redirect=status) as (url, served):
        async with open_connection({"url": url}, env={}) as connection:
            assert (await connection.call("find", {})).text == "src/oar.py"
    assert served.redirected == 4
    assert served.sessions == 2


async def test_waiting_ends_with_the_time_of_the_call() -> None:
    started = time.monotonic()
    with pytest.raises((CallRefused, LateAnswer), match="HTTP 503"):
        await asked(lambda _served: (503, {"retry-after": "1", **TEXT}, b"busy"), seconds=2.5)
    assert time.monotonic() - started < 15


async def test_a_server_that_is_not_there_is_tried_twice_and_named() -> None:
    with pytest.raises(ServerFailed, match=r"^http://127.0.0.1:1/mcp: .*connect"):
        async with open_connection({"url": "http://127.0.0.1:1/mcp"}, env={}):
            pass


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda body: b"\xef\xbb\xbf" + body, "src/oar.py"),
        (lambda body: body.replace(b"oar", b"M\xfcller"), "src/M\ufffdller.py"),
        (lambda body: body.replace(b"oar", b"a\\ud83d"), "src/a\ufffd.py"),
        (lambda body: b"[" + body + b"]", "src/oar.py"),
        (lambda body: json.dumps(json.loads(body), indent=2).encode(), "src/oar.py"),
    ],
)
async def test_json_that_is_nearly_right_is_read(
    change: Callable[[bytes], bytes], text: str
) -> None:
    def answering(served: Served) -> Reply:
        status, headers, content = served.found()
        return status, headers, change(content)

    answer, _served = await asked(answering)
    assert answer.text == text


async def test_events_of_a_stream_may_be_long_and_have_other_blocks() -> None:
    def answering(served: Served) -> Reply:
        long = {"type": "text", "text": "a" * 3_000_000}
        _, _, content = served.found({"content": [{"type": "table", "rows": []}, long]})
        return 200, {"content-type": "text/event-stream"}, b"data: " + content + b"\n\n"

    answer, _served = await asked(answering)
    mention, long = answer.text.splitlines()
    assert '"table"' in mention
    assert len(long) == 3_000_000


HALF = (b"src/oar.py", b"src/\\ud83d.py")


@pytest.mark.parametrize(
    ("events", "text"),
    [
        (b"\xef\xbb\xbfdata: MESSAGE\n\n", "src/oar.py"),
        (b"data: [MESSAGE]\n\n", "src/oar.py"),
        (b'data: {"foo\n\nevent: message\ndata: MESSAGE\n\n', "src/oar.py"),
        (b"data: HALF\n\n", "src/\ufffd.py"),
        (b": ping\n\nid: 1\nretry: 5\ndata:\n\nid: 2\ndata: MESSAGE\n\n", "src/oar.py"),
        (b"event: ping\ndata: {}\n\ndata: MESSAGE\n\n", "src/oar.py"),
        (b'data: {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n\n'
         b"data: {broken\n\ndata: MESSAGE\n\n", "src/oar.py"),
        (b'data: {"jsonrpc": "2.0", "id": "p", "method": "ping"}\n\ndata: [MESSAGE]\n\n',
         "src/oar.py"),
    ],
)  # fmt: skip
async def test_events_that_are_nearly_right_are_read(events: bytes, text: str) -> None:
    def answering(served: Served) -> Reply:
        message = served.found()[2]
        content = events.replace(b"MESSAGE", message)
        return 200, EVENTS, content.replace(b"HALF", message.replace(*HALF))

    answer, _served = await asked(answering)
    assert answer.text == text


@pytest.mark.parametrize("headers", [{}, TEXT, {"content-type": "application/json-rpc"}])
async def test_a_message_of_another_type_is_read(headers: Mapping[str, str]) -> None:
    answer, _served = await asked(lambda served: (200, headers, served.found()[2]))
    assert answer.text == "src/oar.py"


def with_id(number: object) -> Answering:
    def answering(served: Served) -> Reply:
        return 200, JSON, json.dumps({**json.loads(served.found()[2]), "id": number}).encode()

    return answering


async def test_an_id_may_be_written_as_a_text_or_with_decimals() -> None:
    def answering(served: Served) -> Reply:
        kind = str if served.calls == 1 else float
        return with_id(kind(served.request["id"]))(served) or served.found()

    with serving(answering) as (url, served):
        async with open_connection({"url": url}, env={}) as connection:
            texts = [(await connection.call("find", {}, seconds=5)).text for _ in range(2)]
    assert texts == ["src/oar.py"] * 2
    assert served.calls == 2


@pytest.mark.parametrize("form", [b"%s", b"data: %s\n\n"])
@pytest.mark.parametrize(
    ("content", "clause"),
    [
        (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"locked"}}', "^locked$"),
        (b'{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"locked"}}', "^locked$"),
        (b'{"jsonrpc":"2.0","id":999,"result":{"content":[]}}', "999.*is the answer to another"),
        (b'{"jsonrpc":"2.0","id":', 'it answered ".*jsonrpc.*which is not MCP: '),
        (b'{"hits":[]}', 'it answered ".*hits.*which is not MCP'),
    ],
)
async def test_what_is_no_answer_fails_at_once_and_is_quoted(
    form: bytes, content: bytes, clause: str
) -> None:
    headers = JSON if form == b"%s" else EVENTS
    with pytest.raises(CallRefused, match=clause):
        await asked(lambda _served: (200, headers, form % content), seconds=15)


@pytest.mark.parametrize(
    ("status", "headers", "content", "clause"),
    [
        (204, {}, b"", "^HTTP 204 No Content without an answer$"),
        (202, {}, b"", "^HTTP 202 Accepted without an answer$"),
        (200, JSON, b"", "^HTTP 200 OK without an answer$"),
        (200, {"content-type": "text/html"}, b"<h1>Login</h1>", "<h1>Login</h1>.*not MCP"),
        (200, {}, b"ok", '^it answered "ok", which is not MCP$'),
    ],
)
async def test_no_answer_is_said(
    status: int, headers: Mapping[str, str], content: bytes, clause: str
) -> None:
    with pytest.raises(CallRefused, match=clause):
        await asked(lambda _served: (status, headers, content), seconds=15)


async def test_nothing_that_is_quoted_has_a_secret() -> None:
    with serving(lambda _served: (200, TEXT, b"your key is s3cr3t-of-mine")) as (url, _served):
        async with open_connection({"url": url}, env={}, secrets=["s3cr3t-of-mine"]) as connection:
            with pytest.raises(CallRefused, match="your key is") as refused:
                await connection.call("find", {})
    assert "s3cr3t" not in str(refused.value)


@pytest.mark.parametrize("content", [{}, {"content": None}])
async def test_structured_content_is_enough(content: Mapping[str, None]) -> None:
    result = {**content, "structuredContent": {"files": ["src/oar.py"]}}
    answer, _served = await asked(lambda served: served.found(result))
    assert answer.text == '{"files": ["src/oar.py"]}'
    nothing, _served = await asked(lambda served: served.found({"content": None}))
    assert (nothing.text, nothing.is_error) == ("", False)


NO_GZIP = (200, {**JSON, "content-encoding": "gzip"}, b"plain")


@pytest.mark.parametrize(("reply", "tries"), [(None, 2), (NO_GZIP, 1)])
async def test_a_connection_that_breaks_is_of_that_call_alone(
    reply: Reply | None, tries: int
) -> None:
    """The SDK would end with all that waits for it."""
    with serving(lambda served: served.found() if served.calls > tries else reply) as (url, served):
        async with open_connection({"url": url}, env={}) as connection:
            with pytest.raises(TurnedAway):
                await connection.call("find", {}, may_repeat=True)
            assert (await connection.call("find", {})).text == "src/oar.py"
    assert served.calls == tries + 1


@pytest.mark.parametrize("events", [b"", b": ping\n\n", b"data: {", b"event: other\ndata: {}\n\n"])
async def test_a_stream_that_ends_before_its_answer_is_asked_for_again(events: bytes) -> None:
    answer, served = await asked(
        lambda served: served.found() if served.calls > 1 else (200, EVENTS, events),
        may_repeat=True,
    )
    assert (answer.text, served.calls) == ("src/oar.py", 2)
    with pytest.raises(CallRefused, match="ended without an answer") as refused:
        await asked(lambda _served: (200, EVENTS, events), may_repeat=True)
    assert not isinstance(refused.value, TurnedAway)


async def test_an_address_of_the_older_transport_is_said() -> None:
    with serving(lambda served: served.found(), redirect=405) as (url, _served):
        for address, hint in ((url.removesuffix("/mcp") + "/sse", True), (url, False)):
            with pytest.raises(ServerFailed, match="HTTP 405") as failed:
                async with open_connection({"url": address}, env={}):
                    pass
            assert ("streamable HTTP" in str(failed.value)) == hint
