"""canopy_query: what comes first when much is given, ids, counts, expressions."""

import hashlib
from typing import Any

import pytest

HANDLE = {"id", "file_path", "node_type", "span", "line_range", "token_count", "preview", "source"}


def names(found: Any) -> set[tuple[str, str]]:
    """Type and file of each handle; keyword tokens and chunks are one canopy's own."""
    return {
        (each["node_type"], each["file_path"])
        for each in found["handles"]
        if each["node_type"] != "chunk"
    }


def test_the_shape_of_a_result(shared: Any) -> None:
    found = shared.json("canopy_query", symbol="logout")
    assert set(found) == {"handles", "total_tokens", "truncated", "total_matches"}
    (handle,) = found["handles"]
    assert set(handle) == HANDLE
    assert (handle["file_path"], handle["node_type"]) == ("src/auth.py", "method")
    assert handle["line_range"] == [9, 10]
    assert handle["preview"] == "def logout(self): self.session = None"
    assert handle["source"] == "local"
    assert found["total_tokens"] == handle["token_count"] > 0
    assert (found["truncated"], found["total_matches"]) == (False, 1)


@pytest.mark.parametrize(
    ("arguments", "type_", "number"),
    [({"symbol": "login"}, "method", 6), ({"section": "Authentication"}, "section", 0),
     ({"section": "Guide"}, "section", 0), ({"pattern": "job-queue", "glob": "*.md"}, None, None),
     ({"pattern": "Call", "glob": "*.md"}, None, None), ({"symbol": "Store"}, "struct", 5),
     ({"symbol": "Engine"}, "struct", 5), ({"symbol": "runJob"}, "function", 3),
     ({"pattern": "secret"}, "chunk", 7)],
)  # fmt: skip
def test_an_id_is_made_of_path_type_and_span(
    shared: Any, arguments: dict[str, Any], type_: str | None, number: int | None
) -> None:
    """So both canopies give the same piece of a file the same id."""
    numbers = {"section": 0, "code_block": 1, "paragraph": 2, "function": 3, "class": 4,
               "struct": 5, "method": 6, "chunk": 7}  # fmt: skip
    handles = shared.json("canopy_query", **arguments)["handles"]
    assert handles
    for each in handles:
        span, kind = each["span"], numbers[each["node_type"]]
        text = f"{each['file_path']}:{kind}:{span['start']}-{span['end']}"
        assert each["id"] == hashlib.sha256(text.encode()).hexdigest()[:24]
        assert type_ in {None, each["node_type"]}
        assert number in {None, kind}


@pytest.mark.parametrize(
    ("path", "type_", "span", "lines"),
    [("docs/guide.md", "section", (0, 35), [1, 5]), ("docs/guide.md", "paragraph", (9, 34), [3, 4]),
     ("docs/guide.md", "section", (35, 101), [5, 12]),
     ("docs/guide.md", "paragraph", (54, 74), [7, 8]),
     ("docs/guide.md", "code_block", (75, 100), [9, 11]),
     ("src/auth.py", "class", (34, 223), [4, 10]), ("lib/store.go", "struct", (15, 45), [3, 3]),
     ("core/engine.rs", "function", (52, 93), [4, 4])],
)  # fmt: skip
def test_where_pieces_begin_and_end(
    shared: Any, path: str, type_: str, span: tuple[int, int], lines: list[int]
) -> None:
    """To the byte: canopy counts the last line of Markdown one too high."""
    words = ["login", "Guide", "queue", "Call", "Store", "start"]
    found = shared.json("canopy_query", patterns=words, limit=100)["handles"]
    there = {
        (each["node_type"], each["span"]["start"], each["span"]["end"], *each["line_range"])
        for each in found
        if each["file_path"] == path
    }
    assert (type_, *span, *lines) in there


