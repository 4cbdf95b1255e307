"""`swarm-bench report`."""

import typer

from swarm_bench.cli.options import SessionArgument
from swarm_bench.cli.output.terminal import show_summary


def register(app: typer.Typer) -> None:
    app.command(name="report")(report)


def report(
    folder: SessionArgument,
) -> None:
    """Render the summary of a session again, also of a folder that canopy's own script wrote.

    Example: swarm-bench report results/swarm-20261120-213300
    """
    from swarm_bench.app.report import report as render  # heavy

    show_summary(render(folder), folder)
