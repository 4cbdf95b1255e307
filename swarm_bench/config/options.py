"""Every option, declared once: its name, type and default, and what the help says of it.

The command line, the environment, `.env` and the settings file all take these. Imported for
`--help` and completion, so it must be light.
"""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from swarm_bench.config import written
from swarm_bench.config.written import After, Before, Limits
from swarm_bench.core.controls import ControlKind
from swarm_bench.core.session.designs import MARGIN, PRIMARY, QUALITY_MARGIN


class Option(NamedTuple):
    """What the command line has of a setting."""

    help: str
    metavar: str | None = None
    default: str | None = None
    """What happens without the option, where its default value does not say that."""
    several: bool = False
    """Whether more than one word may follow."""
    bare: str | None = None
    """What the option means without a word; `None`: it needs one."""


REPOSITORY = "repository"
"""Stands for tasks that are made from the repository."""
Seconds = Annotated[float, Limits(gt=0, allow_inf_nan=False), Before(written.seconds)]
Arguments = Annotated[list[str], Before(written.arguments)]
Index = Literal["cold", "warm"]
Folder = Annotated[Path, Before(written.folder)]
MaxCost = Annotated[
    Annotated[float, Limits(gt=0, allow_inf_nan=False)] | None,
    Option(
        "Start no trial that could make the session cost more, and exit 4 then.",
        metavar="DOLLARS",
    ),
]
Output = Annotated[
    Folder | None,
    Option("Folder of the session.", metavar="DIR", default="results/<benchmark>-<time>"),
]
Plan = Annotated[bool, Option("Print what would run, and start nothing.")]
Quiet = Annotated[bool, Option("Print no progress.")]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All options of `compare`, `ab` and `calibrate`, in the order of help. Times in seconds."""

    __pydantic_config__ = {"extra": "forbid"}

    repo: Annotated[Folder, Option("Git checkout or plain folder to work on.", metavar="PATH")] = (
        Path()
    )
    modes: Annotated[
        list[str],
        Before(written.names),
        After(written.not_empty),
        Option(
            "Names of modes, or paths to mode files; the first one is the reference.",
            metavar="M ...",
            several=True,
        ),
    ] = field(default_factory=lambda: ["baseline", "canopy", "canopy-service"])
    agents: Annotated[
        list[Annotated[int, Limits(ge=1, le=1000)]],
        Before(written.numbers),
        After(written.distinct),
        Option(
            "Agents of a swarm, which share out the tasks; several numbers compare with growing "
            "swarms.",
            metavar="N ...",
            default="one for every task",
            several=True,
        ),
    ] = field(default_factory=list)
    """Empty: every task has one. Several are the sizes of a series of swarms."""
    runs: Annotated[int, Limits(ge=1, le=1000), Option("Repetitions of the plan.", metavar="N")] = 1
    max_turns: Annotated[int, Limits(ge=1), Option("Turns of an agent.", metavar="N")] = 15
    max_cost: MaxCost = None
    until_clear: Annotated[
        bool,
        Option(
            "Run each task once, block by block, until the verdict stands or --max-cost is reached."
        ),
    ] = False
    tasks: Annotated[
        str,
        Option(
            "Name of a task suite, path to a YAML file, or 'repository': tasks with answer keys, "
            "made from it.",
            metavar="NAME|FILE",
        ),
    ] = REPOSITORY
    all_tasks: Annotated[
        bool,
        Option("Run every task once per mode and run, also with --agents: that many at a time."),
    ] = False
    agent: Annotated[
        str,
        Option("Name of an agent, a YAML file, replay:DIR, or module:class.", metavar="NAME"),
    ] = "scout"
    model: Annotated[
        Annotated[str, After(written.model)] | None,
        Option(
            "Model that the agent is to use; 'rehearsal' asks none and costs nothing.",
            metavar="NAME",
        ),
    ] = None
    agent_arg: Annotated[
        Arguments,
        Option(
            "A word for the agent's own command line; --agent-arg=--flag for an option.",
            metavar="WORD",
        ),
    ] = field(default_factory=list)
    agent_env: Annotated[
        Arguments,
        After(written.variables),
        Option(
            "A variable for the agents; NAME alone takes it from here. Never stored.",
            metavar="NAME[=VALUE]",
        ),
    ] = field(default_factory=list)
    inherit_settings: Annotated[
        bool,
        Option("Let the agents use your own home: log-in, settings, memory files, hooks."),
    ] = False
    fault: Annotated[
        Arguments,
        Option(
            "Fault that the rehearsal's provider plays, in requests N to M (swarm-bench docs "
            "agents).",
            metavar="NAME[:N[-M]]",
        ),
    ] = field(default_factory=list)
    record: Annotated[
        bool, Option("Keep what the agents printed as a set for --agent replay:DIR.")
    ] = False
    controls: Annotated[
        list[ControlKind],
        Before(written.controls),
        Option(
            "Add arms to each tool mode: with its instructions but no tool (instructions, also "
            "without a word), or with tools that answer with irrelevant places (placebo).",
            metavar="[instructions] [placebo]",
            several=True,
            bare="instructions",
        ),
    ] = field(default_factory=list)
    index: Annotated[
        Index,
        Option(
            "Index of a standalone server: built in its agents' time (cold), or before (warm).",
            metavar="cold|warm",
        ),
    ] = "cold"
    min_connected: Annotated[
        float,
        Limits(ge=0, le=100),
        Option(
            "Percent of a mode's trials that must reach its tool for a verdict.", metavar="PERCENT"
        ),
    ] = 90
    primary: Annotated[
        str,
        Option("Metric that the verdict is on, named before the first trial.", metavar="KEY"),
    ] = PRIMARY
    margin: Annotated[
        float,
        Before(written.share),
        After(written.part),
        Option("Difference in it that is of no importance.", metavar="PERCENT", default="10%"),
    ] = MARGIN
    quality: Annotated[
        str | None,
        Option(
            "Metric from 0 to 1 that must not be worse.",
            metavar="KEY",
            default="recall by the answer keys, else the success rate",
        ),
    ] = None
    quality_margin: Annotated[
        float,
        Before(written.share),
        After(written.any_part),
        Option(
            "Amount by which it may be lower than the reference's for a saving to count.",
            metavar="SHARE",
        ),
    ] = QUALITY_MARGIN
    expect: Annotated[
        float,
        Before(written.share),
        After(written.part),
        Option(
            "Assumed saving: the plan says how likely the session is to show it.",
            metavar="PERCENT",
            default="20%",
        ),
    ] = 0.2
    noise: Annotated[
        Arguments,
        Option(
            "Session that shows how runs differ, or folder of sessions.",
            metavar="DIR",
            default="what lies below results/",
        ),
    ] = field(default_factory=list)
    timeout: Annotated[
        Seconds,
        Option("Time that an agent may take: seconds, or 90s, 5m, 1h.", metavar="TIME"),
    ] = 900
    index_timeout: Annotated[
        Seconds,
        Option("Time that indexing or preparing may take, written alike.", metavar="TIME"),
    ] = 600
    service_url: Annotated[
        Annotated[str, After(written.address)] | None,
        Option("Use this running canopy-service.", metavar="URL"),
    ] = None
    seed: Annotated[int, Option("Seed of the drawn order of the modes.", metavar="N")] = 0
    concurrency: Annotated[
        Annotated[int, Limits(ge=1)] | None,
        Option(
            "Agents of a swarm that run at once.",
            metavar="N",
            default="--agents, or 4; with scout at most one for each processor",
        ),
    ] = None
    block_size: Annotated[
        Annotated[int, Limits(ge=1)] | None,
        Option(
            "Most tasks of a block, in which every mode takes its turn.",
            metavar="N",
            default="about 6, more where setting up a mode takes long",
        ),
    ] = None
    output: Output = None
    resume: Annotated[
        str | None,
        Option(
            "Continue a session, or extend it: its folder, its id, or nothing for the newest one.",
            metavar="[DIR|ID]",
            bare="",
        ),
    ] = None
    """`--continue`: what names a session, or the empty string for the newest one."""
    plan: Plan = False
    quiet: Quiet = False
    dirty: Annotated[bool, Option("Take uncommitted changes along.")] = False
    include: Annotated[
        Arguments,
        Option(
            "Take files along that --dirty or a plain folder omits: keys, large ones.",
            metavar="PATTERN",
        ),
    ] = field(default_factory=list)
    """Patterns as in `.gitignore`."""
    keep_workspaces: Annotated[bool, Option("Keep what the agents worked in.")] = False
    require_retrieval: Annotated[
        bool,
        Option("Exit 4 unless every mode with a tool used it in each run (one trial is enough)."),
    ] = False
    require_verdict: Annotated[
        bool,
        Option(
            "Exit 4 unless every mode that is compared has a verdict: 'cannot tell yet' is none."
        ),
    ] = False
    workspace_root: Folder | None = None
    """Where clones are made; the folder for temporary files if not given."""
    canopy_mcp: str | None = None
    canopy_service: str | None = None


NAMES = tuple(option.name for option in fields(Settings))
"""Of the fields. `continue` cannot name a field of Python's; there it is `resume`."""


def written_name(name: str) -> str:
    """Return what a person calls the option of a field, with underscores."""
    return "continue" if name == "resume" else name


def flag(name: str) -> str:
    """Return the option of a field, as the command line has it."""
    return "--" + written_name(name).replace("_", "-")
