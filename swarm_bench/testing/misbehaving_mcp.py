"""A stdio MCP server that plays a fault, so that tests meet real servers that misbehave.

    python -I -m swarm_bench.testing.misbehaving_mcp FAULT

    fine                  everything works
    never-answers         reads, and says nothing
    never-answers-calls   greets and lists its tools, and says nothing to a call of one
    slow-start:N          answers nothing for N seconds, then works
    dies-after:N          answers N calls of its tools; at the next one it is gone
    every-call-fails      greets and lists its tools, and every call of one is an error

It has two of canopy's tools, under canopy's names and with answers of canopy's shape: a pack that
offers the first file of the current folder and asks for another question, and its expansion. It
counts nothing. When it is asked on our own behalf before a session, and not by an agent, it plays
no fault: such a server passes every check and fails its agents.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from swarm_bench.runtime.ownership import TAG

FAULTS = (
    "fine", "never-answers", "never-answers-calls", "slow-start", "dies-after", "every-call-fails",
)  # fmt: skip
LINES = 40
"""Most lines of the file that is shown."""
_TOOLS = [
    {
        "name": "canopy_evidence_pack",
        "description": "Finds places in the code by words.",
        "inputSchema": {"type": "object", "properties": {"patterns": {"type": "array"}}},
    },
    {
        "name": "canopy_expand",
        "description": "Gives the text of the places.",
        "inputSchema": {"type": "object", "properties": {"handle_ids": {"type": "array"}}},
    },
]


class Server:
    """Answers one request after the other."""

    def __init__(self, fault: str, number: float) -> None:
        self._fault = fault
        self._number = number
        self._calls = 0

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request. Raises `SystemExit` for a server that dies."""
        if method == "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2024-11-05"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "misbehaving", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": _TOOLS}
        if method == "tools/call":
            return self._call(params["name"])
        return {}

    def _call(self, tool: str) -> dict[str, Any]:
        if self._fault == "every-call-fails":
            return _text("the index is broken", is_error=True)
        if self._fault == "dies-after" and self._calls >= self._number:
            sys.exit(1)
        self._calls += 1
        path, lines = _first_file()
        handle = "h" + hashlib.sha256(path.encode()).hexdigest()[:24]
        if tool == "canopy_expand":
            return _text("\n".join([f"// {handle}", *lines]))
        place = {"id": handle, "file_path": path, "line_range": [1, len(lines)]}
        guidance = {"recommended_action": "refine_query", "max_additional_queries": 1}
        pack = {"handles": [place], "expand_suggestion": [handle], "guidance": guidance}
        return _text(json.dumps(pack))


def main() -> None:
    """Serves until its input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fault", type=_fault)
    fault, number = parser.parse_args().fault
    if os.environ.get(TAG, "").startswith("greeting"):
        fault = "fine"
    if fault == "slow-start":
        time.sleep(number)
    server = Server(fault, number)
    for line in sys.stdin:
        request = json.loads(line)
        if fault == "never-answers" or "id" not in request:
            continue
        if fault == "never-answers-calls" and request["method"] == "tools/call":
            continue
        result = server.answer(request["method"], request.get("params") or {})
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _fault(word: str) -> tuple[str, float]:
    """`name` or `name:number`. Raises `ValueError`."""
    name, _, number = word.partition(":")
    if name not in FAULTS:
        raise ValueError(word)
    return name, float(number or 0)


def _first_file() -> tuple[str, list[str]]:
    """Path and first lines of a file of the current folder."""
    path = min(path for path in Path().iterdir() if path.is_file())
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[:LINES]
    return str(path), lines or [""]


def _text(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


if __name__ == "__main__":
    main()
