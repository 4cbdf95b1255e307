"""A stdio MCP server that plays a fault, so that tests meet real servers that misbehave.

    python -I -m swarm_bench.testing.misbehaving_mcp FAULT

    fine                  everything works
    never-answers         reads, and says nothing
    never-answers-calls   greets and lists its tools, and says nothing to a call of one
    slow-start:N          answers nothing for N seconds, then works
    dies-after:N          answers N calls of its tools; at the next one it is gone
    every-call-fails      greets and lists its tools, and every call of one is an error
    empty-answers         finds nothing, whatever it is asked
    same-answer           finds the same file, whatever it is asked
    errors-as-text        every answer is an error in words, that does not say so otherwise
    errors-name-files     the same, and it names files of the current folder

It has three of canopy's tools, under canopy's names and with answers of canopy's shape: a pack that
offers the files of the current folder with one of the words and asks for another question, its
expansion, and a status. A pack repeats what was asked and says how long that took, as those of real
servers do, so that no two are equal to the byte. It counts nothing. When it is asked on our own
behalf before a session, and not by an agent, it plays no fault: such a server passes every check
and fails its agents.
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
from swarm_bench.testing.mcp_loop import serve, write_text

FAULTS = (
    "fine", "never-answers", "never-answers-calls", "slow-start", "dies-after", "every-call-fails",
    "empty-answers", "same-answer", "errors-as-text", "errors-name-files",
)  # fmt: skip
MAX_LINES = 40
"""Most lines of a file that are shown."""
MAX_FILES = 3
"""Most files that are found."""
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
    {
        "name": "canopy_status",
        "description": "Tells what is indexed.",
        "inputSchema": {"type": "object"},
    },
]


class Server:
    """A server that answers its requests in order."""

    def __init__(self, fault: str, number: float) -> None:
        self._fault = fault
        self._number = number
        self._calls = 0

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Return the result of a tool. Raises `SystemExit` for a server that dies."""
        if self._fault == "never-answers-calls":
            return None
        if self._fault == "every-call-fails":
            return write_text("the index is broken", is_error=True)
        if self._fault == "errors-as-text":
            return write_text("Index not found. Build it before the first call.")
        if self._fault == "errors-name-files":
            paths = [str(path) for path in sorted(Path().glob("**/*")) if _is_shown(path)]
            return write_text(f"Error: cannot search {' '.join(paths[:MAX_FILES])}")
        if self._fault == "dies-after" and self._calls >= self._number:
            sys.exit(1)
        self._calls += 1
        files = {_handle(path): path for path in sorted(Path().glob("**/*")) if _is_shown(path)}
        if tool == "canopy_status":
            return write_text(json.dumps({"files_indexed": len(files)}))
        if tool == "canopy_expand":
            handles = [handle for handle in arguments.get("handle_ids", ()) if handle in files]
            return write_text(
                "\n\n".join("\n".join([f"// {h}", *_lines(files[h])]) for h in handles)
            )
        patterns = arguments.get("patterns", ())
        hits = self._hits(files, patterns)
        return write_text(json.dumps({**_pack(hits), **_describe(hits, patterns, self._calls)}))

    def _hits(self, files: dict[str, Path], patterns: list[str]) -> dict[str, Path]:
        if self._fault == "empty-answers":
            return {}
        if self._fault != "same-answer":
            files = {handle: path for handle, path in files.items() if _has(path, patterns)}
        return dict(list(files.items())[: 1 if self._fault == "same-answer" else MAX_FILES])


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fault", type=_fault)
    fault, number = parser.parse_args().fault
    if os.environ.get(TAG, "").startswith("greeting"):
        fault = "fine"
    if fault == "slow-start":
        time.sleep(number)
    if fault == "never-answers":
        sys.stdin.read()
        return
    serve("misbehaving", _TOOLS, Server(fault, number).call)


def _fault(word: str) -> tuple[str, float]:
    """Parse `name` or `name:number`. Raises `ValueError`."""
    name, _, number = word.partition(":")
    if name not in FAULTS:
        raise ValueError(word)
    return name, float(number or 0)


def _pack(files: dict[str, Path]) -> dict[str, Any]:
    places = [
        {"id": handle, "file_path": str(path), "line_range": [1, len(_lines(path))]}
        for handle, path in files.items()
    ]
    guidance = {"recommended_action": "refine_query", "max_additional_queries": 1}
    return {"handles": places, "expand_suggestion": [*files], "guidance": guidance}


def _describe(files: dict[str, Path], patterns: list[str], milliseconds: int) -> dict[str, Any]:
    """Describe a pack, in a sentence too."""
    question, took = " ".join(patterns), f"in {milliseconds} ms"
    summary = f"Results for {question}: {len(files)} found {took}."
    if not files:
        summary = f"Your search for '{question}' returned no results {took}."
    return {"meta": {"q": question, "took": {"durationMs": milliseconds}}, "summary": summary}


def _handle(path: Path) -> str:
    return "h" + hashlib.sha256(str(path).encode()).hexdigest()[:24]


def _is_shown(path: Path) -> bool:
    return path.is_file() and not any(part.startswith(".") for part in path.parts)


def _has(path: Path, patterns: list[str]) -> bool:
    text = "\n".join(_lines(path)).casefold()
    return any(pattern.casefold() in text for pattern in patterns)


def _lines(path: Path) -> list[str]:
    """Read the first lines of a file."""
    return path.read_text(encoding="utf-8", errors="replace").splitlines()[:MAX_LINES] or [""]


if __name__ == "__main__":
    main()
