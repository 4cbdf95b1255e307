"""The placebo of a tool mode, as a mode: what its servers are started with."""

import sys
from pathlib import Path
from typing import Any

from swarm_bench.core.experiment import Mode
from swarm_bench.retrieval.variables import EXPANDED

PLACEBO = "placebo"
"""The placeholder for the folder with the material of all placebo servers of a session. Mode files
cannot name it."""
PROGRAM = "swarm_bench.retrieval.placebo"
_HOW_TO_REACH = {*EXPANDED, "type", "cwd"}


def placebo_of(mode: Mode, name: str) -> Mode:
    """The arm with the mode's instructions and its servers' names, and with servers of ours. What
    else the mode file says of a server, an agent is to see in both."""
    servers = {
        server: {**_rest(config), **_program(material_file(Path(f"{{{{ {PLACEBO} }}}}"), name, at))}
        for at, (server, config) in enumerate(mode.servers.items())
    }
    return Mode(
        name=name,
        source=mode.source,
        description="Placebo: the tool's names and descriptions, and irrelevant answers.",
        servers=servers,
        instructions=mode.instructions,
        search=mode.search,
        control_of=(mode.name,),
        control_kind="placebo",
    )


def material_file(folder: Path, arm: str, number: int) -> Path:
    """The file that the server of that number in an arm is started with."""
    return folder / arm / f"{number}.json"


def _rest(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in _HOW_TO_REACH}


def _program(material: Path) -> dict[str, Any]:
    return {
        "command": sys.executable,
        "args": ["-I", "-m", PROGRAM, str(material), "{{ workspace }}"],
    }
