"""In which form a placebo of a tool answers."""

from typing import Any

import pytest
import regex

from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.programs.canopy.mcp.server import TOOLS
from swarm_bench.retrieval.placebo.forms import GREP_LINE, choose_line, make_placebo_tool


def tool(name: str, *arguments: str, description: str = "") -> ToolSpec:
    schema: dict[str, Any] = {"type": "object", "required": list(arguments)}
    schema["properties"] = {argument: {"type": "string"} for argument in arguments}
    return ToolSpec(name=name, description=description, schema=schema)


def search(name: str, **reading: Any) -> SearchTool:
    return SearchTool(tool=name, arguments={"q": "{{ query }}"}, **reading)


def test_tools_of_canopy_answer_as_canopy_does() -> None:
    specs = [ToolSpec(name=one["name"], description="", schema=one["inputSchema"]) for one in TOOLS]
    assert {spec.name: make_placebo_tool(spec, None).form for spec in specs} == {
        "canopy_index": "status",
        "canopy_query": "query",
        "canopy_evidence_pack": "pack",
        "canopy_expand": "expand",
        "canopy_status": "status",
        "canopy_invalidate": "done",
        "canopy_agent_readme": "readme",
    }


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        (tool("search_code", "query"), "lines"),
        (tool("search_code", "query", description="Returns JSON."), "json"),
        (tool("read_file", "path"), "file"),
        (tool("list_directory", "path"), "paths"),
        (tool("write_file", "path", "content"), "done"),
        (tool("explain", "symbol"), "lines"),
    ],
)
def test_other_tools_answer_by_what_they_are_for(spec: ToolSpec, form: str) -> None:
    assert make_placebo_tool(spec, None).form == form


@pytest.mark.parametrize(
    ("json_path", "keys", "path_key"),
    [
        ("$.results[*].file", ("results",), "file"),
        ("$[*]", (), "path"),
        ("$.data.hits[*]", ("data", "hits"), "path"),
        ("$..path", (), "path"),  # more than we can answer: a list
    ],
)
def test_a_mode_files_own_search_is_answered_as_it_is_read(
    json_path: str, keys: tuple[str, ...], path_key: str
) -> None:
    placebo = make_placebo_tool(tool("ask", "q"), search("ask", json_path=json_path))
    assert (placebo.form, placebo.keys, placebo.path_key) == ("json", keys, path_key)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?P<path>[^:\n]+):(?P<line>\d+):",
        r"`(?P<path>[^`:]+):(?P<line>\d+)-(?P<last>\d+)`",
        r"^(?P<path>\S+):(?P<line>\d+)-(?P<last>\d+)$",
        r"^(?P<path>\S+\.\w+)$",
    ],
)
def test_places_are_written_so_that_the_mode_files_pattern_reads_them(pattern: str) -> None:
    text = choose_line(pattern).format(path="a/b.py", first=3, last=9, text="x")
    match = regex.compile(pattern, regex.MULTILINE).search(text)
    assert match
    assert match["path"] == "a/b.py"
    assert match.groupdict().get("line", "3") == "3"


def test_a_pattern_that_nothing_of_ours_fits_is_answered_as_grep_does() -> None:
    assert choose_line(r"<file name=\"(?P<path>[^\"]+)\"") == GREP_LINE
