"""How a canopy-service that we start is kept to ourselves: a key, and the folder that it serves."""

from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.canopy.backends import is_embedded
from swarm_bench.retrieval.modes.mode import find_templates
from swarm_bench.retrieval.modes.variables import find_placeholders_in

API_KEY = "CANOPY_API_KEY"
"""The variable from which both embedded programs take the key: on a command line the whole machine
could read it."""


def draw_key() -> str:
    """Draw the key of a session: 128 random bits."""
    return token_hex(16)


def sends_key(mode: Mode, programs: Mapping[str, Path]) -> bool:
    """Tell whether only the embedded canopy-mcp asks the mode's service: it sends its key with
    every request."""
    clients = [
        server for server in mode.servers.values() if "service_url" in find_placeholders_in(server)
    ]
    return (
        is_embedded(programs["canopy-mcp"])
        and all(_is_plain_canopy(client) for client in clients)
        and "service_url" not in find_placeholders_in(list(find_templates(mode)))
    )


def _is_plain_canopy(server: Mapping[str, Any]) -> bool:
    """Tell whether it is canopy-mcp, and brings no key of its own."""
    settings = [*server.get("env", {}), *(str(word) for word in server.get("args", ()))]
    brings_key = any(word.upper() == API_KEY or word.startswith("--api-key") for word in settings)
    return find_placeholders_in(server.get("command")) == {"canopy_mcp"} and not brings_key
