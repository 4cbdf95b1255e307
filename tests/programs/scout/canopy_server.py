"""A small MCP server over stdio with canopy's two main tools, on a fixed index of two files.

`--fail NAME` makes a tool fail, `--empty` makes every evidence pack empty.
"""

import json
import sys
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

HANDLE = "h0123456789abcdef01234567"
OTHER = "h89abcdef0123456789abcdef"
CONTENT = {
    HANDLE: "class AuthMiddleware:\n    def __call__(self, request):\n        check(request)\n",
    OTHER: "class JobQueue:\n    jobs = []\n",
}
server = MCPServer("canopy")


@server.tool()
def canopy_evidence_pack(patterns: list[str], match: str = "any", max_handles: int = 8) -> str:
    """Ranked handles."""
    fail("canopy_evidence_pack")
    handles = [
        {"id": HANDLE, "file_path": "shop/auth.py", "line_range": [2, 4], "score": 0.9},
        {"id": OTHER, "file_path": "shop/jobs.py", "line_range": [1, 2], "score": 0.4},
    ]
    handles = [] if "--empty" in sys.argv else handles
    guidance: dict[str, Any] = {
        "recommended_action": "expand_then_answer" if handles else "refine_query",
        "suggested_expand_count": len(handles[:1]),
        "max_additional_queries": 0 if handles else 2,
    }
    suggested = [handle["id"] for handle in handles]
    return json.dumps({"handles": handles, "expand_suggestion": suggested, "guidance": guidance})


@server.tool()
def canopy_expand(handle_ids: list[str]) -> str:
    """The text of handles."""
    fail("canopy_expand")
    return "\n\n".join(f"// {id}\n{CONTENT[id]}" for id in handle_ids)


def fail(tool: str) -> None:
    if tool in sys.argv:
        raise ToolError("the index is broken")


if __name__ == "__main__":
    server.run("stdio")
