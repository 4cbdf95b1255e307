"""Lists the tools of a server, page by page."""

from mcp.client.client import Client

from swarm_bench.core.ports import ToolSpec

MOST_PAGES = 1000
_MOST_EMPTY = 100
"""Pages without a tool, after which no other is asked for."""


class EndlessList(ValueError):
    """A list with new tools on every page, more than anybody has."""


async def list_tools(client: Client) -> tuple[tuple[ToolSpec, ...], str | None]:
    """Return the tools, each once, and what is wrong with the list: a clause. A list that repeats
    itself, by a cursor that was there before or by tools that all were, is at its end: some servers
    name a next page always. Raises `EndlessList`."""
    tools: dict[str, ToolSpec] = {}
    cursors = set[str]()
    cursor, empty = None, 0
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        specs = {
            tool.name: ToolSpec(
                name=tool.name, description=tool.description or "", schema=tool.input_schema
            )
            for tool in page.tools
        }
        is_new = not specs or not specs.keys() <= tools.keys()  # an empty page is none of its end
        tools |= {name: spec for name, spec in specs.items() if name not in tools}
        cursor = page.next_cursor
        if cursor is None:
            return tuple(tools.values()), None
        empty += not specs
        if cursor in cursors or not is_new or empty == _MOST_EMPTY:
            break
        cursors.add(cursor)
    else:
        raise EndlessList(f"its list of tools does not end after {MOST_PAGES} pages")
    return tuple(tools.values()), "its list of tools repeats itself; each tool is taken once"
