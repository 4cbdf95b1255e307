"""An MCP server process of canopy, embedded or real, spoken to in lines."""

import json
import os
import subprocess
from typing import Any


def environment() -> dict[str, str]:
    """Without any variable that canopy reads, also when it is empty."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("CANOPY_")}
    return {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


class Mcp:
    """The process of a command."""

    def __init__(self, command: tuple[str, ...], **variables: str) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment(), **variables},
        )
        self._number = 0

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, params: Any = None) -> Any:
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.write(json.dumps(request))
        reply = self.read()
        assert reply["id"] == self._number, reply
        return reply

    def call(self, tool: str, **arguments: Any) -> Any:
        """The whole reply to a tool call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def code(self, tool: str, **arguments: Any) -> int:
        """The code of the error that a call must end in."""
        error = self.call(tool, **arguments)["error"]
        assert set(error) == {"code", "message"}
        return int(error["code"])

    def text(self, tool: str, **arguments: Any) -> str:
        reply = self.call(tool, **arguments)
        assert "result" in reply, reply
        return str(reply["result"]["content"][0]["text"])

    def json(self, tool: str, **arguments: Any) -> Any:
        return json.loads(self.text(tool, **arguments))

    def close(self) -> int:
        """Ends the input; the exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            return self.process.wait(5)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
