"""The pages of the documentation and the examples, which come with the package."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from swarm_bench.config.shipped import find_shipped
from swarm_bench.core.errors import UnknownName
from swarm_bench.core.listing import Listing

FOLDER = "docs"
_PAGE = ".md"
_DESIGN = "design"
"""Notes for whoever changes swarm-bench."""
_LONGEST = 160


def list_pages() -> list[Listing]:
    """List the pages and the examples, each with what it is about."""
    folder = find_shipped(FOLDER)
    return [
        Listing(name=name, about=_read_title(folder / path), source=FOLDER)
        for name, path in sorted(_iterate_paths(folder))
    ]


def read_page(name: str) -> str:
    """Return the text of a page or an example. Raises `UnknownName`."""
    folder = find_shipped(FOLDER)
    paths = dict(_iterate_paths(folder))
    page = name.removeprefix(f"{FOLDER}/").removesuffix(_PAGE)
    if page not in paths:
        raise UnknownName("page", name, paths)
    return (folder / paths[page]).read_text(encoding="utf-8")


def _iterate_paths(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield names and paths: a page goes without its ending."""
    for file in folder.rglob("*"):
        path = PurePosixPath(file.relative_to(folder).as_posix())
        if file.is_file() and path.parts[0] != _DESIGN and "__pycache__" not in path.parts:
            yield str(path).removesuffix(_PAGE), str(path)


def _read_title(file: Path) -> str:
    """Return the title of a page, the description of a mode file, the first words of another."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        title = str(json.loads(text).get("swarmBench", {}).get("description", ""))
    elif file.suffix == ".ipynb":
        title = "A notebook that reads a session"
    else:
        title = next((line for line in text.splitlines() if line.strip('#" ')), "").strip('#" ')
    return title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"
