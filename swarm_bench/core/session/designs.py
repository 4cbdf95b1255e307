"""The designs of the swarm benchmark: what its three commands do otherwise than each other.

Imported for `--help` and completion, so it must be light.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

BENCHMARK = "swarm"
"""Name of the benchmark."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """How a comparison is laid out."""

    name: str
    """Name, which is stored, and typed as the command."""
    stem: str
    """Begins the names of its folders below results/. Older sessions have it as their benchmark."""
    title: str
    """Title of its summary."""
    document: Literal["comparison", "noise"]
    """Kind of summary that the design has."""
    beside: tuple[str, ...] = ()
    """Modes that those which are named as arguments are held against, where no others are."""
    runs_of_agents: int = 3
    """Default number of runs, if the number of agents is given."""
    agent_at_a_time: bool = False
    """Whether every task has a swarm of its own, with one agent."""
    mode_twice: bool = False
    """One mode is compared with itself under another name."""
    several_sizes: bool = False
    """Several numbers of agents make a series of swarms."""


COMPARE = Design(
    name="compare",
    stem=BENCHMARK,
    title="Swarm Benchmark",
    document="comparison",
    beside=("baseline",),
    several_sizes=True,
)
AB = Design(
    name="ab",
    stem="ab",
    title="A/B Benchmark",
    document="comparison",
    beside=("baseline",),
    agent_at_a_time=True,
)
CALIBRATE = Design(
    name="calibrate",
    stem="calibrate",
    title="Calibration",
    document="noise",
    runs_of_agents=5,
    mode_twice=True,
)
PRIMARY = "effective_tokens"
MARGIN = 0.1
QUALITY_MARGIN = 0.1
"""Default of how much recall may be lower than the reference's."""
ENVIRONMENT = "local"
"""Default environment for code of models."""
LOCAL = "local"
"""Executor that runs a session in this process, the default."""
RETRIEVE = Design(
    name="retrieve",
    stem="retrieve",
    title="Retrieval",
    document="comparison",
    beside=("bm25", "grep"),
)
"""No design of the swarm: the benchmark of this name has some of the options of `compare`."""
DESIGNS: Mapping[str, Design] = {design.name: design for design in (COMPARE, AB, CALIBRATE)}
OLDER: Mapping[str, Design] = {design.stem: design for design in DESIGNS.values()}
"""Designs by the benchmark that `experiment.json` named before it had designs."""


def find_design(value: object) -> Design:
    """Return the design that is stored so. Raises `ValueError` for any other value."""
    if isinstance(value, Design):
        return value
    name = value if isinstance(value, str) else ""
    if design := DESIGNS.get(name) or OLDER.get(name):
        return design
    raise ValueError(f"must be one of {', '.join(DESIGNS)}")


def find_benchmark_name(value: object) -> str:
    """Return the name of the benchmark that is stored so: in older sessions that of a design.
    Raises `ValueError` for any other value."""
    if isinstance(value, str) and value in OLDER:
        return BENCHMARK
    raise ValueError(f"must be {BENCHMARK}")
