"""What servers print on their standard output that is no message, or nearly one."""

import json
import os
import time
from pathlib import Path

import pytest

from swarm_bench.runtime.mcp.client import (
    Answer,
    CallRefused,
    LateAnswer,
    ServerFailed,
    open_connection,
    own_server,
)
from tests.runtime.mcp.scripts import server

pytestmark = pytest.mark.anyio

PATH = {"PATH": os.environ["PATH"]}
SECONDS = 20.0
"""Nobody waits so long for what is lost."""


async def called(behaviour: str, folder: Path, seconds: float = SECONDS) -> Answer:
    async with open_connection(server(behaviour), env=PATH, cwd=folder) as connection:
        return await connection.call("find", {"q": "oars"}, seconds=seconds)


def saying(*pieces: str) -> str:
    """Answers with these; `ANSWER` is the whole message."""
    return "def call(request):\n    ANSWER = answer(request, text('src/oar.py'))\n" + "".join(
        f"    say({piece})\n" for piece in pieces
    )


@pytest.mark.parametrize(
    "pieces",
    [
        [r"b'\xef\xbb\xbf', ANSWER, '\n'"],
        [r"'\x1b[?2004h\x1b]0;oars\x07\r', ANSWER, '\r\n'"],
        [r"'\x1b(B\x1b[0;32m', ANSWER, '\x1b[0m\n'"],
        [r"'INFO: searching\n[INFO] still searching\n{\n', ANSWER, '\n', 'done\n'"],
        [r"'Searching... ', ANSWER, '\n'"],
        [r"'[12:00:01] INFO ', ANSWER, '\n'"],
        [r"'{\"level\": \"info\", \"message\": \"searching\"}\n', ANSWER, '\n'"],
        [r"'[', ANSWER, ']\n'"],
        [r"""'[{"jsonrpc": "2.0", "method": "notifications/x"}, ', ANSWER, ']\n'"""],
        [r"""'{"jsonrpc": "2.0", "method": "notifications/x"}', ANSWER, '\n'"""],
        [r"b'\0', ANSWER, b'\0\n\0'"],
        [r"ANSWER.encode('utf-16-le'), b'\n\0'"],
        [r"'\n\n', ANSWER, '\n'"],
        [r"'    ', ANSWER, '\n'"],
        [r"ANSWER", "'\\n'", "'no message\\n'"],
        [r"'got ', json.dumps(request), '\n'", r"ANSWER, '\n'"],
        [r"'{\n \"jsonrpc\": \"2.0\",\n \"id\": %d,\n \"result\": {}\n}\n' % request['id']"]
        + [r"ANSWER, '\n'"],
        [r"ANSWER), sys.exit(0"],
    ],
    ids=repr,
)
async def test_what_stands_around_messages_is_passed_over(
    pieces: list[str], tmp_path: Path
) -> None:
    assert (await called(saying(*pieces), tmp_path)).text == "src/oar.py"


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        (r"ANSWER.replace('oar', 'M@ller').encode().replace(b'@', b'\xfc')", "src/M\ufffdller.py"),
        (r"ANSWER.replace('oar', '@').encode().replace(b'@', b'\xb0\xa1')", "src/\ufffd\ufffd.py"),
        (r"ANSWER.replace('oar', 'a\\ud83d')", "src/a\ufffd.py"),
        (r"ANSWER.replace('oar', '\\ud83d\\ude00\\\\\\\\ud83d')", "src/\U0001f600\\\\ud83d.py"),
        (r"ANSWER.replace('oar', 'a\tb')", "src/a\tb.py"),
        (r"ANSWER.replace('{', '{\"score\": NaN, ', 1)", "src/oar.py"),
    ],
)
async def test_characters_that_are_none_are_replaced(piece: str, text: str, tmp_path: Path) -> None:
    assert (await called(saying(piece, r"'\n'"), tmp_path)).text == text


