"""Servers of tests: scripts that answer as they are told, on pipes."""

import sys
from typing import Any

_SERVER = """
import json, sys

def say(*pieces):
    for piece in pieces:
        sys.stdout.buffer.write(piece if isinstance(piece, bytes) else piece.encode())
    sys.stdout.buffer.flush()

def answer(request, result):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})

def text(words):
    return {"content": [{"type": "text", "text": words}]}

TOOLS = [{"name": "find", "inputSchema": {"type": "object"}}]

def listed(params):
    return {"tools": TOOLS}

def call(request):
    say(answer(request, text("src/oar.py")), "\\n")

#BEHAVIOUR#

for line in sys.stdin:
    request = json.loads(line)
    method, params = request.get("method"), request.get("params") or {}
    if "id" not in request or method is None:
        continue
    if method == "initialize":
        about = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                 "serverInfo": {"name": "scripted", "version": "1"}}
        say(answer(request, about), "\\n")
    elif method == "tools/list":
        say(answer(request, listed(params)), "\\n")
    else:
        call(request)
"""


def server(behaviour: str) -> dict[str, Any]:
    """The configuration of one that offers `find`; `behaviour` defines `call(request)`, or
    `listed(params)`, anew."""
    return {"command": sys.executable, "args": ["-c", _SERVER.replace("#BEHAVIOUR#", behaviour)]}
