"""A warm index: it is built through the server's own tool before the agents' time begins
(`--index warm`)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from swarm_bench.core.errors import IndexFailed, UsageError
from swarm_bench.core.experiment import IndexTool, Mode
from swarm_bench.engine.kit import Kit
from swarm_bench.engine.trial import Surroundings
from swarm_bench.retrieval.modes import render_servers
from swarm_bench.retrieval.variables import MODE_FOLDER, PLACEHOLDERS, Filling
from swarm_bench.runtime.sink import clean_text

if TYPE_CHECKING:
    from swarm_bench.runtime.mcp_client import Connection

LAST_LETTERS = 300
"""What of a server's own words is worth repeating."""


def check_warm(modes: Sequence[Mode], variables: Mapping[str, str]) -> None:
    """Refuses early what cannot be warmed. Raises `UsageError`."""
    warmed = [mode for mode in modes if mode.can_be_warmed]
    if not warmed:
        raise UsageError(
            "--index warm builds the index of standalone servers before their agents start, and "
            "no mode says how; name the server's tool in the mode file, as "
            '"swarmBench": {"index": {"tool": "…", "arguments": {}}}, or leave --index away'
        )
    for mode in warmed:
        _index_tool(mode, dict.fromkeys(PLACEHOLDERS, ""), variables)


async def build_index(kit: Kit, mode: Mode, around: Surroundings, tag: str) -> float:
    """Have the server of the mode build its index of the workspace, and end it. Returns the seconds
    that its tool took.

    `tag` marks the server's processes. Raises
    `IndexFailed`.
    """
    index = _index_tool(mode, around.placeholders, kit.variables)
    servers = render_servers(mode, around.placeholders, kit.variables, around.home)
    timeout = kit.experiment.limits.index_timeout
    with anyio.move_on_after(timeout):
        return await _built(kit, servers, index, tag, kit.secrets(mode))
    raise IndexFailed(
        f"{index.tool} had not indexed the workspace after {timeout:g} s; give it more with "
        "--index-timeout"
    )


async def _built(
    kit: Kit, servers: Mapping[str, Any], index: IndexTool, tag: str, secrets: tuple[str, ...]
) -> float:
    """By the first server that has the tool."""
    # Half a second of imports that a session without a warm index does not pay.
    from swarm_bench.runtime.mcp_client import ServerFailed, own_server

    env = {**kit.environment({}), **kit.agent_env}
    without: list[str] = []
    for name, config in servers.items():
        try:
            async with own_server(
                config, env=env, cwd=kit.workspace, tag=tag, secrets=secrets
            ) as server:
                if any(tool.name == index.tool for tool in server.tools):
                    return await _called(server, index, secrets)
        except ServerFailed as error:
            raise IndexFailed(
                f"The MCP server {name} could not index the workspace: {error}; mend it, then go "
                "on with --continue"
            ) from error
        without.append(name)
    raise IndexFailed(
        f"The mode file calls {index.tool} to build the index, and no server has that tool "
        f"({', '.join(without)}); correct its name"
    )


async def _called(server: "Connection", index: IndexTool, secrets: tuple[str, ...]) -> float:
    started = anyio.current_time()
    answer = await server.call(index.tool, index.arguments)
    if answer.is_error:
        # Cleaned before it is cut: the rest of a secret would not be known as one.
        words = " ".join(clean_text(answer.text, secrets).split())[:LAST_LETTERS]
        raise IndexFailed(
            f"{index.tool} could not index the workspace: {words or 'it gave no reason'}"
        )
    return anyio.current_time() - started


def _index_tool(mode: Mode, values: Mapping[str, str], variables: Mapping[str, str]) -> IndexTool:
    """The call with placeholders and variables filled in. Raises `ConfigError`."""
    if mode.index is None:
        raise ValueError(f"{mode.name} has no tool that builds its index")
    folder = mode.source.rpartition("/")[0]
    filling = Filling(
        file=mode.source, placeholders={**values, MODE_FOLDER: folder}, variables=variables
    )
    arguments: dict[str, Any] = filling.value(mode.index.arguments)
    return mode.index.model_copy(update={"arguments": arguments})
