"""Every option, declared once: its name, type and default, and all else that is true of it.

The command line, environment, `.env` and settings file take these. Light, as `--help` imports it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from swarm_bench.config import parsing
from swarm_bench.config.annotations import (
    METRIC,
    Arguments,
    Count,
    Folder,
    Group,
    MaxCost,
    On,
    Option,
    Output,
    Part,
    Plan,
    Quiet,
    Resume,
    Scope,
    Seconds,
    Slice,
    notes,
)
from swarm_bench.config.parsing import (
    Checker,
    Converter,
    Limits,
    anchor_agent,
    anchor_folder,
    anchor_modes,
    anchor_suite,
)
from swarm_bench.core.controls import ControlKind
from swarm_bench.core.session.designs import (
    AB,
    CALIBRATE,
    LOCAL,
    MARGIN,
    PRIMARY,
    QUALITY_MARGIN,
    RETRIEVE,
)

REPOSITORY = "repository"
"""Stands for tasks that are made from the repository."""
Index = Literal["cold", "warm"]
EXPECTED = 0.2
"""The saving that a plan assumes."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All options of `compare`, `ab` and `calibrate`, in the order of help. Times in seconds."""

    __pydantic_config__ = {"extra": "forbid"}

    repo: Annotated[
        Folder,
        Option("Git checkout or plain folder to work on.", metavar="PATH"),
        Scope(
            Group.COMPARED,
            also=("retrieve", "doctor"),
            of_recording=True,
            anchor=anchor_folder,
            trusted=True,
            stored=True,
        ),
    ] = Path()
    modes: Annotated[
        list[str],
        Converter(parsing.parse_names),
        Checker(parsing.check_not_empty),
        Option(
            "Names of modes, or paths to mode files; the first one is the reference.",
            metavar="M ...",
            several=True,
            retrieve="Names of modes, or paths to mode files: each needs a tool that searches.",
        ),
        Scope(
            Group.COMPARED,
            also=("retrieve", "doctor"),
            anchor=anchor_modes,
            trusted=True,
            stored=True,
            defaults={CALIBRATE.name: ["baseline"], RETRIEVE.name: ["bm25", "grep", "canopy"]},
        ),
    ] = field(default_factory=lambda: ["baseline", "canopy", "canopy-service"])
    agents: Annotated[
        list[Annotated[int, Limits(ge=1, le=1000)]],
        Converter(parsing.parse_numbers),
        Checker(parsing.check_distinct),
        Option(
            "Agents of a swarm, which share out the tasks; several numbers compare with growing "
            "swarms.",
            metavar="N ...",
            default="one for every task",
            several=True,
        ),
        Scope(
            Group.AMOUNT, also=("doctor",), without=(AB.name,), of_recording=True, decides="agents"
        ),
    ] = field(default_factory=list)
    """Empty: every task has one. Several are the sizes of a series of swarms."""
    runs: Annotated[
        int,
        Limits(ge=1, le=1000),
        Option("Repetitions of the plan.", metavar="N"),
        Scope(Group.AMOUNT, also=("retrieve",), defaults={AB.name: 3, CALIBRATE.name: 2}),
    ] = 1
    max_turns: Annotated[
        Count,
        Option("Turns of an agent.", metavar="N"),
        Scope(Group.AMOUNT, of_recording=True, decides="limits.max_turns"),
    ] = 15
    max_cost: MaxCost = None
    until_clear: Annotated[
        bool,
        Option(
            "Run each task once, block by block, until the verdict stands or --max-cost is reached."
        ),
        Scope(Group.AMOUNT, without=(CALIBRATE.name,), of_recording=True, fixed=True),
    ] = False
    tasks: Annotated[
        str,
        Option(
            "Name of a task suite, path to a YAML file, or 'repository': tasks with answer keys, "
            "made from it.",
            metavar="NAME|FILE",
            retrieve="Name of a task suite with answer keys, path to a YAML file, or 'repository': "
            "tasks made from it.",
        ),
        Scope(
            Group.COMPARED,
            also=("retrieve",),
            of_recording=True,
            anchor=anchor_suite,
            trusted=True,
            stored=True,
            defaults={AB.name: "ab"},
        ),
    ] = REPOSITORY
    all_tasks: Annotated[
        bool,
        Option("Run every task once per mode and run, also with --agents: that many at a time."),
        Scope(Group.AMOUNT, without=(AB.name,), of_recording=True, decides="all_tasks"),
    ] = False
    agent: Annotated[
        str,
        Option("Name of an agent, a YAML file, replay:DIR, or module:class.", metavar="NAME"),
        Scope(Group.AGENTS, also=("doctor",), anchor=anchor_agent, fixed=True, trusted=True),
    ] = "scout"
    model: Annotated[
        Annotated[str, Checker(parsing.check_model)] | None,
        Option(
            "Model that the agent is to use; 'rehearsal' asks none and costs nothing.",
            metavar="NAME",
        ),
        Scope(
            Group.AGENTS,
            also=("doctor",),
            of_recording=True,
            fixed=True,
            decides="model",
            trusted=True,
        ),
    ] = None
    agent_arg: Annotated[
        Arguments,
        Option(
            "A word for the agent's own command line; --agent-arg=--flag for an option.",
            metavar="WORD",
        ),
        Scope(Group.AGENTS, of_recording=True, fixed=True, decides="agent_args", trusted=True),
    ] = field(default_factory=list)
    agent_env: Annotated[
        Arguments,
        Checker(parsing.check_variables),
        Option(
            "A variable for the agents; NAME alone takes it from here. Never stored.",
            metavar="NAME[=VALUE]",
            retrieve="A variable for the servers; NAME alone takes it from here. Never stored.",
        ),
        Scope(
            Group.AGENTS,
            also=("retrieve", "doctor"),
            of_recording=True,
            fixed=True,
            decides="agent_env",
            trusted=True,
        ),
    ] = field(default_factory=list)
    inherit_settings: Annotated[
        bool,
        Option("Let the agents use your own home: log-in, settings, memory files, hooks."),
        Scope(
            Group.AGENTS,
            also=("doctor",),
            of_recording=True,
            fixed=True,
            decides="inherit_settings",
            trusted=True,
        ),
    ] = False
    fault: Annotated[
        Arguments,
        Option(
            "Fault that the rehearsal's provider plays, in requests N to M (swarm-bench docs "
            "agents).",
            metavar="NAME[:N[-M]]",
        ),
        Scope(Group.AGENTS, of_recording=True, fixed=True, decides="faults"),
    ] = field(default_factory=list)
    record: Annotated[
        bool,
        Option("Keep what the agents printed as a set for --agent replay:DIR."),
        Scope(),
    ] = False
    controls: Annotated[
        list[ControlKind],
        Converter(parsing.parse_controls),
        Option(
            "Add arms to each tool mode: with its instructions but no tool (instructions, also "
            "without a word), or with tools that answer with irrelevant places (placebo).",
            metavar="[instructions] [placebo]",
            several=True,
            bare="instructions",
        ),
        Scope(Group.COMPARED, without=(CALIBRATE.name,), of_recording=True),
    ] = field(default_factory=list)
    index: Annotated[
        Index,
        Option(
            "Index of a standalone server: built in its agents' time (cold), or before (warm).",
            metavar="cold|warm",
        ),
        Scope(Group.AGENTS, of_recording=True, fixed=True, decides="index"),
    ] = "cold"
    min_connected: Annotated[
        float,
        Limits(ge=0, le=100),
        Option(
            "Percent of a mode's trials that must reach its tool for a verdict.", metavar="PERCENT"
        ),
        Scope(Group.VERDICT),
    ] = 90
    primary: Annotated[str, METRIC, Scope(Group.VERDICT, named=True)] = PRIMARY
    margin: Annotated[
        Part,
        Option(
            "Difference in it that is of no importance.", metavar="PERCENT", default=f"{MARGIN:.0%}"
        ),
        Scope(Group.VERDICT, named=True),
    ] = MARGIN
    quality: Annotated[
        str | None,
        Option(
            "Metric from 0 to 1 that must not be worse.",
            metavar="KEY",
            default="recall by the answer keys, else the success rate",
            retrieve="Metric that modes are compared by, named before the first question.",
        ),
        Scope(Group.VERDICT, also=("retrieve",), named=True, defaults={RETRIEVE.name: "recall_5"}),
    ] = None
    quality_margin: Annotated[
        float,
        Converter(parsing.parse_share),
        Checker(parsing.check_any_share),
        Option(
            "Amount by which it may be lower than the reference's for a saving to count.",
            metavar="SHARE",
            retrieve="Difference in it that is of no importance.",
        ),
        Scope(Group.VERDICT, also=("retrieve",), named=True),
    ] = QUALITY_MARGIN
    expect: Annotated[
        Part,
        Option(
            "Assumed saving: the plan says how likely the session is to show it.",
            metavar="PERCENT",
            default=f"{EXPECTED:.0%}",
        ),
        Scope(Group.VERDICT, of_call=True),
    ] = EXPECTED
    noise: Annotated[
        Arguments,
        Option(
            "Session that shows how runs differ, or folder of sessions.",
            metavar="DIR",
            default="what lies below results/",
        ),
        Scope(Group.VERDICT, of_call=True),
    ] = field(default_factory=list)
    timeout: Annotated[
        Seconds,
        Option(
            "Time that an agent may take: seconds, or 90s, 5m, 1h.",
            metavar="TIME",
            retrieve="Time that an answer may take: seconds, or 90s, 5m, 1h.",
        ),
        Scope(
            Group.AMOUNT,
            also=("retrieve",),
            of_recording=True,
            decides="limits.timeout",
            defaults={RETRIEVE.name: 60.0},
        ),
    ] = 900
    index_timeout: Annotated[
        Seconds,
        Option("Time that indexing or preparing may take, written alike.", metavar="TIME"),
        Scope(Group.AMOUNT, also=("retrieve",), of_recording=True),
    ] = 600
    service_url: Annotated[
        Annotated[str, Checker(parsing.check_address)] | None,
        Option("Use this running canopy-service.", metavar="URL"),
        Scope(Group.AGENTS, also=("retrieve",), of_call=True, of_recording=True, trusted=True),
    ] = None
    seed: Annotated[
        int,
        Option("Seed of the drawn order of the modes.", metavar="N"),
        Scope(Group.AMOUNT, also=("retrieve",), of_recording=True, decides="seed"),
    ] = 0
    concurrency: Annotated[
        Count | None,
        Option(
            "Agents of a swarm that run at once.",
            metavar="N",
            default="--agents, or 4; with scout at most one for each processor",
        ),
        Scope(
            Group.AMOUNT,
            also=("doctor",),
            without=(AB.name,),
            of_recording=True,
            decides="concurrency",
        ),
    ] = None
    block_size: Annotated[
        Count | None,
        Option(
            "Most tasks of a block, in which every mode takes its turn.",
            metavar="N",
            default="about 6, more where setting up a mode takes long",
        ),
        Scope(Group.AMOUNT, without=(AB.name,), of_recording=True, fixed=True),
    ] = None
    slice: Slice = None
    on: On = LOCAL
    output: Output = None
    resume: Resume = None
    """`--continue`: what names a session, or the empty string for the newest one."""
    plan: Plan = False
    quiet: Quiet = False
    dirty: Annotated[
        bool,
        Option("Take uncommitted changes along."),
        Scope(Group.AGENTS, also=("retrieve",), of_recording=True),
    ] = False
    include: Annotated[
        Arguments,
        Option(
            "Take files along that --dirty or a plain folder omits: keys, large ones.",
            metavar="PATTERN",
        ),
        Scope(Group.AGENTS, also=("retrieve",), trusted=True),
    ] = field(default_factory=list)
    """Patterns as in `.gitignore`."""
    keep_workspaces: Annotated[
        bool,
        Option("Keep what the agents worked in."),
        Scope(Group.AGENTS, of_call=True, of_recording=True),
    ] = False
    require_retrieval: Annotated[
        bool,
        Option("Exit 4 unless every mode with a tool used it in each run (one trial is enough)."),
        Scope(Group.VERDICT, of_call=True),
    ] = False
    require_verdict: Annotated[
        bool,
        Option(
            "Exit 4 unless every mode that is compared has a verdict: 'cannot tell yet' is none."
        ),
        Scope(Group.VERDICT, of_call=True),
    ] = False
    workspace_root: Annotated[Folder | None, Scope(also=("retrieve",), of_call=True)] = None
    """Where clones are made; the folder for temporary files if not given."""
    canopy_mcp: Annotated[str | None, Scope(also=("retrieve",), of_call=True, trusted=True)] = None
    canopy_service: Annotated[str | None, Scope(also=("retrieve",), of_call=True, trusted=True)] = (
        None
    )


SCOPES = notes(Settings, Scope)
"""By the names of the fields. `continue` cannot name one of Python's; there it is `resume`."""
