"""What there is to choose from: modes, task suites, agents, models, data sets; and the pages of the
documentation and the examples, which come with the package."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from swarm_bench.app.models.arms import list_models
from swarm_bench.app.setup import agents
from swarm_bench.app.setup.agents import find_authentication
from swarm_bench.app.trust.approval import approve
from swarm_bench.benchmarks.agents.finding import find_agent, needs_argument
from swarm_bench.config import layers
from swarm_bench.config.shipped import find_shipped
from swarm_bench.core.errors import SwarmBenchError, UnknownName
from swarm_bench.core.listing import Listing
from swarm_bench.core.ports import Described
from swarm_bench.datasets.rows import list_datasets
from swarm_bench.datasets.suites import list_suites
from swarm_bench.models.rehearsal.faults import FAULTS
from swarm_bench.retrieval.canopy.backends import SERVICE, find_program, is_embedded
from swarm_bench.retrieval.modes import mode as modes

__all__ = [
    "list_faults",
    "list_agents",
    "list_datasets",
    "list_models",
    "list_modes",
    "list_suites",
]


def list_faults() -> list[str]:
    """List what the provider of the rehearsal can be made to do wrong."""
    return list(FAULTS)


def list_agents() -> list[Listing]:
    """List every registered agent, and whether a way to authenticate with its provider was seen."""
    variables = approve(layers.load({}), refuse=False).environment
    return [_check_credentials(listing, variables) for listing in agents.list_agents()]


def _check_credentials(listing: Listing, variables: Mapping[str, str]) -> Listing:
    if listing.problem is not None or needs_argument(listing.name.partition(":")[0]):
        return listing
    agent = find_agent(listing.name)
    abilities = agent.abilities if isinstance(agent, Described) else None
    if abilities is None or not abilities.keys or abilities.keyless:
        return listing
    if find_authentication(abilities, None, variables):
        return listing
    return replace(listing, caveat="installed; no way to authenticate was seen")


def list_modes() -> list[Listing]:
    """List every mode file, with the canopy that would run in it."""
    return [_add_canopy(listing) for listing in modes.list_modes()]


def _add_canopy(listing: Listing) -> Listing:
    if listing.problem is not None:
        return listing
    (mode,) = modes.find_modes([listing.source])
    if not modes.has_placeholder(mode, "canopy_mcp"):
        return listing
    options = layers.load({}).settings
    try:
        programs = [find_program("canopy-mcp", options.canopy_mcp)]
        if mode.services:
            programs.append(find_program(SERVICE, options.canopy_service))
    except SwarmBenchError as error:
        return replace(listing, problem=str(error))
    runs = ["the embedded one" if is_embedded(program) else str(program) for program in programs]
    return replace(listing, about=f"{listing.about} Runs {' with '.join(dict.fromkeys(runs))}.")


FOLDER = "docs"
_PAGE = ".md"
_DESIGN = "design"
"""Notes for developers of swarm-bench."""
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
