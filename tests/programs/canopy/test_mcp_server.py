"""The server as a process: raw lines, and the official SDK's client."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

MODULE = "swarm_bench.programs.canopy.mcp.server"
SEVEN = [
    "canopy_index", "canopy_query", "canopy_evidence_pack", "canopy_expand", "canopy_status",
    "canopy_invalidate", "canopy_agent_readme",
]  # fmt: skip


def test_it_says_who_it_is(mcp: Any) -> None:
    result = mcp.ask("initialize", {"protocolVersion": "2025-06-18"})["result"]
    assert result["protocolVersion"] == "2024-11-05"
    assert result["capabilities"] == {"tools": {}}
    title = result["serverInfo"].pop("title")
    assert result["serverInfo"] == {"name": "canopy-mcp", "version": "0.4.0"}
    assert title.startswith("swarm-bench embedded canopy ")


def test_the_seven_tools_and_their_parameters(mcp: Any) -> None:
    tools = mcp.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == SEVEN
    schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
    search = {
        "path", "pattern", "patterns", "symbol", "section", "parent", "kind", "glob", "match",
        "query",
    }  # fmt: skip
    assert set(schemas["canopy_query"]["properties"]) == search | {"limit"}
    assert schemas["canopy_query"]["required"] == []
    pack = search | {"max_handles", "max_per_file", "plan"}
    assert set(schemas["canopy_evidence_pack"]["properties"]) == pack
    assert schemas["canopy_expand"]["required"] == ["handle_ids"]
    assert schemas["canopy_index"]["required"] == ["glob"]
    assert schemas["canopy_agent_readme"]["properties"] == {}


@pytest.mark.parametrize(
    "line", ["no json", "[]", "{}", '{"jsonrpc":"2.0"}', '{"jsonrpc":2,"method":"ping"}', " ",
             "[" * 50_000, '{"jsonrpc":"2.0","method":"x","a":"' + "x" * 2_100_000 + '"}',
             '{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
             '{"jsonrpc":"2.0","id":1e999,"method":"ping"}'],
    ids=["text", "batch", "empty", "no method", "number", "blank", "deep", "long", "nan", "huge"],
)  # fmt: skip
def test_what_is_no_request_is_a_parse_error(mcp: Any, line: str) -> None:
    mcp.write(line)
    reply = mcp.read()
    assert (reply["id"], reply["error"]["code"]) == (None, -32700)
    assert set(reply["error"]) == {"code", "message"}
    assert mcp.ask("ping")["result"] == {}


@pytest.mark.parametrize("id_", ["1", "null", '"a"', "1.5", '[1,{"a":2}]'])
def test_any_id_comes_back(mcp: Any, id_: str) -> None:
    mcp.write(f'{{"jsonrpc":"2.0","id":{id_},"method":"tools/list"}}')
    assert mcp.read()["id"] == json.loads(id_)


def test_methods_and_notifications(mcp: Any) -> None:
    mcp.write('{"jsonrpc":"2.0","method":"notifications/initialized"}')
    mcp.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}')
    mcp.write("")
    assert mcp.ask("resources/list")["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("nonsense", {}, -32602),
        ("canopy_query", {}, -32602),
        ("canopy_query", {"patterns": [], "pattern": ""}, -32602),
        ("canopy_expand", {}, -32602),
        ("canopy_expand", {"handle_ids": [1, None]}, -32602),
        ("canopy_index", {}, -32602),
        ("canopy_query", {"pattern": "x", "path": "/"}, -32602),
        ("canopy_query", {"pattern": "x", "path": "../.."}, -32602),
        ("canopy_query", {"pattern": "x", "path": "a\0b"}, -32602),
        ("canopy_query", {"pattern": "x", "kind": "definition"}, -32000),
        ("canopy_query", {"query": "(grep"}, -32000),
        ("canopy_query", {"pattern": "x", "glob": "{a"}, -32000),
        ("canopy_expand", {"handle_ids": ["h" + "0" * 24]}, -32000),
        ("canopy_expand", {"handle_ids": ["../../etc/passwd"]}, -32000),
    ],
)
def test_failures_are_errors_and_not_results(
    mcp: Any, tool: str, arguments: dict[str, Any], code: int
) -> None:
    assert mcp.call(tool, **arguments)["error"]["code"] == code


def test_values_of_the_wrong_type_count_as_not_given(mcp: Any) -> None:
    found = mcp.json(
        "canopy_query", pattern="login", limit=-3, glob=7, kind="odd", match=[], path=5, symbol={}
    )
    assert found["total_matches"] > 0
    assert mcp.json("canopy_query", pattern="login", limit=0)["handles"] == []
    assert len(mcp.json("canopy_query", pattern="login", limit=1)["handles"]) == 1
    assert mcp.json("canopy_query", patterns=["login", 3, None])["total_matches"] > 0


def test_half_a_character_is_no_error(mcp: Any) -> None:
    assert mcp.json("canopy_query", symbol="\ud800x")["handles"] == []


def test_a_swarm_agents_walk(mcp: Any, repo: Path) -> None:
    pack = mcp.json("canopy_evidence_pack", pattern="password check")
    assert pack["query_text"] == "password check"
    first = pack["expand_suggestion"][0]
    assert first.startswith("h")
    reply = mcp.call("canopy_expand", handle_ids=[first, first])["result"]
    text = reply["content"][0]["text"]
    assert text.startswith(f"// {first}\n")
    assert "check_password(name" in text
    assert reply["failed_ids"] == []
    again = mcp.json("canopy_evidence_pack", pattern="password check")
    assert again["expand_suggestion"][-1] == first


def test_some_handles_fail_and_known_ones_come_first(mcp: Any) -> None:
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    other = "h" + "0" * 24
    reply = mcp.call("canopy_expand", handle_ids=[other, bare])["result"]
    text = reply["content"][0]["text"]
    assert text.startswith(f"// h{bare}\ndef logout(self)")
    assert text.endswith(f"\n\n// Failed to expand: {other}")
    assert reply["failed_ids"] == [other]


def test_each_spelling_of_an_id_is_expanded_once_and_known_ones_first(mcp: Any) -> None:
    found = mcp.json("canopy_query", parent="AuthController")["handles"]
    login, logout = (each["id"] for each in found)
    text = mcp.text("canopy_expand", handle_ids=[login, logout, f"h{login}", login])
    heads = [line for line in text.splitlines() if line.startswith("// ")]
    assert heads == [f"// h{login}", f"// h{login}", f"// h{logout}"]


def test_a_question_of_several_words_falls_back_on_any_of_them(mcp: Any, repo: Path) -> None:
    pack = mcp.json("canopy_evidence_pack", pattern="hexdigest handlers")
    assert pack["selected_count"] == 2
    assert pack["query_text"] == "hexdigest handlers"
    connection = sqlite3.connect(repo / ".canopy" / "feedback.db")
    events = connection.execute("SELECT handles_returned FROM query_events").fetchall()
    connection.close()
    assert events == [(0,), (2,)]


def test_who_records_what_without_a_service(mcp: Any, repo: Path) -> None:
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    mcp.json("canopy_query", query='(code "login")')
    pack = mcp.json("canopy_evidence_pack", pattern="login", max_handles=1)
    mcp.call("canopy_expand", handle_ids=[bare, pack["expand_suggestion"][0]])
    connection = sqlite3.connect(repo / ".canopy" / "feedback.db")
    texts = connection.execute("SELECT query_text, files_indexed FROM query_events").fetchall()
    shown = connection.execute(
        "SELECT count(*) FROM query_handles WHERE query_event_id = 3"
    ).fetchone()
    expanded = connection.execute(
        "SELECT query_event_id, handle_id, auto_expanded FROM expand_events"
    ).fetchall()
    connection.close()
    # An expression leaves no text behind.
    assert texts == [("logout", 4), ("", 0), ("login", 0)]
    # All candidates are recorded, not just those shown.
    assert shown[0] > 1
    # What was shown comes first, and an id without its `h` never was.
    assert expanded == [(3, pack["expand_suggestion"][0], 0), (1, f"h{bare}", 0)]


def test_the_other_tools(mcp: Any, repo: Path) -> None:
    (repo / "task.rb").write_text("def run; end\n")
    indexed = mcp.json("canopy_index", glob="**/*.rb")
    assert indexed["files_indexed"] == 1
    assert indexed["repo_root"] == str(repo)
    assert mcp.json("canopy_query", pattern="run end", glob="*.rb")["total_matches"] == 1
    status = mcp.json("canopy_status")
    assert set(status) == {
        "files_indexed", "total_tokens", "schema_version", "index_size_bytes", "last_indexed",
        "repo_root", "file_discovery", "feedback",
    }  # fmt: skip
    assert (status["files_indexed"], status["schema_version"]) == (5, 3)
    assert status["last_indexed"].endswith(" ago")
    assert mcp.text("canopy_invalidate", glob="*.rb") == "Invalidated 1 files"
    assert "canopy_evidence_pack" in mcp.text("canopy_agent_readme")


def test_an_index_that_does_not_exist_yet_has_a_status(mcp: Any) -> None:
    status = mcp.json("canopy_status")
    assert (status["files_indexed"], status["last_indexed"]) == (0, None)


def test_a_folder_inside_the_root_means_the_root(mcp: Any, repo: Path) -> None:
    found = mcp.json("canopy_query", symbol="logout", path=str(repo / "src"))
    assert found["handles"][0]["file_path"] == "src/auth.py"
    assert not (repo / "src" / ".canopy").exists()


def test_the_root_may_come_with_each_call(start_mcp: Callable[..., Any], repo: Path) -> None:
    server = start_mcp()
    assert server.call("canopy_query", symbol="logout")["error"]["code"] == -32602
    assert server.call("canopy_status", path=str(repo / "no"))["error"]["code"] == -32000
    assert server.json("canopy_query", symbol="logout", path=str(repo))["total_matches"] == 1


def test_options_and_variables(start_mcp: Callable[..., Any], repo: Path) -> None:
    by_variable = start_mcp(CANOPY_ROOT=str(repo), CANOPY_SERVICE_URL="")
    assert by_variable.json("canopy_status")["repo_root"] == str(repo)
    by_option = start_mcp(f"--root={repo}", "--unknown", "word", CANOPY_ROOT="/nowhere")
    assert by_option.json("canopy_status")["repo_root"] == str(repo)
    without_value = start_mcp("--root", CANOPY_ROOT=str(repo))
    assert without_value.call("canopy_status")["error"]["code"] == -32602


def test_edits_are_seen_by_the_next_query(mcp: Any, repo: Path) -> None:
    assert mcp.json("canopy_query", symbol="later")["handles"] == []
    (repo / "src" / "later.py").write_text("def later(): pass\n")
    deadline = time.monotonic() + 5
    while not mcp.json("canopy_query", symbol="later")["handles"]:
        assert time.monotonic() < deadline


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version(word: str) -> None:
    command = [sys.executable, "-m", MODULE, word]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "mbedded" in done.stdout


def test_it_ends_with_its_input(start_mcp: Callable[..., Any]) -> None:
    server = start_mcp()
    server.ask("ping")
    assert server.close() == 0


def test_it_ends_when_it_is_told_to(mcp: Any) -> None:
    mcp.json("canopy_query", pattern="login")
    mcp.process.send_signal(signal.SIGTERM)
    assert mcp.process.wait(2) == 0


def test_it_ends_when_nobody_reads(mcp: Any) -> None:
    mcp.ask("ping")
    mcp.process.stdout.close()
    mcp.write('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert mcp.process.wait(2) == 0


@pytest.mark.anyio
async def test_the_official_client_can_use_it(repo: Path) -> None:
    variables = {"PATH": os.environ["PATH"]}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", MODULE, "--root", str(repo)], env=variables
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        assert hello.server_info.name == "canopy-mcp"
        assert [tool.name for tool in (await session.list_tools()).tools] == SEVEN
        await session.send_ping()
        result = await session.call_tool("canopy_evidence_pack", {"pattern": "login"})
        (content,) = result.content
        assert content.type == "text"
        pack = json.loads(content.text)
        assert pack["guidance"]["stop_querying"] is True
        expanded = await session.call_tool(
            "canopy_expand", {"handle_ids": pack["expand_suggestion"]}
        )
        assert not expanded.is_error
        with pytest.raises(MCPError) as caught:
            await session.call_tool("canopy_query", {})
        assert caught.value.error.code == -32602
