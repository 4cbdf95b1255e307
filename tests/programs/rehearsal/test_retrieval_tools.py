import json
from pathlib import Path

import pytest

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.rehearsal.thinking import retrieval_tools

PACK = '{"handles":[],"guidance":{}}'


@pytest.mark.parametrize(
    "name",
    [
        "mcp__canopy__canopy_evidence_pack",
        "mcp_canopy_canopy_evidence_pack",
        "canopy_canopy_evidence_pack",
        "canopy_evidence_pack",
    ],
)
def test_canopy_is_known_under_every_spelling(name: str) -> None:
    routes = retrieval_tools.map_offered_tools([ToolSpec(name=name, description="")])
    assert list(routes) == ["mcp__canopy__canopy_evidence_pack"]
    assert routes["mcp__canopy__canopy_evidence_pack"].build_call({"a": 1}) == (name, {"a": 1})


def test_another_servers_name_is_kept() -> None:
    name = "mcp__canopy-service__canopy_expand"
    assert list(retrieval_tools.map_offered_tools([ToolSpec(name=name, description="")])) == [name]


def test_hidden_tools_are_named_in_the_prompt() -> None:
    names = ["mcp__canopy__canopy_evidence_pack", "mcp__canopy__canopy_expand"]
    told = "Tools:\n" + "\n".join([*names, "mcp__canopy__canopy_status"])
    assert retrieval_tools.find_mentioned_tools([told]) == names
    assert retrieval_tools.find_mentioned_tools(["Start with canopy_evidence_pack."]) == []


@pytest.mark.parametrize(
    ("program", "finder", "door"),
    [
        ("qwen", "tool_search", "tool_call"),
        ("claude-deferred", "ToolSearch", None),
        ("claude", None, None),
    ],
)
def test_tools_that_lead_to_hidden_ones(program: str, finder: str | None, door: str | None) -> None:
    text = (Path(__file__).parent / "tools" / f"{program}.json").read_text("utf-8")
    tools = [ToolSpec(**tool) for tool in json.loads(text)]
    found = retrieval_tools.finder(tools)
    assert (found and found.name) == finder
    through = retrieval_tools.door(tools)
    assert (through and through.name) == door
    if found:
        given = retrieval_tools.fill_finder(found, ["a", "b"])
        assert given["query"] == "select:a,b"
        assert set(found.schema["required"]) <= set(given)


@pytest.mark.parametrize(
    "text",
    [
        PACK,
        f"<untrusted_context>\n{PACK}\n</untrusted_context>",
        f"Wall time: 0.2604 seconds\nOutput:\n{PACK}",
        f"Wall time: 0.2604 seconds\nOutput:{PACK}",
        f"{PACK}\n\n<system-reminder>\n9 tokens left\n</system-reminder>",
        f"Result of the tool: {PACK} (end)",
    ],
)
def test_what_a_program_writes_around_a_servers_answer(text: str) -> None:
    assert retrieval_tools.text_of(text) == PACK


def test_an_expanded_file_of_json_stays_whole() -> None:
    text = '// h0123456789abcdef01234567\n{"a": 1}'
    assert retrieval_tools.text_of(f"<untrusted_context>\n{text}\n</untrusted_context>") == text


# What searches contents, finds names, reads, and runs commands.
KINDS = {
    "claude": (None, None, "Read", "Bash"),
    "claude-search": ("Grep", "Glob", "Read", None),
    "claude-deferred": (None, None, "Read", "Bash"),
    "codex": (None, None, None, "exec_command"),
    "gemini": ("grep_search", "glob", "read_file", "run_shell_command"),
    "opencode": ("grep", "glob", "read", "bash"),
    "qwen": ("grep_search", "glob", "read_file", "run_shell_command"),
}


def _tools(program: str) -> list[ToolSpec]:
    text = (Path(__file__).parent / "tools" / f"{program}.json").read_text("utf-8")
    return [ToolSpec(**tool) for tool in json.loads(text)]


@pytest.mark.parametrize("program", KINDS)
def test_tools_of_real_programs(program: str) -> None:
    tools = _tools(program)
    found = [
        kind(tools)
        for kind in (
            retrieval_tools.content_search,
            retrieval_tools.name_search,
            retrieval_tools.file_read,
            retrieval_tools.shell,
        )
    ]
    assert tuple(tool and tool.name for tool in found) == KINDS[program]


@pytest.mark.parametrize(
    ("name", "argument"),
    [("web_search", "query"), ("mcp__x__grep", "pattern"), ("search", "pattern")],
)
def test_what_is_no_search_of_files(name: str, argument: str) -> None:
    tool = ToolSpec(name=name, description="Finds.", schema={"properties": {argument: {}}})
    assert retrieval_tools.content_search([tool]) is None


def test_what_a_schema_requires_is_given() -> None:
    properties = {
        "cmd": {"type": "string"},
        "description": {"type": "string"},
        "is_background": {"type": "boolean"},
        "max": {"type": "integer", "default": 5},
        "other": {"type": "string"},
    }
    schema = {"properties": properties, "required": ["cmd", "is_background", "max"]}
    tool = ToolSpec(name="t", description="", schema=schema)
    assert retrieval_tools.fill_required(tool, {"cmd": "ls"}, "List files") == {
        "cmd": "ls",
        "is_background": False,
        "max": 5,
        "description": "List files",
    }
