"""How the placebo of a tool writes its answers: as the tool itself does, as far as that is known
without asking it."""

import re
from collections.abc import Mapping

from swarm_bench.core.ports import ToolSpec
from swarm_bench.core.session.experiment import SearchTool
from swarm_bench.retrieval.placebo.material import Form, PlaceboTool
from swarm_bench.text import tool_roles

GREP_LINE = "{path}:{first}: {text}"
_LINES = (
    GREP_LINE,
    "{path}:{first}:{text}",
    "{path}:{first}-{last}\n{text}",
    "`{path}:{first}-{last}`",
    "{path}:{first}",
    "{path}",
)
"""Ways to write a passage in a text with others, the most usual first."""
_EXAMPLE: Mapping[str, str | int] = {
    "path": "some/file.py",
    "first": 12,
    "last": 19,
    "text": "value = 1",
}
_CANOPY: Mapping[str, Form] = {
    "canopy_evidence_pack": "pack",
    "canopy_query": "query",
    "canopy_expand": "expand",
    "canopy_status": "status",
    "canopy_index": "status",
    "canopy_invalidate": "done",
    "canopy_agent_readme": "readme",
}
_BY_ROLE: Mapping[tool_roles.Role | None, Form] = {
    "read": "file",
    "overview": "paths",
    "change": "done",
}
_JSON_PATH = re.compile(r"\$(?P<keys>(?:\.\w+)*)(?:\[\*\])?(?:\.(?P<path>\w+))?")


def make_placebo_tool(tool: ToolSpec, search: SearchTool | None) -> PlaceboTool:
    """Make the placebo of a server's tool; `search` is the mode's own search."""
    searches = search is not None and search.tool == tool.name
    form = _CANOPY.get(tool.name)
    if form is None and not searches:
        form = _BY_ROLE.get(tool_roles.role(tool.name, tool))
    is_json = "json" in tool.description.lower() or bool(searches and search and search.json_path)
    keys, path_key = _parse_keys(search.json_path if searches and search else None)
    return PlaceboTool(
        name=tool.name,
        description=tool.description,
        schema=dict(tool.schema),
        form=form or ("json" if is_json else "lines"),
        line=choose_line(search.pattern if searches and search else None),
        keys=keys,
        path_key=path_key,
    )


def choose_line(pattern: str | None) -> str:
    """Choose how a passage is written so that a pattern of a mode file reads it; as grep does
    without a pattern, or when none of ours fits."""
    if pattern is None:
        return GREP_LINE
    import regex  # only for a mode that has one

    compiled = regex.compile(pattern, regex.MULTILINE)
    for line in _LINES:
        match = compiled.search(line.format(**_EXAMPLE))
        if match and match["path"] == _EXAMPLE["path"] and _reads_line(match.groupdict()):
            return line
    return GREP_LINE


def _reads_line(groups: Mapping[str, str | None]) -> bool:
    return groups.get("line", str(_EXAMPLE["first"])) == str(_EXAMPLE["first"])


def _parse_keys(json_path: str | None) -> tuple[tuple[str, ...], str]:
    """Return the keys that lead to the passages, and the key of a passage's path."""
    match = _JSON_PATH.fullmatch(json_path or "")
    if match is None:
        return (), "path"
    return tuple(match["keys"].split(".")[1:]), match["path"] or "path"
