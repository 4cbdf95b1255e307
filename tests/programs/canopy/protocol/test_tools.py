"""The seven tools: what `tools/list` says, and how they refuse."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": {"type": "string"}}
SEARCH = {
    "path": TEXT, "pattern": TEXT, "patterns": TEXTS, "symbol": TEXT, "section": TEXT,
    "parent": TEXT, "kind": {"type": "string", "enum": ["definition", "reference", "any"]},
    "glob": TEXT, "match": {"type": "string", "enum": ["any", "all"]}, "query": TEXT,
}  # fmt: skip
WHOLE = {"type": "integer"}
TOOLS: dict[str, tuple[dict[str, Any], list[str] | None]] = {
    "canopy_index": ({"path": TEXT, "glob": TEXT}, ["glob"]),
    "canopy_query": ({**SEARCH, "limit": WHOLE}, []),
    "canopy_evidence_pack": (
        {**SEARCH, "max_handles": WHOLE, "max_per_file": WHOLE, "plan": {"type": "boolean"}}, [],
    ),
    "canopy_expand": ({"path": TEXT, "handle_ids": TEXTS}, ["handle_ids"]),
    "canopy_status": ({"path": TEXT}, []),
    "canopy_invalidate": ({"path": TEXT, "glob": TEXT}, []),
    "canopy_agent_readme": ({}, None),
}  # fmt: skip
"""Properties and what is required of each, in the order of the list."""


def test_the_list(shared: Any) -> None:
    tools = shared.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(TOOLS)
    for tool in tools:
        assert set(tool) == {"name", "description", "inputSchema"}
        schema = tool["inputSchema"]
        properties, required = TOOLS[tool["name"]]
        assert (schema["type"], schema.get("required")) == ("object", required)
        words = ("type", "enum", "items")
        found = {
            name: {word: value[word] for word in words if word in value}
            for name, value in schema["properties"].items()
        }
        assert found == properties


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("nonsense", {}, -32602),
        ("canopy_query", {}, -32602),
        ("canopy_query", {"patterns": []}, -32602),
        ("canopy_query", {"limit": 3, "kind": "any", "glob": "*.py"}, -32602),
        ("canopy_evidence_pack", {}, -32602),
        ("canopy_expand", {}, -32602),
        ("canopy_expand", {"handle_ids": []}, -32602),
        ("canopy_expand", {"handle_ids": [1, None]}, -32602),
        ("canopy_expand", {"handle_ids": "h1"}, -32602),
        ("canopy_index", {}, -32602),
        ("canopy_index", {"glob": 5}, -32602),
        ("canopy_query", {"pattern": "x", "kind": "definition"}, -32000),
        ("canopy_query", {"pattern": "x", "kind": "reference"}, -32000),
        ("canopy_query", {"query": "(grep"}, -32000),
        ("canopy_query", {"query": '(nothing "x")'}, -32000),
        ("canopy_query", {"pattern": "login", "glob": "{a"}, -32000),
        ("canopy_query", {"pattern": "login", "glob": "[a"}, -32000),
        ("canopy_index", {"glob": "{a"}, -32000),
        ("canopy_expand", {"handle_ids": ["h" + "0" * 24]}, -32000),
        ("canopy_expand", {"handle_ids": ["../../x"]}, -32000),
    ],
)
def test_failures_are_errors_and_not_results(
    shared: Any, tool: str, arguments: dict[str, Any], code: int
) -> None:
    assert shared.code(tool, **arguments) == code


@pytest.mark.parametrize("params", [None, [], {}, {"name": 3}])
def test_a_call_without_a_name(shared: Any, params: Any) -> None:
    assert shared.ask("tools/call", params)["error"]["code"] == -32602


def test_an_empty_text_is_an_error_of_canopys_and_left_out_by_ours(
    shared: Any, backend: Any
) -> None:
    for arguments in ({"pattern": ""}, {"query": ""}):
        code = shared.code("canopy_query", **arguments)
        assert code == (-32602 if backend.is_embedded else -32000)
    found = shared.json("canopy_query", pattern="login", glob="")["handles"]
    assert bool(found) is backend.is_embedded


@pytest.mark.parametrize("text", ["what?", "don't", "src/auth.py", "foo.bar", "[x]", "a, b"])
def test_canopy_refuses_texts_with_marks_in_them(shared: Any, backend: Any, text: str) -> None:
    """Agents write such texts all the time: these calls fail with the real one only."""
    reply = shared.call("canopy_query", pattern=text)
    if backend.is_embedded:
        assert "result" in reply
    else:
        assert reply["error"]["code"] == -32000


def test_the_root_comes_with_the_server_or_with_each_call(
    start_mcp: Callable[..., Any], repo: Any
) -> None:
    server = start_mcp()
    for tool in ("canopy_status", "canopy_invalidate"):
        assert server.code(tool) == -32602
    assert server.code("canopy_query", pattern="login") == -32602
    assert server.json("canopy_query", symbol="logout", path=str(repo.root))["total_matches"] == 1
    assert "canopy_evidence_pack" in server.text("canopy_agent_readme")


def test_a_path_that_leads_elsewhere(
    start_mcp: Callable[..., Any], repo: Any, backend: Any, tmp_path: Path
) -> None:
    """canopy makes the folder, and an index in it; ours stays where it was started."""
    server = start_mcp("--root", str(repo.root))
    there = tmp_path / "not" / "there"
    inner = repo.root / "src"
    if backend.is_embedded:
        assert server.code("canopy_query", pattern="login", path="/") == -32602
        found = server.json("canopy_query", symbol="logout", path=str(inner))["handles"]
        assert found[0]["file_path"] == "src/auth.py"
        assert not (inner / ".canopy").exists()
    else:
        assert server.json("canopy_query", pattern="login", path=str(there))["handles"] == []
        assert (there / ".canopy" / "config.toml").exists()
        found = server.json("canopy_query", symbol="logout", path=str(inner))["handles"]
        assert found[0]["file_path"] == "auth.py"
        assert (inner / ".canopy").exists()
        assert (inner / ".gitignore").exists()
