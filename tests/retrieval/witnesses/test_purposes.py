"""Tools as servers in the wild describe them: whether a call of one is retrieval."""

import pytest

from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import Mode, SearchTool
from swarm_bench.programs.canopy.mcp.server import TOOLS
from swarm_bench.retrieval.witnesses.purposes import find_purpose

MODE = Mode(name="m", source="x")


def tool(name: str, *arguments: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in arguments}
    return ToolSpec(name=name, description="", schema={"properties": properties})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (tool("codegraph_explore", "query"), "search"),
        (tool("orient", "question"), "search"),
        (tool("find_symbol", "name_path_pattern"), "search"),
        (tool("search", "pattern", "path"), "search"),
        (tool("extract_code", "path", "files"), "read"),
        (tool("read_multiple_files", "paths"), "read"),
        (tool("get_symbol_callers", "symbol"), "read"),
        (tool("get_symbol_body", "file_path", "symbol_name"), "read"),
        (tool("git_status", "repo_path"), "other"),
        (tool("index_codebase", "path"), "other"),
        (tool("get_watch_status"), "other"),
        (tool("build_deep_index"), "other"),
        (tool("initial_instructions"), "other"),
        (tool("write_file", "path", "content"), "other"),
        (tool("set_project_path", "path"), "other"),
        (tool("list_directory", "path"), None),
        (tool("git_log", "repo_path"), None),
        (tool("get_impact_radius", "target"), None),
        (tool("search_and_replace", "query"), None),
        (tool("status", "query"), None),
        (tool("ask_human", "question"), None),
        (tool("ask_user", "question"), None),
        (tool("ask_followup_question", "question"), None),
        (tool("ask", "question", "content"), None),
        (tool("log_message", "query"), None),
        (tool("web_search", "query"), None),
        (tool("search_docs", "query"), None),
        (tool("resolve_library_id", "query"), None),
        (tool("vote", "keyword"), None),
        (tool("report_issue", "query"), None),
        (tool("notify_team", "query"), None),
        (tool("open_dashboard", "name"), None),
    ],
    ids=lambda value: value.name if isinstance(value, ToolSpec) else str(value),
)
def test_a_purpose_is_told_from_name_and_schema(spec: ToolSpec, expected: str | None) -> None:
    assert find_purpose(MODE, spec) == expected


@pytest.mark.parametrize(
    "spec",
    [
        tool("ask_codebase", "question"),
        tool("ask_code", "query"),
        tool("ask_graph", "question"),
        tool("askRepo", "question"),
        tool("ask_question", "repoName", "question"),
        tool("ask", "question", "path"),
        tool("codegraph_explore", "query"),
        tool("query_graph", "question"),
        tool("orient", "question"),
        tool("search_symbols", "query"),
        tool("search_code", "path", "query"),
        tool("grep", "pattern", "paths"),
        tool("search_nodes_tool", "query"),
        tool("search_codebase", "query", "path", "top_k"),
        tool("search_code_advanced", "pattern", "regex"),
        tool("find_files", "pattern"),
        tool("find_symbol", "name_path_pattern", "substring_matching"),
        tool("find_referencing_symbols", "name_path", "relative_path"),
        tool("advanced-search", "pattern", "path"),
        tool("find_code", "project_folder", "pattern"),
        tool("search", "query", "repo"),
        tool("search_log", "query"),
        tool("context", "query"),
    ],
    ids=lambda spec: spec.name,
)
def test_questions_to_the_code_are_searches(spec: ToolSpec) -> None:
    assert find_purpose(MODE, spec) == "search"


def test_canopys_own_tools_follow_from_the_same_rules() -> None:
    specs = [ToolSpec(name=one["name"], description="", schema=one["inputSchema"]) for one in TOOLS]
    assert {spec.name: find_purpose(MODE, spec) for spec in specs} == {
        "canopy_query": "search",
        "canopy_evidence_pack": "search",
        "canopy_expand": "read",
        "canopy_index": "other",
        "canopy_status": "other",
        "canopy_invalidate": "other",
        "canopy_agent_readme": "other",
    }


def test_the_file_of_a_mode_has_the_first_word() -> None:
    named = MODE.model_copy(update={"search": SearchTool(tool="index_peek", arguments={})})
    assert find_purpose(MODE, tool("index_peek", "of")) == "other"
    assert find_purpose(named, tool("index_peek", "of")) == "search"
    assert find_purpose(named, tool("index_poke", "of")) == "other"
