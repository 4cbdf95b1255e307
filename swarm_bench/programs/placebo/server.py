"""An MCP server on stdin and stdout that has the tools of another one, and answers with passages
that have nothing to do with the question."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swarm_bench.core.ports import ToolSpec
from swarm_bench.programs.placebo.irrelevant_answers import Answers
from swarm_bench.programs.stdio_server import Answer, Json, Server
from swarm_bench.retrieval.placebo.material import NAME, VERSION, Identity, Material


def placebo_server(material: Material, workspace: Path) -> Server:
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
