"""The options of `run`, declared once, as those of `compare` are in `options.py`."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from swarm_bench.config.annotations import (
    METRIC,
    Arguments,
    Count,
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
from swarm_bench.config.compare_options import Settings
from swarm_bench.core.session.designs import ENVIRONMENT, LOCAL, MARGIN

MODELS = ("reference", "copy")
"""Those that are asked where nobody names any."""
RUNS, RUNS_OF_MODELS = 3, 1
CONCURRENCY = 8
TIMEOUT, AGENT_TIMEOUT = 120.0, Settings.timeout
MAX_TURNS = Settings.max_turns


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """All options of `run`, in the order of help; `None` for what is not set, where a session that
    is continued has it. Times in seconds."""

    __pydantic_config__ = {"extra": "forbid"}

    models: Annotated[
        Arguments,
        Option(
            "Models that are compared, the first one being the reference: see `swarm-bench "
            "models`.",
            metavar="M ...",
            default=" ".join(MODELS),
            several=True,
        ),
        Scope(Group.COMPARED, of_models=True, trusted=True),
    ] = field(default_factory=list)
    vary: Annotated[
        Arguments,
        Option(
            "Make an arm of each model for each value of a property; @FILE is the text of a file.",
            metavar="NAME=V,V",
        ),
        Scope(Group.COMPARED, of_models=True),
    ] = field(default_factory=list)
    runs: Annotated[
        Count | None,
        Option(
            "Repetitions: samples of each case.",
            metavar="N",
            default=f"{RUNS_OF_MODELS} for models, {RUNS} for other benchmarks",
        ),
        Scope(Group.AMOUNT),
    ] = None
    limit: Annotated[
        str | None,
        Option("Ask N cases of the data set, from START on, counted from 0.", metavar="[START:]N"),
        Scope(Group.COMPARED, of_models=True),
    ] = None
    dataset: Annotated[
        str | None,
        Option(
            "Name of a data set of `swarm-bench datasets`, with an argument where it takes one, a "
            "file of rows, or module:Class.",
            metavar="NAME|PATH",
        ),
        Scope(Group.COMPARED, of_models=True, trusted=True),
    ] = None
    environment: Annotated[
        str | None,
        Option(
            "Environment that runs code of models: local (bubblewrap), container:IMAGE or "
            "container:/root/folder (podman, else docker), unconfined, or one of a package.",
            metavar="NAME",
            default=ENVIRONMENT,
        ),
        Scope(Group.VERDICT, of_models=True, trusted=True),
    ] = None
    judge: Annotated[
        str | None,
        Option(
            "Model that judges answers, in benchmarks that have one do so; a word as after "
            "--models.",
            metavar="M",
        ),
        Scope(Group.VERDICT, of_models=True, trusted=True),
    ] = None
    allow_code_execution: Annotated[
        bool,
        Option("Run the code that models write."),
        Scope(Group.VERDICT, of_call=True, of_models=True, trusted=True),
    ] = False
    generate_only: Annotated[
        bool, Option("Ask for the answers, and score none."), Scope(Group.VERDICT, of_models=True)
    ] = False
    fail_fast: Annotated[
        bool,
        Option("End the session at the first trial that fails; a wrong answer is no failure."),
        Scope(Group.AMOUNT, of_call=True, of_models=True),
    ] = False
    concurrency: Annotated[
        Count | None,
        Option("Requests at once.", metavar="N", default=str(CONCURRENCY)),
        Scope(Group.AMOUNT, of_models=True),
    ] = None
    timeout: Annotated[
        Seconds | None,
        Option(
            "Time for one request: seconds, or 90s, 5m.",
            metavar="TIME",
            default=f"{TIMEOUT:g}, and {AGENT_TIMEOUT:g} with an agent program",
        ),
        Scope(Group.AMOUNT, of_models=True),
    ] = None
    max_turns: Annotated[
        Count | None,
        Option("Turns of an agent program (agent:NAME).", metavar="N", default=str(MAX_TURNS)),
        Scope(Group.AMOUNT, of_models=True),
    ] = None
    max_cost: MaxCost = None
    primary: Annotated[
        str | None,
        METRIC._replace(default="the first that the benchmark compares"),
        Scope(Group.VERDICT),
    ] = None
    margin: Annotated[
        Part | None,
        Option(
            "Difference in it that is of no importance, as 10% or 0.1.",
            metavar="SHARE",
            default=f"{MARGIN:.0%}",
        ),
        Scope(Group.VERDICT),
    ] = None
    seed: Annotated[
        int | None,
        Option("Seed of the drawn order of the arms, and of the samples.", metavar="N"),
        Scope(Group.AMOUNT),
    ] = None
    slice: Slice = None
    on: On = LOCAL
    output: Output = None
    resume: Resume = None
    plan: Plan = False
    quiet: Quiet = False
    report: Annotated[
        Literal["console", "json"],
        Option(
            "Form of what is printed at the end: the summary, or the figures of all models.",
            metavar="console|json",
        ),
        Scope(of_call=True, of_models=True),
    ] = "console"


RUN_SCOPES = notes(RunSettings, Scope)
