"""What a placebo server is started with: a file of ours, which it only reads."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

Form = Literal[
    "pack", "query", "expand", "lines", "json", "file", "paths", "status", "readme", "done"
]
"""How a tool writes its answers.

`pack`, `query`, `expand`, `status`, `readme`: as canopy's tools. `lines`: places as a text, one
behind the other; `json`: as JSON. `file`: the lines of the file that it is asked for. `paths`:
names of files. `done`: nothing but that it was done.
"""


@dataclass(frozen=True, kw_only=True)
class Place:
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
    """Of `lines`: how a place is written, with `{path}`, `{first}`, `{last}` and `{text}`."""
    keys: tuple[str, ...] = ()
    """Of `json`: the keys that lead to the list of places."""
    path_key: str = "path"
    """Of `json`: the key of a place's file."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """Everything that decides what a placebo server says."""

    instructions: str
    """What the mode's own server tells a model about itself."""
    tools: tuple[PlaceboTool, ...]
    places: tuple[Place, ...]
    files: int
    """Files of the repository, for whoever asks what is indexed."""
    seed: int

    def write(self, path: Path) -> None:
        """For nobody else to read."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def read_material(path: Path) -> Material:
    """What `Material.write` wrote."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return Material(
        instructions=content["instructions"],
        tools=tuple(
            PlaceboTool(**{**tool, "keys": tuple(tool["keys"])}) for tool in content["tools"]
        ),
        places=tuple(Place(**place) for place in content["places"]),
        files=content["files"],
        seed=content["seed"],
    )
