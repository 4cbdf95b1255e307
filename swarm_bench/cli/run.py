"""`swarm-bench run`: a benchmark by its name."""

from inspect import Parameter
from typing import Annotated, Any

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.designs.running import show_result
from swarm_bench.cli.options import taking
from swarm_bench.cli.output.terminal import show
from swarm_bench.cli.variadic import VariadicCommand
from swarm_bench.config.options import Setting

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
        metavar="NAME", help="Name of a benchmark.", autocompletion=completing.benchmarks_to_run
    ),
]
PROPERTIES = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        "-p",
        metavar="NAME=VALUE",
        help="Set a property of it; lists and mappings are JSON, and @FILE is the text of a file.",
    ),
]


def _option(name: str, help: str, metavar: str | None = None, **more: Any) -> Setting:
    option = Setting(
        name=name,
        flag=f"--{name.replace('_', '-')}",
        kind="text" if metavar else "switch",
        help=help,
        metavar=metavar,
        default=None,
        several=False,
        bare=None,
    )
    return option._replace(**more)


SETTINGS = (
    _option(
        "models",
        "Models that are compared, the first one being the reference: see `swarm-bench models`.",
        "M ...",
        kind="texts",
        several=True,
        default="reference copy",
    ),
    _option(
        "vary",
        "Make an arm of each model for each value of a property.",
        "NAME=V,V",
        kind="texts",
    ),
    _option(
        "runs",
        "Repetitions: samples of each case.",
        "N",
        default="1 for models, 3 for other benchmarks",
    ),
    _option("limit", "Ask N cases of the data set, from START.", "[START:]N"),
    _option(
        "dataset", "Name of a data set of `swarm-bench datasets`, or a file with rows.", "NAME|PATH"
    ),
    _option(
        "environment",
        "Environment that runs code of models: local (bubblewrap), or unconfined.",
        "NAME",
        default="local",
    ),
    _option("allow_code_execution", "Run the code that models write."),
    _option("generate_only", "Ask for the answers, and score none."),
    _option("fail_fast", "End the session at the first trial that fails; a wrong answer is none."),
    _option("concurrency", "Requests at once.", "N", default="8"),
    _option("timeout", "Time for one request: seconds, or 90s, 5m.", "TIME", default="120"),
    _option(
        "primary",
        "Metric that the verdict is on, named before the first trial.",
        "KEY",
        default="the first that the benchmark compares",
    ),
    _option(
        "margin",
        "Difference in it that is of no importance, as 10% or 0.1.",
        "SHARE",
        default="10%",
    ),
    _option("seed", "Seed of the drawn order of the arms, and of the samples.", "N"),
    _option("output", "Folder of the session.", "DIR", default="results/<benchmark>-<time>"),
    _option(
        "resume",
        "Continue a session, or extend it: its folder, its id, or nothing for the newest one.",
        "[DIR|ID]",
        flag="--continue",
        bare="",
    ),
    _option("plan", "Print what would run, and start nothing."),
    _option("quiet", "Print no progress."),
)
_ASKING = ("models", "vary", "limit", "dataset", "environment", "concurrency", "timeout")
_SWITCHES = ("allow_code_execution", "generate_only", "fail_fast")


def register(app: typer.Typer) -> None:
    named = Parameter("benchmark", Parameter.KEYWORD_ONLY, annotation=NAME)
    assigned = Parameter("properties", Parameter.KEYWORD_ONLY, default=None, annotation=PROPERTIES)
    command = taking(SETTINGS, _run, also=(named, assigned), of_the_call=())
    app.command(name="run", cls=VariadicCommand, help=HELP)(command)


def _run(typed: dict[str, Any]) -> None:
    from swarm_bench.app import cases  # heavy
    from swarm_bench.app.setup.case_experiment import CaseRequest, ModelOptions
    from swarm_bench.app.stored.continuing import find_session
    from swarm_bench.cli.output.progress import watching
    from swarm_bench.config.settings import checked

    plan, quiet = typed.pop("plan", False), typed.pop("quiet", False)
    if (resume := typed.pop("resume", None)) is not None:
        resume = find_session(resume, typed["benchmark"])
    numbers = ("runs", "margin", "seed", "output", "concurrency", "timeout")
    typed |= checked({name: typed[name] for name in numbers if name in typed})
    asking = {name: typed.pop(name) for name in (*_ASKING, *_SWITCHES) if name in typed}
    request = CaseRequest(**typed, resume=resume, asking=ModelOptions(**asking))
    if plan:
        show(cases.show_plan(request))
        return
    with watching(quiet=quiet) as emit:
        result = cases.run(request, emit)
    show_result(result)
    result.check()
