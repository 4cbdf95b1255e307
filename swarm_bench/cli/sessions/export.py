"""`swarm-bench export`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, SessionArgument, find_session
from swarm_bench.cli.output.terminal import say, show
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.core.errors import UsageError

if TYPE_CHECKING:
    from swarm_bench.app.exporting import TrialFormat


FormatOption = Annotated[
    Literal["csv", "json", "junit", "parquet", "atif", "inspect", "otel"],
    typer.Option(
        "--format",
        help="Format: csv for the trials, json for the experiment and swarms too, junit for "
        "what shows the tests of a build, parquet for the trials with their types; atif for "
        "Harbor's trajectories, inspect for logs of Inspect, otel for spans of OpenTelemetry.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="A new file, in the place of standard output; for atif and inspect a new folder.",
    ),
]
ContentsOption = Annotated[
    bool,
    typer.Option(
        "--contents", help="With otel: also what was asked, called and answered, as texts."
    ),
]


def register(app: typer.Typer) -> None:
    app.command(name="export", cls=FoldedCommand)(export)


def export(
    session: SessionArgument = LATEST,
    kind: FormatOption = "csv",
    output: OutputOption = None,
    contents: ContentsOption = False,
) -> None:
    """Write the trials of a session for a spreadsheet or another program. In a notebook, `from
    swarm_bench import load` gives data frames.

    \b
    Examples:
      swarm-bench export results/swarm-20261120-213300 --format csv > trials.csv
      swarm-bench export results/swarm-20261120-213300 --format parquet --output trials.parquet
      swarm-bench export results/swarm-20261120-213300 --format atif --output trajectories
    """
    if contents and kind != "otel":
        raise UsageError(f"--contents is an option of --format otel, and {kind} has none; omit it")
    folder = find_session(session)
    match kind:
        case "atif" | "inspect" | "otel":
            _export_trials(folder, kind, output, contents=contents)
        case _:
            _export_table(folder, kind, output)


def _export_table(
    folder: Path, kind: Literal["csv", "json", "junit", "parquet"], output: Path | None
) -> None:
    """Write the table of trials."""
    with show_step(f"reading {folder}"):
        from swarm_bench.app import exporting

        if output is not None:
            exporting.export_to(folder, kind, output)
            return
        if kind == "parquet":
            raise UsageError("parquet is binary; name a file with --output")
        text = exporting.export(folder, kind)
    show(text)


def _export_trials(
    folder: Path, kind: "TrialFormat", output: Path | None, *, contents: bool
) -> None:
    """Write what has a trial as a whole, and say what is not among it."""
    if output is None and kind != "otel":
        raise UsageError(f"{kind} is several files; name a new folder with --output")
    with show_step(f"reading {folder}"):
        from swarm_bench.app import exporting

        if output is not None:
            sentences = exporting.export_trials(folder, kind, output, contents=contents)
        else:
            traces = exporting.read_traces(folder, contents=contents)
    if output is None:
        for line in traces.lines:
            show(line)
        sentences = traces.describe()
    for sentence in sentences:
        say(sentence)
