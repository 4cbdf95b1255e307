"""What a mode's back end is called."""

from pathlib import Path

import pytest

from swarm_bench.app.preflight.asking import name_back_ends
from swarm_bench.core.session.experiment import Program
from swarm_bench.retrieval.canopy.backends import embedded_label
from swarm_bench.retrieval.handshake import Handshake
from swarm_bench.retrieval.modes.mode import find_modes
from swarm_bench.retrieval.tools import Tools

EMBEDDED = {"mcp": Path("swarm-bench-canopy-mcp"), "service": Path("swarm-bench-canopy-service")}
REAL = {"mcp": Path("canopy-mcp"), "service": Path("/opt/canopy-service")}


@pytest.mark.parametrize(
    ("mcp", "service", "url", "label"),
    [
        (EMBEDDED, EMBEDDED, None, embedded_label()),
        (REAL, REAL, None, "canopy-mcp 0.4.0 with /opt/canopy-service"),
        (REAL, EMBEDDED, None, f"canopy-mcp 0.4.0 with {embedded_label()}"),
        (EMBEDDED, REAL, None, f"{embedded_label()} with /opt/canopy-service"),
        (REAL, EMBEDDED, "http://[::1]:9", "canopy-mcp 0.4.0 with the service at --service-url"),
    ],
)
def test_a_stand_in_that_takes_part_is_named(
    mcp: dict[str, Path], service: dict[str, Path], url: str | None, label: str
) -> None:
    tools = Tools(
        programs={"canopy-mcp": mcp["mcp"], "canopy-service": service["service"]},
        user_environment={},
        service_url=url,
        work=Path(),
    )
    said = (
        Program(name=embedded_label())
        if mcp is EMBEDDED
        else Program(name="canopy-mcp", version="0.4.0")
    )
    handshake = Handshake(server="canopy", program=said)
    found = name_back_ends(
        tools, find_modes(["canopy-service"]), {"canopy-service": {"canopy": handshake}}
    )
    assert found["canopy-service"].label == label
