"""The client against real servers: processes of the SDK, scripts, and one over HTTP."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from swarm_bench.runtime.mcp.client import Connection, ServerFailed, open_connection, own_server
from swarm_bench.runtime.mcp.transports import HTTP_TYPES
from swarm_bench.runtime.ownership import OWNER, this_owner
from tests.processes import tagged
from tests.runtime.mcp.scripts import server

pytestmark = pytest.mark.anyio

SERVER = """
import os, sys
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
server = MCPServer("shelf", version="1.2.3", instructions="Books are on the shelf.")

@server.tool()
def find(title: str) -> str:
    "Finds a book."
    if title == "none":
        raise ToolError("no such book")
    return title + " " + " ".join(f"{k}={os.environ.get(k)}" for k in ("KEY", "MODE", "SECRET"))

if __name__ == "__main__":
    server.run(*([] if len(sys.argv) == 1 else ["streamable-http"]),
               **({} if len(sys.argv) == 1 else {"port": int(sys.argv[1])}))
"""
PATH = {"PATH": os.environ["PATH"]}


@pytest.fixture
def shelf(tmp_path: Path) -> dict[str, Any]:
    script = tmp_path / "shelf.py"
    script.write_text(SERVER, encoding="utf-8")
    return {"command": sys.executable, "args": [str(script)], "env": {"MODE": "files"}}


async def test_a_server_is_greeted_called_and_gone(
    shelf: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "ours")
    env = {**PATH, "KEY": "theirs", "MODE": "other"}
    async with own_server(shelf, env=env, cwd=tmp_path, tag="greeting-t1", secrets=()) as server:
        assert (server.name, server.version) == ("shelf", "1.2.3")
        assert server.instructions == "Books are on the shelf."
        assert [(tool.name, tool.description) for tool in server.tools] == [
            ("find", "Finds a book.")
        ]
        assert "title" in server.tools[0].schema["properties"]
        assert server.seconds > 0
        [pid] = tagged("greeting-t1")
        assert psutil.Process(pid).environ()[OWNER] == this_owner()
        assert psutil.Process(pid).cwd() == str(tmp_path)
        found = await server.call("find", {"title": "Emma"})
        assert (found.text, found.is_error) == ("Emma KEY=theirs MODE=files SECRET=None", False)
        missing = await server.call("find", {"title": "none"})
        assert missing.is_error
        assert "no such book" in missing.text
    assert tagged("greeting-t1") == []


async def test_what_the_block_raises_passes(shelf: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="of the block"):
        async with own_server(shelf, env=PATH, cwd=tmp_path, tag="greeting-t2", secrets=()):
            raise ValueError("of the block")
    assert tagged("greeting-t2") == []


async def test_a_wrapper_that_leaves_its_children_behind(
    shelf: dict[str, Any], tmp_path: Path
) -> None:
    """As `npx` and `sh -c` do: the server ends with its input, and what it started does not."""
    lasting = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    script = (
        f'"$0" -c "{lasting}" </dev/null >/dev/null 2>&1 & setsid sleep 60 </dev/null >/dev/null & '
        'exec "$0" "$1"'
    )
    wrapped = {"command": "sh", "args": ["-c", script, shelf["command"], *shelf["args"]]}
    async with own_server(wrapped, env=PATH, cwd=tmp_path, tag="greeting-t3", secrets=()):
        assert len(tagged("greeting-t3")) == 3
    assert tagged("greeting-t3") == []


async def test_a_server_that_ignores_the_end_of_its_input(
    shelf: dict[str, Any], tmp_path: Path
) -> None:
    stays = {
        "command": "sh",
        "args": ["-c", '"$0" "$1"; sleep 60', sys.executable, shelf["args"][0]],
    }
    async with own_server(stays, env=PATH, cwd=tmp_path, tag="greeting-t4", secrets=()) as server:
        assert server.name == "shelf"
    assert tagged("greeting-t4") == []


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"command": "/nowhere/at-all"}, "No such file or directory: /nowhere/at-all"),
        (
            {"command": "sh", "args": ["-c", "echo first >&2; echo I need a KEY >&2; exit 3"]},
            "it exited with code 3 before it answered; its last words: first | I need a KEY",
        ),
        ({"command": "sh", "args": ["-c", "kill -9 $$"]}, "it was ended by SIGKILL before it ans"),
        (
            {"command": "sh", "args": ["-c", "kill -40 $$"]},
            "it was ended by signal 40 before it an",
        ),
        (
            {"command": "sh", "args": ["-c", "head -c 70M /dev/zero; cat >/dev/null"]},
            "it sent a line of more than 64 MiB$",
        ),
        (
            {"command": "sh", "args": ["-c", "echo Usage: it sesame; exit 2"]},
            r'code 2 before .* it printed "Usage: it .not stored.", which is not MCP$',
        ),
        (
            {"command": "sh", "args": ["-c", "exec >&-; cat >/dev/null"]},
            "closed its input or output",
        ),
        ({"port": 1}, "neither a command nor a url"),
        ({"url": "http://127.0.0.1:1/sse", "type": "sse"}, "'sse', which is not supported"),
        ({"url": "http://127.0.0.1:1/mcp"}, "connection"),
    ],
)
async def test_why_a_server_does_not_connect(
    config: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ServerFailed, match=words):
        async with own_server(
            config, env=PATH, cwd=tmp_path, tag="greeting-t5", secrets=("sesame",)
        ):
            pass


async def test_what_a_server_prints_instead_of_messages_is_quoted(tmp_path: Path) -> None:
    config = {"command": "sh", "args": ["-c", "echo Listening.; cat >/dev/null"]}
    words = r'no answer within 3 seconds .* it printed "Listening.", which is not MCP$'
    with pytest.raises(ServerFailed, match=words):
        async with own_server(
            config, env=PATH, cwd=tmp_path, tag="greeting-tb", secrets=(), seconds=3
        ):
            pass


async def test_a_server_that_hangs_is_gone_when_nobody_waits_any_longer(tmp_path: Path) -> None:
    hangs = {"command": "sh", "args": ["-c", "sleep 60 & sleep 60"]}
    with anyio.move_on_after(0.5) as waited:
        async with own_server(hangs, env=PATH, cwd=tmp_path, tag="greeting-t6", secrets=()):
            pass
    assert waited.cancelled_caught
    assert tagged("greeting-t6") == []


async def test_a_server_that_dies_is_said_by_the_call(
    shelf: dict[str, Any], tmp_path: Path
) -> None:
    async with own_server(shelf, env=PATH, cwd=tmp_path, tag="greeting-t7", secrets=()) as server:
        for pid in tagged("greeting-t7"):
            psutil.Process(pid).kill()
        with pytest.raises(ServerFailed, match="ended by SIGKILL before it answered"):
            await server.call("find", {"title": "Emma"})


HOSTILE = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    answer = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
    if request["method"] == "initialize":
        answer = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {},
                  "serverInfo": {"name": "hostile", "version": "1"}}
    result = {"result": answer}
    if request["method"] == "tools/call":
        title = request["params"]["arguments"]["title"]
        said = {"content": [{"type": "text", "text": ascii(title)}]}
        result = {"result": said} if title else {"error": {"code": 7, "message": ""}}
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress"}))
    sys.stdout.flush()
    sys.stdout.buffer.write(b"\\xff\\xfe\\n")
    sys.stdout.flush()
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **result}), flush=True)
"""


