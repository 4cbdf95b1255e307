"""`swarm-bench run`: a benchmark by its name."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.designs.running import show_result
from swarm_bench.cli.output.terminal import show
from swarm_bench.cli.variadic import VariadicCommand

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
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--models",
        metavar="M ...",
        help="Models that are compared, the first one being the reference: `swarm-bench models`. "
        "[default: reference copy]",
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=V,V", help="An arm of each model for each value of a property."),
]
Limit = Annotated[
    str | None, typer.Option(metavar="[START:]N", help="Ask N cases of the data set, from START.")
]
Dataset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|PATH", help="Rows to use: a name of `swarm-bench datasets`, or a file."
    ),
]
Environment = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Where code of models runs: local, or unconfined. [default: local]"
    ),
]
Allow = Annotated[
    bool, typer.Option("--allow-code-execution", help="Run the code that models write.")
]
GenerateOnly = Annotated[
    bool, typer.Option("--generate-only", help="Ask for the answers, and score none.")
]
Concurrency = Annotated[
    str | None, typer.Option(metavar="N", help="Requests at once. [default: 8]")
]
Timeout = Annotated[
    str | None, typer.Option(metavar="TIME", help="Time for one request. [default: 120]")
]
Plan = Annotated[bool, typer.Option("--plan", help="Print what would run, and start nothing.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress.")]


def register(app: typer.Typer) -> None:
    app.command(name="run", cls=VariadicCommand, help=HELP)(run)


def run(
    name: Name,
    properties: PropertyWords = None,
    runs: Runs = None,
    primary: Primary = None,
    margin: Margin = None,
    seed: Seed = None,
    output: Output = None,
    resume: Resume = None,
    models: Models = None,
    vary: Vary = None,
    limit: Limit = None,
    dataset: Dataset = None,
    environment: Environment = None,
    allow_code_execution: Allow = False,
    generate_only: GenerateOnly = False,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    plan: Plan = False,
    quiet: Quiet = False,
) -> None:
    from swarm_bench.app import cases  # heavy
    from swarm_bench.app.setup.case_experiment import CaseRequest, ModelOptions
    from swarm_bench.cli.output.progress import watching
    from swarm_bench.config.settings import checked

    request = CaseRequest(
        benchmark=name,
        properties=properties or (),
        resume=resume,
        primary=primary,
        asking=ModelOptions(
            models=models or (),
            vary=vary or (),
            limit=limit,
            dataset=dataset,
            environment=environment,
            allow_code_execution=allow_code_execution,
            generate_only=generate_only,
            **checked({"concurrency": concurrency, "timeout": timeout}),
        ),
        **checked({"runs": runs, "margin": margin, "seed": seed, "output": output}),
    )
    if plan:
        show(cases.show_plan(request))
        return
    with watching(quiet=quiet) as emit:
        result = cases.run(request, emit)
    show_result(result)
    result.check()
