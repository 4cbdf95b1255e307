"""What a placebo server is started with: a file of ours, which it only reads."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

NAME = "swarm-bench-placebo"
"""Name of the server in a session's record, and its own where it is to repeat no other name."""
VERSION = "1"
"""A new one when the same material would give other answers."""
Form = Literal[
    "pack", "query", "expand", "lines", "json", "file", "paths", "status", "readme", "done"
]
"""How a tool writes its answers.

`pack`, `query`, `expand`, `status`, `readme`: as canopy's tools. `lines`: passages as a text, one
behind the other; `json`: as JSON. `file`: the lines of the file that it is asked for. `paths`:
names of files. `done`: nothing but that it was done.
"""

_SCRIPT = """\
import sys
from pathlib import Path

from swarm_bench.programs.placebo.__main__ import serve

serve(Path(__file__).with_suffix(".json"), Path(sys.argv[1]))
"""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """Lines of a file of the repository, counted from 1; both ends belong to it."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class PlaceboTool:
    """A tool as the mode's own server offers it, and how a placebo of it answers."""

    name: str
    description: str
    schema: Mapping[str, Any]
    form: Form
    line: str = ""
    """Format of a passage in the form `lines`, with `{path}`, `{first}`, `{last}` and `{text}`."""
    keys: tuple[str, ...] = ()
    """Keys that lead to the list of passages, in the form `json`."""
    path_key: str = "path"
    """Key of a passage's file, in the form `json`."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Who a server says that it is."""

    name: str
    title: str | None = None
    version: str | None = None


@dataclass(frozen=True, kw_only=True)
class Material:
    """Everything that decides what a placebo server says."""

    identity: Identity | None = None
    """Identity of the mode's own server, to be repeated; without one a placebo says what it is."""
    instructions: str
    """Instructions with which the mode's own server describes itself to a model."""
    tools: tuple[PlaceboTool, ...]
    places: tuple[Passage, ...]
    files: int
    """Number of files of the repository, for agents that ask what is indexed."""
    seed: int

    def write(self, path: Path) -> None:
        """Write it so that only its owner can read it, and beside it the script that serves it, so
        that a command line need not name this package."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(path, json.dumps(asdict(self)))
        _write(name_script(path), _SCRIPT)


def name_script(material: Path) -> Path:
    """Return the path of the script that `Material.write` puts beside a file."""
    return material.with_suffix(".py")


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def read_material(path: Path) -> Material:
    """Read what `Material.write` wrote."""
    content = json.loads(path.read_text(encoding="utf-8"))
    identity = content["identity"]
    return Material(
        identity=None if identity is None else Identity(**identity),
        instructions=content["instructions"],
        tools=tuple(
            PlaceboTool(**{**tool, "keys": tuple(tool["keys"])}) for tool in content["tools"]
        ),
        places=tuple(Passage(**passage) for passage in content["places"]),
        files=content["files"],
        seed=content["seed"],
    )
