"""The loop of the small MCP servers that tests start: they answer lines of stdin in order."""

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

Json = dict[str, Any]


def serve(
    name: str, tools: Sequence[Json], call: Callable[[str, Json], Json | None], version: str = "1"
) -> None:
    """Answer until the input ends. `call` gives the result of a tool; `None` for no answer."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        params = request.get("params") or {}
        result: Json | None = {}
        match request["method"]:
            case "initialize":
                result = {
                    "protocolVersion": params.get("protocolVersion", "2024-11-05"),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": name, "version": version},
                }
            case "tools/list":
                result = {"tools": tools}
            case "tools/call":
                result = call(params["name"], params.get("arguments") or {})
        if result is not None:
            answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def write_text(text: str, *, is_error: bool = False) -> Json:
    """Make the result of a tool that answers with a text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
