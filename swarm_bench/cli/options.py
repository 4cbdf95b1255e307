"""The options of `compare`, `ab` and `calibrate`. `None` means: not said here, look elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_bench.cli import completing

Repo = Annotated[
    str | None,
    typer.Option(
        "--repo", help="Git checkout or plain folder to work on. [default: .]", show_default=False
    ),
]
Modes = Annotated[
    list[str] | None,
    typer.Option(
        "--modes",
        help="Names of modes, or paths to mode files; the first one is the reference. "
        "[default: baseline canopy canopy-service]",
        metavar="M ...",
        autocompletion=completing.modes,
        show_default=False,
    ),
]
OneMode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="Name of a mode, or path to a mode file. [default: baseline]",
        metavar="M",
        autocompletion=completing.modes,
        show_default=False,
    ),
]
Agents = Annotated[
    list[str] | None,
    typer.Option(
        "--agents",
        help="Agents of a swarm, which share out the tasks; several numbers compare with growing "
        "swarms. [default: one for every task, four at a time]",
        metavar="N ...",
        autocompletion=completing.sizes,
        show_default=False,
    ),
]
OneSize = Annotated[
    list[str] | None,
    typer.Option(
        "--agents",
        help="Agents of a swarm, which share out the tasks. [default: one for every task, four at "
        "a time]",
        metavar="N",
        autocompletion=completing.sizes,
        show_default=False,
    ),
]
CalibrationRuns = Annotated[
    str | None,
    typer.Option(
        "--runs", help="Repetitions of the plan. [default: 5]", metavar="N", show_default=False
    ),
]
Runs = Annotated[
    str | None,
    typer.Option(
        "--runs", help="Repetitions of the plan. [default: 3]", metavar="N", show_default=False
    ),
]
MaxTurns = Annotated[
    str | None,
    typer.Option(
        "--max-turns", help="Turns of an agent. [default: 15]", metavar="N", show_default=False
    ),
]
Tasks = Annotated[
    str | None,
    typer.Option(
        "--tasks",
        help="Name of a task suite, or path to a YAML file. [default: exploration; ab: ab]",
        autocompletion=completing.suites,
        show_default=False,
    ),
]
AllTasks = Annotated[
    bool | None,
    typer.Option(
        "--all-tasks",
        help="Even with --agents: every task once per mode and run, that many at a time.",
        show_default=False,
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        help="Name of an agent, a YAML file, replay:DIR, or module:class. [default: scout]",
        autocompletion=completing.agents,
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Model that the agent is told to use; 'rehearsal' asks none and costs nothing.",
        autocompletion=completing.models,
        show_default=False,
    ),
]
AgentArg = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-arg",
        help="A word for the agent's own command line; --agent-arg=--flag for an option.",
        metavar="WORD",
        show_default=False,
    ),
]
AgentEnv = Annotated[
    list[str] | None,
    typer.Option(
        "--agent-env",
        help="A variable for the agents; NAME alone takes it from here. Never stored.",
        metavar="NAME[=VALUE]",
        show_default=False,
    ),
]
InheritSettings = Annotated[
    bool | None,
    typer.Option(
        "--inherit-settings",
        help="Let the agents use your own home: log-in, settings, memory files, hooks.",
        show_default=False,
    ),
]
Fault = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        help="What the rehearsal's provider does wrong, in requests N to M: docs/agents.md.",
        metavar="NAME[:N[-M]]",
        autocompletion=completing.faults,
        show_default=False,
    ),
]
Record = Annotated[
    bool | None,
    typer.Option(
        "--record",
        help="Keep what the agents printed as a set for --agent replay:DIR.",
        show_default=False,
    ),
]
Controls = Annotated[
    list[str] | None,
    typer.Option(
        "--controls",
        help="Add arms to each tool mode: told the same without a tool (instructions, also without "
        "a word), or with tools that answer with irrelevant places (placebo).",
        metavar="[instructions] [placebo]",
        autocompletion=completing.controls,
        show_default=False,
    ),
]
Index = Annotated[
    str | None,
    typer.Option(
        "--index",
        help="cold: a standalone server indexes in its agents' time; warm: before. [default: cold]",
        metavar="cold|warm",
        autocompletion=completing.indexes,
        show_default=False,
    ),
]
MinConnected = Annotated[
    str | None,
    typer.Option(
        "--min-connected",
        help="Percent of a mode's trials that must reach its tool for a verdict. [default: 90]",
        metavar="PERCENT",
        show_default=False,
    ),
]
Timeout = Annotated[
    str | None,
    typer.Option(
        "--timeout",
        help="Time that an agent may take: seconds, or 90s, 5m, 1h. [default: 900]",
        metavar="TIME",
        show_default=False,
    ),
]
IndexTimeout = Annotated[
    str | None,
    typer.Option(
        "--index-timeout",
        help="Time that indexing or preparing may take, written alike. [default: 600]",
        metavar="TIME",
        show_default=False,
    ),
]
ServiceUrl = Annotated[
    str | None,
    typer.Option(
        "--service-url", help="Use this running canopy-service.", metavar="URL", show_default=False
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(
        "--seed", help="Draws the order of the modes. [default: 0]", metavar="N", show_default=False
    ),
]
Concurrency = Annotated[
    str | None,
    typer.Option(
        "--concurrency",
        help="Agents of a swarm that run at once. [default: --agents, or 4]",
        metavar="N",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        help="Folder of the session. [default: results/<benchmark>-<time>]",
        show_default=False,
    ),
]
Continue = Annotated[
    str | None,
    typer.Option(
        "--continue",
        help="Go on with a session, or extend it; the newest one without DIR.",
        metavar="[DIR]",
        autocompletion=completing.sessions,
        show_default=False,
    ),
]
Plan = Annotated[
    bool | None,
    typer.Option("--plan", help="Print what would run, and start nothing.", show_default=False),
]
Quiet = Annotated[
    bool | None, typer.Option("--quiet", help="Print no progress.", show_default=False)
]
Dirty = Annotated[
    bool | None, typer.Option("--dirty", help="Take uncommitted changes along.", show_default=False)
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        help="Take files along that --dirty or a plain folder leaves out: keys, large ones.",
        metavar="PATTERN",
        show_default=False,
    ),
]
KeepWorkspaces = Annotated[
    bool | None,
    typer.Option("--keep-workspaces", help="Keep what the agents worked in.", show_default=False),
]
RequireRetrieval = Annotated[
    bool | None,
    typer.Option(
        "--require-retrieval",
        help="Exit 4 unless every mode with a tool used it in each run (one trial is enough).",
        show_default=False,
    ),
]
RequireVerdict = Annotated[
    bool | None,
    typer.Option(
        "--require-verdict",
        help="Exit 4 unless there is a verdict on every mode that is compared.",
        show_default=False,
    ),
]
Trust = Annotated[
    bool | None,
    typer.Option(
        "--trust",
        help="Let the files of this folder, and a session from elsewhere, run what they name; "
        "remembered until that changes.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Settings file. [default: swarm-bench.toml]",
        metavar="FILE",
        show_default=False,
    ),
]
