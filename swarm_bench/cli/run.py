"""`swarm-bench run`: a benchmark by its name."""

from inspect import Parameter
from typing import Annotated, Any

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.compare import ask, show_result
from swarm_bench.cli.options import add_options
from swarm_bench.cli.output.terminal import show, terminal_width
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.annotations import Group
from swarm_bench.config.command_line import run_command_line

HELP = """Run a benchmark by its name, or as module:Class: models on the cases of a data set, or
whatever a package compares.

\b
Examples:
  swarm-bench run humaneval --allow-code-execution
  swarm-bench run mbpp --models http://127.0.0.1:8080/v1#qwen copy --allow-code-execution
  swarm-bench run humaneval --models openai:gpt-5 --vary temperature=0.2,0.8 --runs 20 \\
    --allow-code-execution
  swarm-bench run humaneval --continue results/humaneval-20261120-213300 --runs 40 \\
    --allow-code-execution
  swarm-bench run my-benchmark --property style=short --primary accuracy --margin 0.05

`swarm-bench benchmarks show NAME` lists its properties, `swarm-bench models` who can be asked.
Exit codes as in `compare`.
"""
NAME = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Name of a benchmark.",
        autocompletion=completing.offer_runnable_benchmarks,
    ),
]
PROPERTIES = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        "-p",
        metavar="NAME=VALUE",
        help="Set a property of it; lists and mappings are JSON, and @FILE is the text of a file.",
        autocompletion=completing.offer_properties,
        rich_help_panel=Group.COMPARED,
    ),
]


_MANY = 100
"""Trials: from there on a log counts them."""


def register(app: typer.Typer) -> None:
    name = Parameter("benchmark", Parameter.KEYWORD_ONLY, annotation=NAME)
    properties = Parameter(
        "properties", Parameter.KEYWORD_ONLY, default=None, annotation=PROPERTIES
    )
    command = add_options(run_command_line(), _run, also=(name, properties))
    app.command(name="run", cls=VariadicCommand, help=HELP)(command)


def _run(typed_options: dict[str, Any]) -> None:
    config, trust = typed_options.pop("config", None), typed_options.pop("trust", False)
    name, properties = typed_options.pop("benchmark"), typed_options.pop("properties", [])
    with show_step("starting"):
        # Imported here, so that help and completion answer at once.
        from swarm_bench.app import session
        from swarm_bench.app.benchmarks import run_call
        from swarm_bench.app.running.pairs import resolve
        from swarm_bench.app.stored.pairs import read_figures
        from swarm_bench.app.trust.approval import require_code, vouch
        from swarm_bench.app.trust.run_demands import is_code, list_request_demands
        from swarm_bench.cli.output.progress import watch_progress

        request = resolve(name, properties, typed_options, config)
    demands, settings = list_request_demands(request), request.settings
    if settings.plan:
        require_code([demand for demand in demands if is_code(demand)], trust=trust)
        show(session.show_plan(run_call(request), terminal_width()))
        return
    vouch(demands, trust=trust, ask=ask)
    with watch_progress(quiet=settings.quiet, counted_from=_MANY) as emit:
        result = session.run(run_call(request), emit)
    show_result(result, read_figures(result) if settings.report == "json" else None)
    result.check()
