"""The placebo of a tool mode, as a mode: what its servers are started with.

An agent can read its command lines, so nothing in them says what the servers are.
"""

import hashlib
import sys
from pathlib import Path
from typing import Any

from swarm_bench.core.session.experiment import Mode
from swarm_bench.retrieval.modes.variables import EXPANDED
from swarm_bench.retrieval.placebo.material import name_script

PLACEBO = "servers"
"""The placeholder for the folder with the material of all placebo servers of a session, and the
folder's name. Mode files cannot name it."""
_HOW_TO_REACH = {*EXPANDED, "type", "cwd"}


def make_placebo(mode: Mode, name: str) -> Mode:
    """Make the arm with the mode's instructions and its servers' names, and with servers of ours.
    What else the mode file says of a server, an agent is to see in both."""
    servers = {
        server: {
            **_drop_reach_keys(config),
            **_make_program(name_material_file(Path(f"{{{{ {PLACEBO} }}}}"), name, at)),
        }
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


def name_material_file(folder: Path, arm: str, number: int) -> Path:
    """Return the path of a server's material, by the server's number in an arm."""
    return folder / hashlib.sha256(arm.encode()).hexdigest()[:12] / f"{number}.json"


def _drop_reach_keys(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in _HOW_TO_REACH}


def _make_program(material: Path) -> dict[str, Any]:
    script = str(name_script(material))
    return {"command": sys.executable, "args": ["-I", script, "{{ workspace }}"]}
