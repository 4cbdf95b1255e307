"""Cost of a mode's tool that is only present."""

from swarm_bench.core.figures import Amount, Count
from swarm_bench.core.session.base import SCHEMA_VERSION, SchemaVersion
from swarm_bench.core.stored import Stored


class Overhead(Stored):
    """One line of `overhead.jsonl`: what it costs to have a mode's tool at all, measured once per
    mode. Tokens by our counter (`utf8-bytes/4`) unless said otherwise."""

    schema_version: SchemaVersion = SCHEMA_VERSION
    session: str
    mode: str
    server_seconds: dict[str, Amount] = {}
    """Seconds by server, from its start until it had answered `initialize` and `tools/list`."""
    tools: Count | None = None
    """Tools of all servers of the mode."""
    tool_tokens: Count | None = None
    """Names, descriptions and schemas of these tools."""
    server_instruction_tokens: Count | None = None
    """Tokens of what the servers tell a model about themselves when they are greeted."""
    mode_instruction_tokens: Count | None = None
    """The mode's instructions, which stand before every task."""
    prompt_tokens: Count | None = None
    """All input of the one request that an empty task makes, as the agent reports it; `None` when
    it cannot, or its provider did not answer."""
    prompt_cost: Amount | None = None
    """US dollars that this request cost."""
    unexpected: tuple[str, ...] | None = None
    """Paths that its servers changed where they were greeted, beyond the mode's `may_create`."""
    problem: str | None = None
    """One sentence on what could not be measured."""
