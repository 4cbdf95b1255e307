"""`swarm-bench report`, and `swarm-bench view`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, SessionArgument, find_session
from swarm_bench.cli.output.terminal import say, show, show_summary
from swarm_bench.cli.output.waiting import show_step
from swarm_bench.core.errors import StoreError, SwarmBenchError, UsageError

if TYPE_CHECKING:
    from swarm_bench.core.events import Emit, Event
    from swarm_bench.core.report.document import RenderedDocument

REPORT = """Render the summary of a session again, also of a folder that canopy's own script wrote.

\b
Examples:
  swarm-bench report
  swarm-bench report results/swarm-20261120-213300
  swarm-bench report results/swarm-20261120-213300 --html
  swarm-bench report results/swarm-20261120-213300 --primary cost --margin 20%

With another --primary, --margin, --quality or --quality-margin than was named before the first
trial the summary says so, and is printed only: the session and its summary.md stay as they are.
"""
VIEW = """Open the page of a session, report.html, in a browser. It is one file, and needs no server
and no network.

\b
Examples:
  swarm-bench view
  swarm-bench view results/swarm-20261120-213300

The page is written anew, as one that lies in a folder may be by anybody. Where no browser can be
opened, the path of the page is printed.
"""


def register(app: typer.Typer) -> None:
    app.command(name="report", cls=FoldedCommand, help=REPORT)(report)
    app.command(name="view", cls=FoldedCommand, help=VIEW)(view)


def report(
    session: SessionArgument = LATEST,
    primary: Annotated[
        str | None, typer.Option(metavar="KEY", help="Metric that the verdict is on.")
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option(metavar="PERCENT", help="Difference in it that is of no importance."),
    ] = None,
    quality: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Metric from 0 to 1 that must not be worse."),
    ] = None,
    quality_margin: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Amount by which it may be lower."),
    ] = None,
    html: Annotated[
        bool,
        typer.Option("--html", help="Write report.html too, a page that needs no network."),
    ] = False,
) -> None:
    folder = find_session(session)
    settings = {
        "primary": primary,
        "margin": margin,
        "quality": quality,
        "quality_margin": quality_margin,
    }
    overrides = {name: value for name, value in settings.items() if value is not None}
    summary, problem, note = _summarise(folder, overrides, html=html)
    show_summary(summary, folder)
    if problem:
        raise problem
    if note:
        say(note)


def _summarise(
    folder: Path, overrides: dict[str, str], *, html: bool
) -> "tuple[RenderedDocument, SwarmBenchError | None, str]":
    """Return the summary, what prevented that it or the page was written, as what is there is shown
    all the same, and a note where it cannot be written anyway."""
    with _show_step(f"summarising {folder}") as emit:
        from swarm_bench.app.stored.pages import report_page
        from swarm_bench.app.stored.reporting import is_writable, render_only
        from swarm_bench.app.stored.reporting import report as render

        try:
            summary = report_page(folder, overrides, emit) if html else render(folder, overrides)
        except (StoreError, UsageError) as error:
            if overrides:
                raise
            return render_only(folder), error, ""
        note = f"{folder} cannot be written, so the summary in it stays as it was"
        return summary, None, "" if is_writable(folder) else note


def view(session: SessionArgument = LATEST) -> None:
    import webbrowser  # only this command needs it

    folder = find_session(session)
    with _show_step(f"writing the page of {folder}") as emit:
        from swarm_bench.app.stored.pages import make_page

        page = make_page(folder, emit).resolve()
    if webbrowser.open_new_tab(page.as_uri()):
        say(f"Opened {page}")
        return
    show(f"{page}\n")
    say("There is no browser to open it; open it with one of yours")


@contextmanager
def _show_step(step: str) -> "Iterator[Emit]":
    """Show what the call is at, and after it what was warned of meanwhile."""
    events: list[Event] = []
    try:
        with show_step(step):
            yield events.append
    finally:
        if events:
            from swarm_bench.cli.output.progress import describe  # heavy

            for event in events:
                say(describe(event))
