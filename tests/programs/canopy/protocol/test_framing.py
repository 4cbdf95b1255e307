"""Lines of JSON-RPC over stdin and stdout."""

import json
from typing import Any

import pytest


@pytest.mark.parametrize(
    "line",
    ["no json", " ", "{}", "[]", '{"jsonrpc":"2.0"}', '{"method":"tools/list"}',
     '{"jsonrpc":2,"method":"tools/list"}', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
     '{"jsonrpc":"2.0","id":NaN,"method":"x"}', '{"jsonrpc":"2.0","id":1e999,"method":"x"}',
     '{"jsonrpc":"2.0","id":1,"method":"x"} and more'],
    ids=["text", "blank", "empty", "array", "no method", "no version", "number", "batch", "nan",
         "huge", "trailing"],
)  # fmt: skip
def test_what_is_no_request_is_a_parse_error(shared: Any, line: str) -> None:
    shared.write(line)
    reply = shared.read()
    assert (reply["jsonrpc"], reply["id"], reply["error"]["code"]) == ("2.0", None, -32700)
    assert set(reply["error"]) == {"code", "message"}
    assert "result" not in reply
    assert "result" in shared.ask("tools/list")


@pytest.mark.parametrize("id_", ["1", "null", '"a"', "1.5", '[1,{"a":2}]', "true", "-7"])
def test_any_id_comes_back(shared: Any, id_: str) -> None:
    shared.write(f'{{"jsonrpc":"2.0","id":{id_},"method":"tools/list","extra":1}}')
    assert shared.read()["id"] == json.loads(id_)


def test_a_request_without_an_id_is_answered_with_null(shared: Any) -> None:
    shared.write('{"jsonrpc":"2.0","method":"tools/list"}')
    assert shared.read()["id"] is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\r",
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":4,"method":"notifications/initialized"}',
    ],
)
def test_some_lines_get_no_reply(shared: Any, line: str) -> None:
    shared.write(line)
    assert "result" in shared.ask("tools/list")


def test_other_notifications(shared: Any, backend: Any) -> None:
    shared.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}')
    if not backend.is_embedded:  # a reply to a notification, which JSON-RPC forbids
        assert shared.read()["error"]["code"] == -32601
    assert "result" in shared.ask("tools/list")


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "tools/nothing", ""])
def test_an_unknown_method_is_an_error(shared: Any, method: str) -> None:
    assert shared.ask(method)["error"]["code"] == -32601


def test_ping(shared: Any, backend: Any) -> None:
    reply = shared.ask("ping")
    if backend.is_embedded:
        assert reply["result"] == {}
    else:
        assert reply["error"]["code"] == -32601


def test_the_version_of_the_protocol_is_not_negotiated(shared: Any, backend: Any) -> None:
    result = shared.ask("initialize", {"protocolVersion": "2025-06-18"})["result"]
    assert result["protocolVersion"] == "2024-11-05"
    assert result["capabilities"] == {"tools": {}}
    assert set(result) == {"protocolVersion", "capabilities", "serverInfo"}
    info = result["serverInfo"]
    assert (info["name"], info["version"]) == ("canopy-mcp", "0.4.0")
    # Ours says who it is, and nothing else is there to tell them apart.
    assert set(info) - {"name", "version"} == ({"title"} if backend.is_embedded else set())


def test_it_ends_with_its_input(mcp: Any) -> None:
    assert mcp.close() == 0
