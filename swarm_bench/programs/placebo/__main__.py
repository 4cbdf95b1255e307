"""`python -m swarm_bench.programs.placebo MATERIAL WORKSPACE`: serves until its input ends. Agents
get the script beside the material instead.

It is an MCP server on stdin and stdout that has the tools of another one, and answers with real
lines of the repository that have nothing to do with the question. The same question has the same
answer, another one has another.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.canopy.mcp import server as mcp_server
from swarm_bench.programs.canopy.nodes import Handle, Node, NodeType, handle_hex, preview
from swarm_bench.programs.canopy.parameters import Arguments
from swarm_bench.programs.canopy.result_json import SearchResult, expansion_text, query_result
from swarm_bench.programs.canopy.search.pack import Pack, pack_result
from swarm_bench.programs.stdio_server import Answer, Json, Server, serve_process
from swarm_bench.retrieval.modes.variables import find_texts
from swarm_bench.retrieval.placebo.material import (
    NAME,
    VERSION,
    Form,
    Identity,
    Material,
    Passage,
    PlaceboTool,
    read_material,
)
from swarm_bench.text.tool_roles import FILE, LIMITS

DEFAULT_PASSAGES = 10
"""Number of passages when the question does not say how many it wants."""
MAX_PER_FILE = 2
MAX_LINES = 3
"""Most lines of a passage in a list of lines."""
_OFFSETS = ("offset", "start_line", "startLine", "start")
_LASTS = ("end_line", "endLine", "end")


def main() -> None:
    material, workspace = map(Path, sys.argv[1:])
    serve(material, workspace)


def serve(material: Path, workspace: Path) -> None:
    """Answer on stdout what stdin asks."""
    serve_process(lambda: _placebo_server(read_material(material), workspace))


def _placebo_server(material: Material, workspace: Path) -> Server:
    """Make the server that the material describes."""
    tools = {tool.name: tool for tool in material.tools}
    answers = Answers(material, workspace.resolve())

    def call(name: str, arguments: Mapping[str, Any]) -> Answer:
        return answers.answer(tools[name], arguments)

    return Server(
        info=_server_info(material.identity),
        tools=[
            ToolSpec(name=tool.name, description=tool.description, schema=tool.schema)
            for tool in material.tools
        ],
        call=call,
        instructions=material.instructions,
    )


def _server_info(identity: Identity | None) -> Json:
    if identity is None:
        return {"name": NAME, "version": VERSION}
    title = {} if identity.title is None else {"title": identity.title}
    return {"name": identity.name, **title, "version": identity.version or ""}


class Answers:
    """All tools of one server."""

    def __init__(self, material: Material, workspace: Path) -> None:
        self._material = material
        self._workspace = workspace
        self._forms: Mapping[Form, Callable[[PlaceboTool, Arguments], Answer]] = {
            "pack": self._pack,
            "query": self._query,
            "expand": self._expand,
            "lines": self._lines,
            "json": self._json,
            "file": self._file,
            "paths": self._paths,
            "status": self._status,
            "readme": self._readme,
            "done": lambda _tool, _arguments: Answer(text="Done."),
        }

    def answer(self, tool: PlaceboTool, arguments: Mapping[str, Any]) -> Answer:
        """Answer a call as its tool would."""
        return self._forms[tool.form](tool, Arguments(arguments))

    def _pack(self, tool: PlaceboTool, arguments: Arguments) -> Answer:
        limits = arguments.pack_limits()
        draw = self._draw(tool, arguments)
        passages = self._draw_sample(draw, limits.max_handles, limits.max_per_file)
        handles = [self._handle(passage) for passage in passages]
        scores = sorted((round(draw.uniform(0.55, 0.95), 3) for _ in handles), reverse=True)
        result = SearchResult(handles=handles, matches=len(handles) + draw.randrange(30))
        question = " ".join(find_texts(arguments.values))
        selected = list(zip(scores, handles, strict=True))
        pack = Pack(text=question, result=result, limits=limits, selected=selected)
        return _answer_json(pack_result(pack, ()))

    def _query(self, tool: PlaceboTool, arguments: Arguments) -> Answer:
        handles = [self._handle(passage) for passage in self._draw_passages(tool, arguments)]
        return _answer_json(query_result(SearchResult(handles=handles, matches=len(handles))))

    def _expand(self, _tool: PlaceboTool, arguments: Arguments) -> Answer:
        ids = dict.fromkeys(id.removeprefix("h") for id in arguments.texts("handle_ids"))
        contents = [
            (f"h{id}", "\n".join(self._text(self._passages[id])))
            for id in ids
            if id in self._passages
        ]
        failed = [f"h{id}" for id in ids if id not in self._passages]
        if not contents:
            return Answer(text=f"Handles not found: {', '.join(failed)}", is_error=True)
        return Answer(text=expansion_text(contents, failed))

    def _lines(self, tool: PlaceboTool, arguments: Arguments) -> Answer:
        lines = [
            tool.line.format(path=passage.path, first=number, last=passage.last, text=text)
            for passage in self._draw_passages(tool, arguments)
            for number, text in self._number_lines(passage, tool.line)
        ]
        return Answer(text="\n".join(dict.fromkeys(lines)))

    def _number_lines(self, passage: Passage, line: str) -> list[tuple[int, str]]:
        """List line numbers and texts, one for each line of the answer that a passage gets."""
        texts = self._text(passage)
        if "{last}" in line:
            return [(passage.first, "\n".join(texts))]
        numbered = enumerate(texts, start=passage.first)
        return [(number, text) for number, text in numbered if text.strip()][:MAX_LINES]

    def _json(self, tool: PlaceboTool, arguments: Arguments) -> Answer:
        content: Any = [
            {
                tool.path_key: passage.path,
                "start_line": passage.first,
                "end_line": passage.last,
                "text": "\n".join(self._text(passage)),
            }
            for passage in self._draw_passages(tool, arguments)
        ]
        for key in reversed(tool.keys):
            content = {key: content}
        return _answer_json(content)

    def _file(self, _tool: PlaceboTool, arguments: Arguments) -> Answer:
        name = next((text for key in FILE if (text := arguments.text(key))), None)
        path = self._inside(name) if name else None
        if path is None:
            return Answer(text=f"There is no file {name}", is_error=True)
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        first = next((n for key in _OFFSETS if (n := arguments.natural(key, 0))), 1)
        last = next((n for key in _LASTS if (n := arguments.natural(key, 0))), len(lines))
        limit = arguments.natural("limit", len(lines))
        return Answer(text="\n".join(lines[first - 1 : last][:limit]))

    def _paths(self, tool: PlaceboTool, arguments: Arguments) -> Answer:
        paths = dict.fromkeys(passage.path for passage in self._draw_passages(tool, arguments))
        return Answer(text="\n".join(paths))

    def _status(self, _tool: PlaceboTool, _arguments: Arguments) -> Answer:
        root = str(self._workspace)
        return _answer_json({"files_indexed": self._material.files, "repo_root": root})

    def _readme(self, _tool: PlaceboTool, _arguments: Arguments) -> Answer:
        return Answer(text=mcp_server.readme())

    def _draw_passages(self, tool: PlaceboTool, arguments: Arguments) -> list[Passage]:
        """Draw as many passages as the question wants."""
        limits = (arguments.natural(key, 0) for key in LIMITS)
        count = next(filter(None, limits), DEFAULT_PASSAGES)
        return self._draw_sample(self._draw(tool, arguments), count, MAX_PER_FILE)

    def _draw(self, tool: PlaceboTool, arguments: Arguments) -> random.Random:
        question = json.dumps(arguments.values, sort_keys=True)
        return random.Random(f"{self._material.seed}:{tool.name}:{question}")

    def _draw_sample(self, draw: random.Random, count: int, per_file: int) -> list[Passage]:
        passages: list[Passage] = []
        files = Counter[str]()
        for passage in draw.sample(self._material.places, len(self._material.places)):
            if len(passages) == count:
                break
            if files[passage.path] < per_file and self._text(passage):
                files[passage.path] += 1
                passages.append(passage)
        return passages

    def _text(self, passage: Passage) -> list[str]:
        """Read the lines of a passage; none when its file is gone."""
        content = self._content(passage.path)
        return content.decode("utf-8", "replace").split("\n")[passage.first - 1 : passage.last]

    def _content(self, path: str) -> bytes:
        file = self._inside(path)
        return file.read_bytes() if file else b""

    def _inside(self, name: str) -> Path | None:
        """Resolve the file of that name, from the root or of the workspace."""
        try:
            path = (self._workspace / name).resolve()
            return path if path.is_file() and path.is_relative_to(self._workspace) else None
        except (OSError, ValueError):  # too long for a name, or a NUL in it
            return None

    @cached_property
    def _passages(self) -> Mapping[str, Passage]:
        return {self._handle(passage).hex: passage for passage in self._material.places}

    def _handle(self, passage: Passage) -> Handle:
        content = self._content(passage.path)
        lines = content.split(b"\n")
        start = sum(len(line) + 1 for line in lines[: passage.first - 1])
        end = start + len(b"\n".join(lines[passage.first - 1 : passage.last]))
        type_ = NodeType.CHUNK
        return Handle(
            hex=handle_hex(passage.path, type_, start, end),
            path=passage.path,
            node=Node(
                type=type_, start=start, end=end, first_line=passage.first, last_line=passage.last
            ),
            preview=preview(content, start, end),
        )


def _answer_json(content: Any) -> Answer:
    return Answer(text=json.dumps(content, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
