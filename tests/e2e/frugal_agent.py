"""An agent that is no rules of ours: it asks each server once, reads the files of the answer, and
counts as its tokens what it has read. Without a server it reads everything there is.

    python frugal_agent.py MCP_CONFIG PROMPT
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import anyio

from swarm_bench.runtime.mcp.client import open_connection

_PATHS = re.compile(r'"file_path":"([^"]+)"')


async def read_through(
    servers: dict[str, Any], prompt: str
) -> tuple[list[Path], list[str], list[list[str | None]]]:
    """The files that the servers named, the calls that were made, and who the servers said that
    they are."""
    files: dict[Path, None] = {}
    calls, greeted = [], []
    for name, config in servers.items():
        async with open_connection(config, env=os.environ) as server:
            arguments = {"patterns": re.findall(r"[a-z]{4,}", prompt)}
            answer = await server.call("canopy_evidence_pack", arguments)
            greeted.append([server.name, server.title, server.version])
            calls.append(f"mcp__{name}__canopy_evidence_pack")
            files |= {Path(path): None for path in _PATHS.findall(answer.text)}
    return list(files), calls, greeted


def main() -> None:
    config, prompt = sys.argv[1:]
    servers = json.loads(Path(config).read_text("utf-8"))["mcpServers"]
    files, calls, greeted = anyio.run(read_through, servers, prompt)
    files = files or [path for path in Path().rglob("*.*") if path.is_file()]
    tokens = 100 + sum(path.stat().st_size for path in files)
    answer = "\n".join(f"It is in `{path}:1`." for path in files)
    usage = {"input": tokens, "cache_read": 0, "cache_create": 0, "output": len(answer)}
    said: dict[str, Any] = {"answer": answer, "usage": usage, "calls": calls}
    said |= {"servers": list(servers), "greeted": greeted}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
