"""Choice of the canopy that runs: the real one when it is installed, the embedded one otherwise."""

import shutil
import sys
from pathlib import Path

from swarm_bench.core.entry_points import own_version
from swarm_bench.core.errors import ConfigError

SERVICE = "canopy-service"
"""Its program, and its name in mode files."""
EMBEDDED = {
    "canopy-mcp": "swarm-bench-canopy-mcp",
    SERVICE: "swarm-bench-canopy-service",
}
_STAND_IN = "embedded canopy"


FAMILY = frozenset(
    {
        *("canopy", *EMBEDDED, *EMBEDDED.values()),
        "swarm-bench.programs.canopy.mcp.server",
        "swarm-bench.programs.canopy.service.server",
    }
)
"""Names of canopy's programs, whichever of them runs, as they are compared."""
ROUTES = ("/repos/add", "/reindex", "/evidence_pack")
"""Paths of requests to a service of canopy, which others hardly have."""
QUERIES = ("/query", "/expand")
"""Paths of queries, which other services may have too; canopy's name a repository."""


def find_program(name: str, override: str | None) -> Path:
    """Find `canopy-mcp` or `canopy-service`: the program that `override` names, else the real one
    on the PATH, else the embedded one. Raises `ConfigError` for an override that cannot be run.
    """
    if override:
        is_path = "/" in override or override.startswith("~")
        configured = str(Path(override).expanduser().absolute()) if is_path else override
        path = shutil.which(configured)
        if path is None:
            variable = f"SWARM_BENCH_{name.upper().replace('-', '_')}"
            raise ConfigError(
                f"{override} is not a program that can be run; "
                f"fix {variable} or unset it to use the embedded {name}"
            )
        return Path(path).absolute()
    path = shutil.which(name)
    if path is not None:
        return Path(path).absolute()
    embedded = Path(sys.executable).parent / EMBEDDED[name]
    if not embedded.exists():
        raise ConfigError(f"{embedded} is missing; install swarm-bench again")
    return embedded


def name_program(name: str, path: Path) -> str:
    """Return a word by which `find_named_program` finds the same program on another machine."""
    if is_embedded(path):
        return EMBEDDED[name]
    return "" if str(path) == shutil.which(name) else str(path)


def find_named_program(name: str, word: str) -> Path:
    """Find the program that a word names. Raises `ConfigError`."""
    embedded = Path(sys.executable).parent / EMBEDDED[name]
    return find_program(name, str(embedded) if word == EMBEDDED[name] else word or None)


def embedded_label() -> str:
    """Return the name of the stand-in, so that its figures are not taken for canopy's."""
    return f"swarm-bench {_STAND_IN} {own_version()}"


def is_stand_in(label: str | None) -> bool:
    """Tell whether a back end, as records name it, is the embedded one."""
    return _STAND_IN in (label or "")


def is_embedded(program: Path) -> bool:
    """Tell whether a program is the stand-in that comes with us."""
    return program.name in EMBEDDED.values()
