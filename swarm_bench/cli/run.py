"""`swarm-bench run`: a benchmark by its name."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.designs.running import show_result
from swarm_bench.cli.output.terminal import show

HELP = """Run a benchmark of another package, by its name or as module:Class.

\b
Examples:
  swarm-bench run my-benchmark
  swarm-bench run my-benchmark --runs 10 --property style=short
  swarm-bench run my-benchmark --primary accuracy --margin 0.05
  swarm-bench run my-benchmark --continue results/my-benchmark-20261120-213300 --runs 20

`swarm-bench benchmarks show NAME` lists its properties. Exit codes as in `compare`.
"""
Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="Name of a benchmark.", autocompletion=completing.benchmarks_to_run
    ),
]
PropertyWords = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        "-p",
        metavar="NAME=VALUE",
        help="Set a property of it; lists and mappings are JSON.",
    ),
]
Runs = Annotated[
    str | None, typer.Option(metavar="N", help="Repetitions of the plan. [default: 3]")
]
Primary = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="Metric that the verdict is on, named before the first trial. "
        "[default: the first that the benchmark compares]",
    ),
]
Margin = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Difference in it that is of no importance, as 10% or 0.1. [default: 10%]",
    ),
]
Seed = Annotated[str | None, typer.Option(metavar="N", help="Seed of the drawn order of the arms.")]
Output = Annotated[str | None, typer.Option(metavar="DIR", help="Folder of the session.")]
Resume = Annotated[
    Path | None, typer.Option("--continue", metavar="DIR", help="Continue a session, or extend it.")
]
Plan = Annotated[bool, typer.Option("--plan", help="Print what would run, and start nothing.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress.")]


def register(app: typer.Typer) -> None:
    app.command(name="run", help=HELP)(run)


def run(
    name: Name,
    properties: PropertyWords = None,
    runs: Runs = None,
    primary: Primary = None,
    margin: Margin = None,
    seed: Seed = None,
    output: Output = None,
    resume: Resume = None,
    plan: Plan = False,
    quiet: Quiet = False,
) -> None:
    from swarm_bench.app import cases  # heavy
    from swarm_bench.app.setup.case_experiment import CaseRequest
    from swarm_bench.cli.output.progress import watching
    from swarm_bench.config.settings import checked

    request = CaseRequest(
        benchmark=name,
        properties=properties or (),
        resume=resume,
        primary=primary,
        **checked({"runs": runs, "margin": margin, "seed": seed, "output": output}),
    )
    if plan:
        show(cases.show_plan(request))
        return
    with watching(quiet=quiet) as emit:
        result = cases.run(request, emit)
    show_result(result)
    result.check()