@pytest.mark.parametrize(
    ("pieces", "quote"),
    [
        ([r"json.dumps(json.loads(ANSWER), indent=2), '\n'"], '"{ "jsonrpc": "2.0", "id": 3,'),
        (
            [r"json.dumps(dict(reversed(json.loads(ANSWER).items())), indent=1), '\n'"],
            '"{ "result": { "content": [',
        ),
        ([r"ANSWER.replace('src', 'a\n'), '\n'"], "a message stands on one line"),
        ([r"ANSWER[:-3], '\n'"], "at character"),
        ([r"ANSWER.replace('\"id\"', 'id'), '\n'"], 'which is not MCP: Expecting property name'),
        (
            [r"ANSWER.replace(': ', '= '), '\n'", r"ANSWER.replace('src', chr(8203))[:-1], '\n'"],
            r"\u200b",
        ),
        ([r"'Content-Length: %d\r\n\r\n%s' % (len(ANSWER), ANSWER)"], '"Content-Length: '),
        ([r"ANSWER.replace('\"2.0\"', '2.0'), '\n'"], "not MCP: it is JSON of another kind"),
        ([r"ANSWER.replace('\"jsonrpc\": \"2.0\", ', ''), '\n'"], '"{"id": 3, "result"'),
        ([r"repr(json.loads(ANSWER)), '\n'"], "\"{'jsonrpc': '2.0', 'id': 3,"),
        ([r"'{\"error\": {\"message\": \"x\"}, \"id\": 3}\n'"], '"{"error": '),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
async def test_a_call_whose_answer_cannot_be_read_fails_at_once_and_quotes_it(
    pieces: list[str], quote: str, tmp_path: Path
) -> None:
    started = time.monotonic()
    with pytest.raises(CallRefused) as refused:
        await called(saying(*pieces), tmp_path)
    assert time.monotonic() - started < SECONDS
    assert quote in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("piece", "quote"),
    [
        (r"'Listening\x1b[1m on port 3000\n'", r'"Listening\x1b[1m on port 3000", which is not'),
        (r"ANSWER[:-2]", "its line has no end"),
        (r"'{\"jsonrpc\": \"2.0\", \"id\": 3, \"method\": \"x\", \"params\": {,}}\n'", '"method"'),
        (r"'{\"jsonrpc\": \"2.0\", \"id\": 77, \"result\": {,}}\n'", '"id": 77'),
        (r"'{\"result\": \"searching\"}\n'", '"{"result": "searching"}"'),
        (r"'{\"id\": 77, \"result\": {}}\n'", '"id": 77'),
        (r"repr({'jsonrpc': '2.0', 'id': 3, 'method': 'x'}), '\n'", "'method'"),
    ],
)  # fmt: skip
async def test_what_may_be_no_answer_is_quoted_when_the_time_is_over(
    piece: str, quote: str, tmp_path: Path
) -> None:
    with pytest.raises(LateAnswer) as late:
        await called(saying(piece), tmp_path, seconds=2)
    assert str(late.value).startswith("no answer within 2 s; ")
    assert quote in str(late.value)


async def test_what_was_printed_before_a_call_is_not_quoted(tmp_path: Path) -> None:
    behaviour = "say('Welcome.\\n')\ndef call(request):\n    pass\n"
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        with pytest.raises(LateAnswer, match="no answer within 1 s$"):
            await connection.call("find", {}, seconds=1)


async def test_a_server_goes_on_after_an_answer_that_was_lost(tmp_path: Path) -> None:
    behaviour = """
def call(request):
    broken = request["params"]["arguments"].get("q") == "broken"
    say(answer(request, text("src/oar.py"))[:-1 if broken else None], "\\n")
"""
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        for _ in range(2):
            with pytest.raises(CallRefused):
                await connection.call("find", {"q": "broken"}, seconds=SECONDS)
            assert (await connection.call("find", {}, seconds=SECONDS)).text == "src/oar.py"


async def test_no_secret_is_cut_by_a_quote(tmp_path: Path) -> None:
    secret = "sesame-" + "0123456789" * 5
    for length in (240, 260, 280, 290):
        behaviour = saying(f"ANSWER.replace('oar', 'a' * {length} + {secret!r})[:-1], '\\n'")
        async with own_server(
            server(behaviour), env=PATH, cwd=tmp_path, tag="greeting-s1", secrets=(secret,)
        ) as connection:
            with pytest.raises(CallRefused) as refused:
                await connection.call("find", {}, seconds=SECONDS)
        assert "sesame" not in str(refused.value)
        assert "aaaa" in str(refused.value)
    long = saying("ANSWER.replace('oar', 'a' * 2000)[:-1], '\\n'")
    with pytest.raises(CallRefused, match="it printed more than 1000 bytes, which is not MCP"):
        await called(long, tmp_path)


async def test_a_server_that_ends_says_its_last_words_on_both_streams(tmp_path: Path) -> None:
    behaviour = """
def call(request):
    say("Traceback: no index\\n")
    sys.stderr.write("I give up\\n")
    sys.exit(3)
"""
    with pytest.raises(ServerFailed) as failed:
        async with own_server(
            server(behaviour), env=PATH, cwd=tmp_path, tag="greeting-s2", secrets=()
        ) as connection:
            await connection.call("find", {}, seconds=SECONDS)
    assert "exited with code 3" in str(failed.value)
    assert '"Traceback: no index"' in str(failed.value)
    assert str(failed.value).endswith("its last words: I give up")


async def test_many_notifications_and_long_answers_are_read(tmp_path: Path) -> None:
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"a": 1}})
    pieces = [f"({note!r} + '\\n') * 20000", r"ANSWER.replace('oar', 'o' * 3000000), '\n'"]
    assert len((await called(saying(*pieces), tmp_path)).text) > 3_000_000


