"""`swarm-bench gate`: an exit code for CI."""

from typing import Annotated

import typer

from swarm_bench.cli import completing
from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, SessionArgument, find_session
from swarm_bench.cli.output.terminal import show_summary
from swarm_bench.cli.output.waiting import show_step

HELP = """Hold a session against limits: exit code 0 when all of them hold, for CI.

A limit is METRIC=NUMBER, or MODE:METRIC=NUMBER for one mode; without a mode it is on every mode
that is compared, and on no control. Ratios are those of the verdict: against the first mode, paired
task by task. Other figures are means over tasks; recall stands for what the answers are judged by.
Options can be repeated. `swarm-bench docs gate` has the details, `swarm-bench docs ci` a workflow.

\b
Examples:
  swarm-bench gate results/swarm-20261120-213300 --min recall=0.6
  swarm-bench gate results/swarm-20261120-213300 --max-ratio effective_tokens=1.05
  swarm-bench gate results/swarm-20261120-213300 --max canopy:cost=0.5 --bound interval

What the built-in scout spends is decided by fixed rules, so a limit on it is not measured; the
first example holds for scout, too, and the others want an agent with a model.

Exit codes: 0 every limit holds, 2 wrong usage, 4 one is violated, not measured or
inconclusive.
"""
MaxRatio = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIMIT",
        autocompletion=completing.offer_limits,
        help="Most that a mode may take for each 1 of the reference.",
    ),
]
Max = Annotated[
    list[str] | None,
    typer.Option(
        "--max",
        metavar="LIMIT",
        autocompletion=completing.offer_limits,
        help="Most that the figure of a mode may be.",
    ),
]
Min = Annotated[
    list[str] | None,
    typer.Option(
        "--min",
        metavar="LIMIT",
        autocompletion=completing.offer_limits,
        help="Least that the figure of a mode may be.",
    ),
]
JudgedBy = Annotated[
    str,
    typer.Option(
        metavar="WHICH",
        autocompletion=completing.offer_bounds,
        help="Judge by the estimate, or by the whole 95 % interval, which is inconclusive where it "
        "contains the limit: estimate or interval.",
    ),
]
AllowInconclusive = Annotated[
    bool,
    typer.Option("--allow-inconclusive", help="Exit with 0 where a limit is inconclusive."),
]


def register(app: typer.Typer) -> None:
    app.command(name="gate", cls=FoldedCommand, help=HELP)(gate)


def gate(
    session: SessionArgument = LATEST,
    max_ratio: MaxRatio = None,
    maximum: Max = None,
    minimum: Min = None,
    bound: JudgedBy = "estimate",
    allow_inconclusive: AllowInconclusive = False,
) -> None:
    from swarm_bench.core.report.gate import Kind

    typed_limits = {Kind.MAX_RATIO: max_ratio, Kind.MAX: maximum, Kind.MIN: minimum}
    folder = find_session(session)
    with show_step(f"reading {folder}"):
        from swarm_bench.app.stored.reporting import gate_session

        result = gate_session(
            folder, {kind: texts or [] for kind, texts in typed_limits.items()}, bound
        )
    show_summary(result.summary)
    result.check(allow_inconclusive=allow_inconclusive)