async def test_what_no_protocol_allows_breaks_no_connection(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hostile = {"command": sys.executable, "args": ["-c", HOSTILE]}
    async with open_connection(hostile, env=PATH, cwd=tmp_path) as server:
        assert (await server.call("say", {"title": "\ud800"})).text == r"'\ud800'"
        with pytest.raises(ServerFailed, match="an error without a message, code 7"):
            await server.call("say", {"title": ""})
        assert (await server.call("say", {"title": "x"})).text == "'x'"
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def url(shelf: dict[str, Any]) -> Iterator[str]:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [shelf["command"], *shelf["args"], str(port)], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def test_streamable_http(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")  # a user's, which leads elsewhere
    for kind in ({}, *({"type": name} for name in HTTP_TYPES)):
        config = {"url": url, "headers": {"X-Api-Key": "k"}, **kind}
        async with open_connection(config, env={}) as server:
            assert (server.name, server.version) == ("shelf", "1.2.3")
            answer = await server.call("find", {"title": "Emma"})
            assert answer.text.startswith("Emma")
    # Text that is not Unicode cannot be sent; whoever asks is not left as if all had gone well.
    with pytest.raises(ServerFailed, match="surrogates not allowed"):
        async with open_connection({"url": url}, env={}) as server:
            await server.call("find", {"title": "\ud800"})


async def test_no_part_of_a_secret_is_in_its_last_words(tmp_path: Path) -> None:
    """Wherever the words are cut."""
    secret = "sesame-" + "0123456789" * 5
    for rest in (270, 280, 290, 299):
        script = f"print('x' * 70000 + '{secret}' + 'z' * {rest}); raise SystemExit(1)"
        config = {
            "command": sys.executable,
            "args": ["-c", f"import sys; sys.stdout = sys.stderr; {script}"],
        }
        with pytest.raises(ServerFailed) as failed:
            async with own_server(
                config, env=PATH, cwd=tmp_path, tag="greeting-t8", secrets=(secret,)
            ):
                pass
        assert str(failed.value).endswith("z" * rest)
        assert "56789" not in str(failed.value)


async def test_a_server_that_does_not_stop_talking_is_heard_to_its_end(tmp_path: Path) -> None:
    script = (
        "import os, sys\nfor _ in range(200): sys.stderr.write('A' * 99_999 + chr(10))\n"
        "sys.stderr.write('I need a KEY')"
    )
    config = {"command": sys.executable, "args": ["-c", script]}
    before = psutil.Process().memory_info().rss
    with pytest.raises(ServerFailed, match="AAA . I need a KEY$"):
        async with own_server(
            config, env=PATH, cwd=tmp_path, tag="greeting-t9", secrets=("sesame",)
        ):
            pass
    assert psutil.Process().memory_info().rss - before < 10_000_000


async def test_one_that_talks_for_ever_fills_nothing_and_ends(tmp_path: Path) -> None:
    config = {"command": "sh", "args": ["-c", "yes noise >&2"]}
    before, started = psutil.Process().memory_info().rss, time.monotonic()
    with anyio.move_on_after(1):
        async with own_server(config, env=PATH, cwd=tmp_path, tag="greeting-ta", secrets=()):
            pass
    assert tagged("greeting-ta") == []
    assert time.monotonic() - started < 10
    assert psutil.Process().memory_info().rss - before < 10_000_000


@pytest.mark.parametrize(
    ("block", "place"),
    [
        ({"type": "text"}, "TextContent.text"),
        ({"type": "resource_link", "uri": "src/a.py"}, "ResourceLink.name"),
        ({"type": "resource", "resource": {"text": "def a()"}}, "EmbeddedResource.resource"),
        ({"type": "image", "data": "QUJD"}, "ImageContent.mimeType"),
    ],
)
async def test_a_block_that_is_wrong_is_refused_by_its_own_type(
    block: dict[str, Any], place: str, tmp_path: Path
) -> None:
    behaviour = f"def call(request):\n    say(answer(request, {{'content': [{block!r}]}}), '\\n')\n"
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        with pytest.raises(ServerFailed, match=f"what it answered is not MCP: .*{place}"):
            await connection.call("find", {})


async def test_blocks_of_other_types_are_mentioned(tmp_path: Path) -> None:
    result = {"content": [{"type": "table", "rows": []}, {"type": "text", "text": "src/a.py"}]}
    behaviour = f"def call(request):\n    say(answer(request, {result!r}), '\\n')\n"
    async with open_connection(server(behaviour), env=PATH, cwd=tmp_path) as connection:
        mention, text = (await connection.call("find", {})).text.splitlines()
    assert ('"table"' in mention, text) == (True, "src/a.py")


LISTING = """
def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}

asked = 0
def listed(params):
    global asked
    asked += 1
    at = params.get("cursor")
    return PAGE

def call(request):
    say(answer(request, text(str(asked))), "\\n")
"""


async def listed(page: str, folder: Path) -> tuple[list[str], str | None, int]:
    """The names of the tools, what is wrong with them, and how many pages were asked for."""
    config = server(LISTING.replace("PAGE", page))
    async with open_connection(config, env=PATH, cwd=folder) as connection:
        pages = (await connection.call("pages", {})).text
        return names(connection), connection.warning, int(pages)


def names(connection: Connection) -> list[str]:
    return [tool.name for tool in connection.tools]


@pytest.mark.parametrize(
    ("page", "tools", "pages"),
    [
        ('{"tools": [tool("a"), tool("b")]}', ["a", "b"], 1),
        ('{"tools": [tool("a")], "nextCursor": None}', ["a"], 1),
        ('{"tools": [tool("a")], "nextCursor": "2"} if at is None else {"tools": [tool("b")]}',
         ["a", "b"], 2),
        ('{"tools": [tool("a")], "nextCursor": ""} if at is None else {"tools": [tool("b")]}',
         ["a", "b"], 2),
        ('{"tools": [tool("a"), tool("a")]}', ["a"], 1),
        ('{"tools": [], "nextCursor": "2"} if at is None else {"tools": [tool("b")]}', ["b"], 2),
        ('{"tools": [tool(str(asked))], **({"nextCursor": str(asked)} if asked < 150 else {})}',
         [str(at) for at in range(1, 151)], 150),
    ],
)  # fmt: skip
async def test_pages_are_put_together(
    page: str, tools: list[str], pages: int, tmp_path: Path
) -> None:
    assert await listed(page, tmp_path) == (tools, None, pages)


@pytest.mark.parametrize(
    ("page", "tools", "pages"),
    [
        ('{"tools": [tool("a"), tool("b")], "nextCursor": "2"}', ["a", "b"], 2),
        ('{"tools": [tool("a")], "nextCursor": ""}', ["a"], 2),
        ('{"tools": [tool("a")], "nextCursor": str(asked)}', ["a"], 2),
        ('{"tools": [tool("ab"[asked % 2])], "nextCursor": str(asked)}', ["b", "a"], 3),
        ('{"tools": [], "nextCursor": "more"}', [], 2),
        ('{"tools": [tool("a")] if at is None else [], "nextCursor": str(asked)}', ["a"], 101),
        ('{"tools": [tool(str(asked))], "nextCursor": "ab"[asked % 2]}', ["1", "2", "3"], 3),
    ],
)
async def test_a_list_that_repeats_itself_ends_with_its_tools(
    page: str, tools: list[str], pages: int, tmp_path: Path
) -> None:
    found, warning, asked = await listed(page, tmp_path)
    assert (found, asked) == (tools, pages)
    assert warning is not None


async def test_a_list_with_new_tools_on_every_page_is_refused(tmp_path: Path) -> None:
    page = '{"tools": [tool(str(asked))], "nextCursor": str(asked)}'
    with pytest.raises(ServerFailed, match="does not end after 1000 pages"):
        await listed(page, tmp_path)
