"""Tools as servers in the wild describe them."""

from dataclasses import replace
from typing import Any

import pytest

from swarm_bench.core.ports import ToolSpec
from swarm_bench.text import tool_roles
from swarm_bench.text.terms import terms_of

TERMS = terms_of("How does authentication work? Show the token.")


def tool(said: str = "", required: tuple[str, ...] = (), **properties: Any) -> ToolSpec:
    given = {
        name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()
    }
    return ToolSpec(
        name="any", description=said, schema={"properties": given, "required": list(required)}
    )


@pytest.mark.parametrize(
    ("name", "spec", "role"),
    [
        (
            "search_files",
            tool(required=("path", "pattern"), path="string", pattern="string"),
            "search",
        ),
        ("searchCode", tool(required=("query",), query="string", repo="string"), "search"),
        ("grep", tool(required=("regex",), regex="string"), "search"),
        (
            "find_symbol",
            tool(required=("query", "limit"), query="string", limit="integer"),
            "search",
        ),
        ("search_code", tool(required=("query", "tenant"), query="string", tenant="string"), None),
        ("search_code", tool(number="integer"), None),
        ("search_web", tool(required=("query",), query="string"), None),
        ("read_text_file", tool(required=("path",), path="string"), "read"),
        ("get_file_contents", tool(required=("path",), path="string"), "read"),
        ("read_multiple_files", tool(required=("paths",), paths="array"), None),
        ("read_media_file", tool(required=("path",), path="string"), None),
        ("git_log", tool(required=("repo_path",), repo_path="string"), "overview"),
        ("directory_tree", tool(required=("path",), path="string"), "overview"),
        (
            "git_branch",
            tool(required=("repo_path", "kind"), repo_path="string", kind="string"),
            None,
        ),
        ("status", tool(required=("of",), of={"type": "string", "default": "all"}), "overview"),
        ("codegraph_explore", tool(required=("query",), query="string"), "search"),
        ("ask_graph", tool(required=("question",), question="string"), "search"),
        ("ask", tool(required=("question",), question="string"), "search"),
        ("ask_expert", tool(required=("question",), question="string"), None),
        ("log_message", tool(required=("query",), query="string"), None),
        ("search_log", tool(required=("query",), query="string"), "search"),
        ("library_docs", tool(required=("query",), query="string"), None),
        (
            "find_symbol",
            tool(required=("name_path_pattern",), name_path_pattern="string"),
            "search",
        ),
        ("search", tool(required=("query", "repo"), query="string", repo="string"), "search"),
        (
            "find_code",
            tool(required=("project_folder", "pattern"), project_folder="string", pattern="string"),
            "search",
        ),
        (
            "find_declaration",
            tool(
                required=("relative_path", "regex"),
                relative_path={"type": "string", "description": "The source file to look in."},
                regex="string",
            ),
            None,
        ),
        ("get_file_summary", tool(required=("file_path",), file_path="string"), None),
        ("get_diagnostics_for_file", tool(required=("path",), path="string"), None),
        (
            "get_file_content",
            tool(
                required=("path",),
                path="string",
                start_line={"anyOf": [{"type": "integer"}, {"type": "null"}]},
            ),
            "read",
        ),
        ("write_file", tool(required=("path",), path="string"), "change"),
        ("search_and_replace", tool(required=("query",), query="string"), "change"),
        ("git_checkout", tool(required=("repo_path",), repo_path="string"), "change"),
        ("get-env", tool(), None),
        ("echo", tool(required=("message",), message="string"), None),
    ],
)
def test_a_role_is_told_from_name_and_schema(name: str, spec: ToolSpec, role: str | None) -> None:
    assert tool_roles.role(name, spec) == role


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": []}, {"properties": {"query": 7}, "required": "query"}, {"required": [{}]}],
)
def test_any_schema_is_looked_at(schema: dict[str, Any]) -> None:
    spec = ToolSpec(name="search", description="", schema=schema)
    assert tool_roles.role("search", spec) in ("search", None)


def test_a_search_is_asked_in_the_words_that_it_takes() -> None:
    words = tool_roles.search_arguments(tool(query="string"), TERMS, "/w")
    assert words == {"query": "authentication token"}
    listed = tool_roles.search_arguments(tool(query="array"), TERMS, "/w")
    assert listed == {"query": ["authentication", "token"]}
    expression = tool_roles.search_arguments(tool(pattern="string"), TERMS, "/w")
    assert expression["pattern"] == "authentication|auth|authent|token"
    glob = tool_roles.search_arguments(
        tool("Takes glob-style patterns.", pattern="string"), TERMS, "/w"
    )
    assert glob["pattern"] == "**/*{authentication,auth,authent,token}*"


def test_a_switch_is_no_pattern_and_says_that_there_is_an_expression() -> None:
    either = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    spec = tool("Supports a glob file_pattern.", pattern="string", regex=either)
    spec = replace(spec, name="mcp__s__search_code_advanced")
    asked = tool_roles.search_arguments(spec, TERMS, "/w")
    assert asked == {"pattern": "authentication|auth|authent|token", "regex": True}
    assert tool_roles.query(tool(regex=either)) is None


def test_a_glob_is_given_no_word() -> None:
    spec = tool(required=("text", "glob"), text="string", glob="string")
    asked = tool_roles.search_arguments(spec, TERMS, "/w")
    assert asked == {"text": "authentication token", "glob": "**/*"}
    names = tool(glob="string")
    glob = "**/*{authentication,auth,authent,token}*"
    assert tool_roles.search_arguments(names, TERMS, "/w") == {"glob": glob}


def test_a_piece_of_syntax_is_asked_for_by_a_single_name() -> None:
    spec = tool("Finds code that matches an AST pattern.", pattern="string")
    assert tool_roles.takes_one_name(spec)
    assert tool_roles.search_arguments(spec, TERMS, "/w") == {"pattern": "auth"}


def test_of_a_servers_searches_the_one_for_questions_is_best() -> None:
    names = tool(query="string")
    questions = tool(question="string", query="string")
    expressions = tool(pattern="string")
    assert tool_roles.rate_tool("query_graph", questions) > tool_roles.rate_tool(
        "search_symbols", names
    )
    assert tool_roles.rate_tool("search_codebase", names) > tool_roles.rate_tool(
        "find_code", expressions
    )


def test_a_place_and_a_limit_are_given_where_they_are_required() -> None:
    spec = tool(
        required=("query", "repo_path", "max_results"),
        query="string",
        repo_path="string",
        max_results="integer",
        path="string",
    )
    given = tool_roles.search_arguments(spec, TERMS, "/w")
    assert given == {"query": "authentication token", "repo_path": "/w", "max_results": 10}


def test_code_comes_before_names_and_what_is_outdated_last() -> None:
    assert tool_roles.rate_tool("search_code", tool()) > tool_roles.rate_tool(
        "search_files", tool()
    )
    assert tool_roles.rate_tool("structure", tool()) > tool_roles.rate_tool("log", tool())
    assert tool_roles.rate_tool("read_text_file", tool("DEPRECATED")) < tool_roles.rate_tool(
        "read", tool()
    )
