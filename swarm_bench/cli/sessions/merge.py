"""`swarm-bench merge`."""

from pathlib import Path
from typing import Annotated

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.output.terminal import say, show_summary
from swarm_bench.cli.output.waiting import show_step

MERGE = """Make one session of the slices of a plan, each of which ran with --slice as a job of its
own: a GitHub matrix, a Slurm array, an Indexed Job. The slices stay as they are. What a missing one
should have run is counted as missing, and --continue of the merged session runs it.

\b
Examples:
  swarm-bench merge part-1 part-2 part-3
  swarm-bench merge part-* --output whole

Exit codes: 0 merged, 2 wrong usage, 3 it could not be written.
"""


def register(app: typer.Typer) -> None:
    app.command(name="merge", cls=FoldedCommand, help=MERGE)(merge)


def merge(
    slices: Annotated[
        list[Path],
        typer.Argument(metavar="DIR ...", help="Folder of a slice; several of one plan."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the session. [default: results/<benchmark>-merged-<time>]",
        ),
    ] = None,
) -> None:
    with show_step(f"merging {len(slices)} slices"):
        from swarm_bench.app.merging import merge as merge_slices

        merged = merge_slices(slices, output)
    show_summary(merged.summary)
    for path in merged.repeated:
        say(f"{path} was named more than once, and is in the session once.")
    say(f"Results: {merged.folder}")
