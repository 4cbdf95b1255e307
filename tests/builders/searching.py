"""A server of one's own with one tool that searches, and the mode that starts it."""

import json
import sys
from pathlib import Path

_PROGRAM = """
import json, pathlib, re, sys
TOOL = {"name": "@TOOL@", "description": "", "inputSchema": {"type": "object",
        "properties": {"query": {"type": "string"}}, "required": ["query"]}}
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    method, params = request["method"], request.get("params") or {}
    result = {}
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "searching", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    elif method == "tools/call":
        query = params["arguments"]["query"]
@ANSWER@
        result = {"content": [{"type": "text", "text": text}]}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def searching_mode(folder: Path, mode: str, answer: str, tool: str = "search") -> str:
    """Write a server and its mode file, and return how the mode is named; `answer` are lines of
    Python that make a `text` of the `query`."""
    lines = "\n".join(f"        {line}" for line in answer.strip().splitlines())
    program = _PROGRAM.replace("@TOOL@", tool).replace("@ANSWER@", lines)
    (folder / "server.py").write_text(program)
    server = {"command": sys.executable, "args": ["-I", "{{ mode_folder }}/server.py"]}
    (folder / f"{mode}.json").write_text(json.dumps({"mcpServers": {mode: server}}))
    return f"./{mode}.json"
