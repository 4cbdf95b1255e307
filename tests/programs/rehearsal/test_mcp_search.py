"""Searches with the user's own servers: which tool is asked, with what, and what is read of it."""

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rehearsal.thinking import mcp_search
from swarm_bench.text.terms import terms_of

TERMS = terms_of("Where is the login?")
TEXT = {"type": "string"}


def tool(name: str, **required: dict[str, str]) -> ToolSpec:
    schema = {"properties": required, "required": list(required)}
    return ToolSpec(name=name, description="", schema=schema)


def test_a_search_that_needs_nothing_unknown_comes_first() -> None:
    tenants = tool("mcp__s__search_code", query=TEXT, tenant=TEXT)
    plain = tool("mcp__s__search_names", query=TEXT, repo=TEXT)
    assert mcp_search.choose_tools([tenants, plain]) == [plain]
    assert mcp_search.fill_arguments(plain, TERMS, "/w") == {"query": "login", "repo": "/w"}
    assert mcp_search.choose_tools([tenants]) == [tenants]


def test_no_path_is_made_up() -> None:
    of_a_file = tool("mcp__s__find_declaration", regex=TEXT, file_path=TEXT)
    assert mcp_search.choose_tools([of_a_file]) == []
    everywhere = tool("mcp__s__search_code", query=TEXT, project_root=TEXT)
    assert mcp_search.fill_arguments(everywhere, TERMS, None) == {
        "query": "login",
        "project_root": ".",
    }


def test_a_tool_that_only_takes_a_question_searches() -> None:
    graph = tool("mcp__s__codegraph_explore", query=TEXT)
    assert mcp_search.choose_tools([graph]) == [graph]


def test_lines_are_read_in_whatever_form_they_come() -> None:
    quoted = '<file path="/w/a.py">\n\n  7 def login():\n</file>'
    assert mcp_search.hits_in(quoted, "/w") == "a.py:7:def login():"
    wrapped = '{"result": "[{\\"file\\": \\"a.py\\", \\"line\\": 7, \\"text\\": \\"login\\"}]"}'
    assert mcp_search.hits_in(wrapped, "/w") == "a.py:7:login"
    assert mcp_search.hits_in("/etc/passwd:1:login", None) == ""
