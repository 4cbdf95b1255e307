"""The seven tools as `tools/list` describes them, with canopy's names and schemas."""

from typing import Any

_PATH = {"type": "string", "description": "Repository root; the server's own when left out"}
_SEARCH: dict[str, Any] = {
    "path": _PATH,
    "pattern": {"type": "string", "description": "Words that must all occur in a piece of a file"},
    "patterns": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Several patterns, joined as `match` says",
    },
    "symbol": {"type": "string", "description": "Name of a function, class, struct or method"},
    "section": {"type": "string", "description": "Part of a heading"},
    "parent": {"type": "string", "description": "Name of the class or type around the symbol"},
    "kind": {
        "type": "string",
        "enum": ["definition", "reference", "any"],
        "description": "What to find of the symbol: where it is defined, or where it is used",
    },
    "glob": {"type": "string", "description": "Only files whose path fits, such as src/**/*.py"},
    "match": {
        "type": "string",
        "enum": ["any", "all"],
        "description": "Whether any or all of the patterns must occur",
    },
    "query": {
        "type": "string",
        "description": 'An expression such as (in-file "src/**" (grep "x"))',
    },
}
_LIMIT = {"type": "integer", "default": 16, "description": "The most handles to return"}


def _tool(
    name: str, description: str, properties: dict[str, Any], required: tuple[str, ...] = ()
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if properties:  # canopy says nothing at all of a tool without parameters
        schema["required"] = list(required)
    return {"name": name, "description": description, "inputSchema": schema}


TOOLS = [
    _tool(
        "canopy_index",
        "Index the files that fit a glob. Searching indexes by itself; this is rarely needed.",
        {"path": _PATH, "glob": {"type": "string", "description": "Which files"}},
        ("glob",),
    ),
    _tool(
        "canopy_query",
        "Find pieces of files and get handles with previews, without their text.",
        {**_SEARCH, "limit": _LIMIT},
    ),
    _tool(
        "canopy_evidence_pack",
        "Find the best pieces of files for a question: ranked handles, grouped by file, with"
        " advice on how many to expand. Start here.",
        {
            **_SEARCH,
            "max_handles": {"type": "integer", "default": 8, "description": "From 1 to 64"},
            "max_per_file": {"type": "integer", "default": 2, "description": "From 1 to 8"},
            "plan": {
                "type": "boolean",
                "description": "Search in several steps; only a service does that",
            },
        },
    ),
    _tool(
        "canopy_expand",
        "Get the text of handles.",
        {
            "path": _PATH,
            "handle_ids": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Ids from a query or an evidence pack",
            },
        },
        ("handle_ids",),
    ),
    _tool("canopy_status", "Tell what is indexed.", {"path": _PATH}),
    _tool(
        "canopy_invalidate",
        "Forget indexed files, so that they are read again.",
        {"path": _PATH, "glob": {"type": "string", "description": "Which files; all if left out"}},
    ),
    _tool("canopy_agent_readme", "How to use these tools.", {}),
]