@pytest.mark.parametrize("end", ["", "\\r", " "])
async def test_an_answer_whose_line_does_not_end_fails_soon(end: str, tmp_path: Path) -> None:
    """Nobody reads it: not in a minute either."""
    behaviour = saying(f"ANSWER, '{end}'")
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        for _ in range(2):
            with pytest.raises(CallRefused, match=r"oar.*its line has no end$"):
                await connection.call("find", {}, seconds=SECONDS)


async def test_an_answer_whose_line_ends_late_is_read(tmp_path: Path) -> None:
    behaviour = "import time\n" + saying("ANSWER", "") + "    time.sleep(0.7)\n    say('\\n')\n"
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        assert (await connection.call("find", {}, seconds=SECONDS)).text == "src/oar.py"


@pytest.mark.parametrize("result", ["{}", "{'content': 'x'}", "{'content': [{'type': 'text'}]}"])
async def test_a_server_goes_on_whose_result_is_not_mcp(result: str, tmp_path: Path) -> None:
    behaviour = (
        "made = 0\n"
        "def call(request):\n"
        "    global made\n"
        "    made += 1\n"
        f"    result = {result} if made == 1 else text(str(made))\n"
        "    say(answer(request, result), '\\n')\n"
    )
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        with pytest.raises(CallRefused, match="what it answered is not MCP: "):
            await connection.call("find", {}, seconds=SECONDS)
        assert (await connection.call("find", {}, seconds=SECONDS)).text == "2"


@pytest.mark.parametrize(
    "tool",
    [
        {"inputSchema": {}},
        {"inputSchema": {"properties": {"q": {"type": "string"}}}},
        {"inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
        {"inputSchema": {"type": "object"}, "outputSchema": {}},
        {"inputSchema": {"type": "object"}, "outputSchema": None},
    ],
)
async def test_schemas_that_say_less_than_they_should_are_taken(
    tool: dict[str, object], tmp_path: Path
) -> None:
    behaviour = f"TOOLS = [{ {'name': 'find', **tool}!r}]"
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        assert connection.tools[0].schema["type"] == "object"
        assert (await connection.call("find", {}, seconds=SECONDS)).text == "src/oar.py"
