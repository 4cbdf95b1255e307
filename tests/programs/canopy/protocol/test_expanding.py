"""canopy_expand: ids in both forms, order, failures, files that changed."""

from typing import Any


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("// ")]


def test_both_forms_of_an_id(mcp: Any) -> None:
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    expected = f"// h{bare}\ndef logout(self):\n        self.session = None"
    for each in (bare, f"h{bare}"):
        reply = mcp.call("canopy_expand", handle_ids=[each])["result"]
        assert reply["content"] == [{"type": "text", "text": expected}]
        assert reply["failed_ids"] == []


def test_an_id_that_is_given_twice(mcp: Any) -> None:
    """Each spelling once: the two forms of one id are two."""
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    ids = [bare, bare, f"h{bare}", 5]
    assert heads(mcp.text("canopy_expand", handle_ids=ids)) == [f"// h{bare}"] * 2


def test_what_this_server_has_shown_comes_first(mcp: Any) -> None:
    found = mcp.json("canopy_query", parent="AuthController")["handles"]
    login, logout = (each["id"] for each in found)
    ids = [f"h{logout}", f"h{login}"]
    assert heads(mcp.text("canopy_expand", handle_ids=ids)) == [f"// {each}" for each in ids]
    # Shown are ids with their `h`; one copied from a query counts as unknown.
    text = mcp.text("canopy_expand", handle_ids=[login, f"h{logout}"])
    assert heads(text) == [f"// h{logout}", f"// h{login}"]


def test_some_fail(mcp: Any) -> None:
    bare = mcp.json("canopy_query", symbol="logout")["handles"][0]["id"]
    unknown = ["h" + "0" * 24, "nonsense"]
    reply = mcp.call("canopy_expand", handle_ids=[unknown[0], bare, unknown[1]])["result"]
    text = reply["content"][0]["text"]
    assert text.endswith(f"\n\n// Failed to expand: {', '.join(unknown)}")
    assert reply["failed_ids"] == unknown


def test_a_file_that_changed_cannot_be_expanded(mcp: Any, repo: Any) -> None:
    pack = mcp.json("canopy_evidence_pack", pattern="login", max_per_file=1)
    of_file = {each["file_path"]: each["id"] for each in pack["handles"]}
    repo.edit("src/auth.py", "changed = True\n")
    reply = mcp.call("canopy_expand", handle_ids=list(of_file.values()))["result"]
    assert reply["failed_ids"] == [of_file["src/auth.py"]]
    assert heads(reply["content"][0]["text"])[0] == f"// {of_file['docs/guide.md']}"
    assert mcp.code("canopy_expand", handle_ids=[of_file["src/auth.py"]]) == -32000


def test_a_whole_file_by_an_expression(shared: Any, backend: Any) -> None:
    (found,) = shared.json("canopy_query", query='(file "lib/cache.go")')["handles"]
    assert (found["node_type"], found["line_range"][0]) == ("chunk", 1)
    reply = shared.call("canopy_expand", handle_ids=[found["id"]])
    # canopy shows such a handle and does not store it.
    assert ("result" in reply) is backend.is_embedded
