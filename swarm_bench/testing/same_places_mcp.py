"""A stdio MCP server that answers every question with the same places, whatever was asked.

    python -I -m swarm_bench.testing.same_places_mcp [--tools search|canopy] PATH:FIRST-LAST ...

    search    one tool, `search_code(query)`, that answers with lines `path:number:text`
    canopy    canopy's two tools: a pack whose guidance asks for no more, and its expansion

It is a placebo: a comparison in which it does better than no tool at all measures something else
than retrieval.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_bench.testing.mcp_loop import serve, write_text

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_TOOLS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "search": {"search_code": ("Searches the code for words.", {"query": _TEXT})},
    "canopy": {
        "canopy_evidence_pack": ("Finds places in the code by words.", {"patterns": _TEXTS}),
        "canopy_expand": ("Gives the text of the places.", {"handle_ids": _TEXTS}),
    },
}


@dataclass(frozen=True, kw_only=True)
class Span:
    """Lines of a file below the current folder."""

    path: str
    first: int
    last: int

    @property
    def handle(self) -> str:
        """An id of canopy's shape."""
        text = f"{self.path}:{self.first}-{self.last}"
        return "h" + hashlib.sha256(text.encode()).hexdigest()[:24]

    def lines(self) -> list[str]:
        """Read the text as it is in the file now."""
        text = Path(self.path).read_text(encoding="utf-8", errors="replace")
        return text.split("\n")[self.first - 1 : self.last]


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", choices=sorted(_TOOLS), default="search")
    parser.add_argument("spans", metavar="PATH:FIRST-LAST", type=_span, nargs="+")
    options = parser.parse_args()

    def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "canopy_evidence_pack":
            return write_text(_pack(options.spans))
        if name == "canopy_expand":
            handle_ids = arguments.get("handle_ids", [])
            spans = [span for span in options.spans if span.handle in handle_ids]
            return write_text("\n\n".join("\n".join([f"// {s.handle}", *s.lines()]) for s in spans))
        return write_text("\n".join(f"{s.path}:{s.first}:{s.lines()[0]}" for s in options.spans))

    tools = [_tool(name, *described) for name, described in _TOOLS[options.tools].items()]
    serve("same-places", tools, call)


def _tool(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "inputSchema": schema}


def _pack(spans: Sequence[Span]) -> str:
    handles = [
        {"id": span.handle, "file_path": span.path, "line_range": [span.first, span.last]}
        for span in spans
    ]
    guidance = {
        "recommended_action": "expand_then_answer",
        "suggested_expand_count": len(spans),
        "max_additional_queries": 0,
    }
    suggested = [span.handle for span in spans]
    return json.dumps({"handles": handles, "expand_suggestion": suggested, "guidance": guidance})


def _span(word: str) -> Span:
    """Parse `path:first-last`. Raises `ValueError`."""
    path, _, lines = word.rpartition(":")
    first, last = map(int, lines.split("-"))
    return Span(path=path, first=first, last=last)


if __name__ == "__main__":
    main()