def test_an_expression_wins_over_everything_but_the_limit(shared: Any) -> None:
    found = shared.json("canopy_query", query='(definition "Save")', symbol="logout", glob="*.md")
    assert names(found) == {("method", "lib/store.go")}
    found = shared.json("canopy_query", query='(children "AuthController")', limit=1)
    assert len(found["handles"]) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pattern": "Evict", "patterns": ["secret"]}, {("function", "lib/cache.go")}),
        ({"pattern": "Evict", "symbol": "Save"}, {("method", "lib/store.go")}),
        ({"symbol": "Save", "section": "Guide"}, {("method", "lib/store.go")}),
        ({"parent": "Store", "section": "Guide"}, {("method", "lib/store.go")}),
        ({"parent": "AuthController", "symbol": "login"}, {("method", "src/auth.py")}),
        ({"parent": "engine"}, {("function", "core/engine.rs")}),
        ({"symbol": "AUTHCONTROLLER"}, {("class", "src/auth.py")}),
        ({"symbol": "check"}, {("function", "src/auth.py")}),
        ({"symbol": "check", "kind": "definition"}, set()),
        ({"symbol": "check_password", "kind": "reference"}, {("method", "src/auth.py")}),
        ({"symbol": "runJob", "kind": "reference"}, {("method", "web/jobs.ts")}),
        ({"section": "authent"}, {("section", "docs/guide.md")}),
        ({"pattern": "hexdigest runJob"}, set()),
        ({"patterns": ["hexdigest", "Evict"]},
         {("function", "src/auth.py"), ("function", "lib/cache.go")}),
        ({"patterns": ["hexdigest", "encode"], "match": "all"}, {("function", "src/auth.py")}),
        ({"patterns": ["hexdigest", "Evict"], "match": "all"}, set()),
        ({"pattern": "login", "glob": "docs/*"},
         {("section", "docs/guide.md"), ("paragraph", "docs/guide.md"),
          ("code_block", "docs/guide.md")}),
        ({"query": '(union (definition "Open") (code "Evict"))'},
         {("function", "lib/store.go"), ("function", "lib/cache.go")}),
        ({"query": '(intersect (grep "login") (section "auth"))'}, {("section", "docs/guide.md")}),
        ({"query": '(in-file "lib/*" (grep "key"))'},
         {("method", "lib/store.go"), ("function", "lib/cache.go")}),
        ({"query": '(children-named "AuthController" "logout") words'},
         {("method", "src/auth.py")}),
    ],
)  # fmt: skip
def test_what_is_searched_for(
    shared: Any, arguments: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    assert names(shared.json("canopy_query", **arguments)) == expected


def test_references_are_listed_by_an_expression_only(shared: Any) -> None:
    found = shared.json("canopy_query", query='(references "check_password")')
    (reference,) = found["ref_handles"]
    assert found["handles"] == []
    assert set(reference) == {
        "file_path", "span", "line_range", "name", "qualifier", "ref_type", "source_handle",
        "preview",
    }  # fmt: skip
    assert (reference["name"], reference["ref_type"]) == ("check_password", "call")
    assert len(reference["source_handle"]) == 24


def test_values_of_the_wrong_type_count_as_not_given(shared: Any) -> None:
    usual = shared.json("canopy_query", pattern="login")["total_matches"]
    odd = {"limit": -3, "glob": 7, "kind": "odd", "match": [], "path": 5, "symbol": {}}
    assert shared.json("canopy_query", pattern="login", **odd)["total_matches"] == usual > 1
    assert shared.json("canopy_query", patterns=["login", 3, None])["total_matches"] == usual
    assert shared.json("canopy_query", pattern="login", limit=1.5)["total_matches"] == usual


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_what_the_limit_cuts_does_not_count(shared: Any, limit: int) -> None:
    found = shared.json("canopy_query", pattern="login", limit=limit)
    assert (len(found["handles"]), found["total_matches"], found["truncated"]) == (
        limit, limit, False,
    )  # fmt: skip


def test_a_keyword_is_a_symbol_of_canopys_and_not_of_ours(shared: Any, backend: Any) -> None:
    found = shared.json("canopy_query", pattern="function", glob="web/*")["handles"]
    tokens = [each for each in found if each["preview"] == "function"]
    assert bool(tokens) is not backend.is_embedded


def test_code_outside_of_symbols_is_found_by_ours_only(shared: Any, backend: Any) -> None:
    found = shared.json("canopy_query", pattern="hashlib", glob="src/auth.py")["handles"]
    assert ("chunk" in {each["node_type"] for each in found}) is backend.is_embedded
