"""Lists of tools in pages: some have no end."""

import os
from pathlib import Path

import pytest

from swarm_bench.runtime.mcp.client import Connection, ServerFailed, open_connection
from tests.runtime.mcp.scripts import server

pytestmark = pytest.mark.anyio

PATH = {"PATH": os.environ["PATH"]}
LISTING = """
def tool(name):
    return {"name": name, "inputSchema": {"type": "object"}}

asked = 0
def listed(params):
    global asked
    asked += 1
    at = params.get("cursor")
    return PAGE

def call(request):
    say(answer(request, text(str(asked))), "\\n")
"""


async def listed(page: str, folder: Path) -> tuple[list[str], str | None, int]:
    """The names of the tools, what is wrong with them, and how many pages were asked for."""
    config = server(LISTING.replace("PAGE", page))
    async with open_connection(config, env=PATH, cwd=folder) as connection:
        pages = (await connection.call("pages", {})).text
        return names(connection), connection.warning, int(pages)


def names(connection: Connection) -> list[str]:
    return [tool.name for tool in connection.tools]


@pytest.mark.parametrize(
    ("page", "tools", "pages"),
    [
        ('{"tools": [tool("a"), tool("b")]}', ["a", "b"], 1),
        ('{"tools": [tool("a")], "nextCursor": None}', ["a"], 1),
        ('{"tools": [tool("a")], "nextCursor": "2"} if at is None else {"tools": [tool("b")]}',
         ["a", "b"], 2),
        ('{"tools": [tool("a")], "nextCursor": ""} if at is None else {"tools": [tool("b")]}',
         ["a", "b"], 2),
        ('{"tools": [tool("a"), tool("a")]}', ["a"], 1),
        ('{"tools": [], "nextCursor": "2"} if at is None else {"tools": [tool("b")]}', ["b"], 2),
        ('{"tools": [tool(str(asked))], **({"nextCursor": str(asked)} if asked < 150 else {})}',
         [str(at) for at in range(1, 151)], 150),
    ],
)  # fmt: skip
async def test_pages_are_put_together(
    page: str, tools: list[str], pages: int, tmp_path: Path
) -> None:
    assert await listed(page, tmp_path) == (tools, None, pages)


@pytest.mark.parametrize(
    ("page", "tools", "pages"),
    [
        ('{"tools": [tool("a"), tool("b")], "nextCursor": "2"}', ["a", "b"], 2),
        ('{"tools": [tool("a")], "nextCursor": ""}', ["a"], 2),
        ('{"tools": [tool("a")], "nextCursor": str(asked)}', ["a"], 2),
        ('{"tools": [tool("ab"[asked % 2])], "nextCursor": str(asked)}', ["b", "a"], 3),
        ('{"tools": [], "nextCursor": "more"}', [], 2),
        ('{"tools": [tool("a")] if at is None else [], "nextCursor": str(asked)}', ["a"], 101),
        ('{"tools": [tool(str(asked))], "nextCursor": "ab"[asked % 2]}', ["1", "2", "3"], 3),
    ],
)
async def test_a_list_that_repeats_itself_ends_with_its_tools(
    page: str, tools: list[str], pages: int, tmp_path: Path
) -> None:
    found, warning, asked = await listed(page, tmp_path)
    assert (found, asked) == (tools, pages)
    assert warning is not None


async def test_a_list_with_new_tools_on_every_page_is_refused(tmp_path: Path) -> None:
    page = '{"tools": [tool(str(asked))], "nextCursor": str(asked)}'
    with pytest.raises(ServerFailed, match="does not end after 1000 pages"):
        await listed(page, tmp_path)
