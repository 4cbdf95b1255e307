"""`swarm-bench view`."""

import typer

from swarm_bench.cli.helping import FoldedCommand
from swarm_bench.cli.options import LATEST, SessionArgument, find_session
from swarm_bench.cli.output.terminal import say, show
from swarm_bench.cli.output.waiting import show_step

VIEW = """Open the page of a session, report.html, in a browser. It is one file, and needs no server
and no network.

\b
Examples:
  swarm-bench view
  swarm-bench view results/swarm-20261120-213300

A session without a page gets one. Where no browser can be opened, the path of the page is printed.
"""


def register(app: typer.Typer) -> None:
    app.command(name="view", cls=FoldedCommand, help=VIEW)(view)


def view(session: SessionArgument = LATEST) -> None:
    import webbrowser  # only this command needs it

    folder = find_session(session)
    with show_step(f"looking for the page of {folder}"):
        from swarm_bench.app.stored.pages import find_page

        page = find_page(folder).resolve()
    if webbrowser.open_new_tab(page.as_uri()):
        say(f"Opened {page}")
        return
    show(f"{page}\n")
    say("There is no browser to open it; open it with one of yours")
