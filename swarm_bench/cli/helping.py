"""Help in groups: options by what they are about, commands by what they are for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from inspect import cleandoc
from itertools import groupby
from textwrap import wrap
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from swarm_bench.cli.output.terminal import has_colours
from swarm_bench.config.annotations import Group
from swarm_bench.core.session.designs import AB, CALIBRATE, COMPARE, RETRIEVE

ARGUMENTS = "Arguments"
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Compare": {
        "demo": "Compare two tools on code that every installation has.",
        "doctor": "Check that a comparison can run here.",
        COMPARE.name: "Compare tools with agents, on the repository of this folder.",
        AB.name: "Compare tools with one agent at a time.",
        RETRIEVE.name: "Ask the tools themselves, without any agent.",
        "run": "Compare models in a benchmark.",
        CALIBRATE.name: "Measure by how much two identical arms differ.",
    },
    "Look at sessions": {
        "list": "List the sessions so far.",
        "report": "Print the summary of a session again.",
        "view": "Open the page of a session in a browser.",
        "merge": "Make one session of slices that ran on several machines.",
        "diff": "Compare two sessions.",
        "gate": "Hold a session against limits, for CI.",
        "export": "Write the trials as tables, JUnit or transcripts.",
        "rescore": "Score the answers of a session again.",
        "judge": "Have a model compare the answers of a session.",
    },
    "Choose what is compared": {
        "modes": "List the tools that agents can be given.",
        "tasks": "List, make and check tasks.",
        "agents": "List the agent programs.",
        "models": "List the kinds of models that `run` can ask.",
        "benchmarks": "List, show and write benchmarks.",
        "datasets": "List, show, check and fetch data sets.",
        "docs": "Print a page of the documentation, or an example.",
    },
}
"""The commands in their groups, in the order of these, with what the list of all says of them."""
_COLUMNS = re.compile(r" *\S+ {2,}")
_VALUE = re.compile(r"(--\S+) ([^-\s]\S*)")
"""An option with its value, which stay together."""
_CONTINUATION = " \\"
"""End of a line that continues."""
_SUMMARY = "Measure whether a retrieval tool helps coding agents, on your code, for its price."
_FIRST = ("demo", "doctor", COMPARE.name, RETRIEVE.name, "run", "list")
_ALL = "All commands: swarm-bench --help. One of them: swarm-bench compare --help"


class Folded:
    """Help whose lines break between words, those of examples too."""

    help: str | None

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does."""
        formatter.write_paragraph()
        with formatter.indentation():
            width = formatter.width - formatter.current_indent
            formatter.write_text("\n\n".join(_fold(cleandoc(self.help or ""), width)))


class FoldedCommand(Folded, TyperCommand):
    """Command with such help."""


class FoldedGroup(Folded, TyperGroup):
    """Command with such help, and others below it."""


class GroupedCommand(FoldedCommand):
    """Command whose options stand in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each group, in its order."""
        records = [
            (_find_group(param), record)
            for param in self.get_params(ctx)
            if (record := param.get_help_record(ctx)) is not None
        ]
        order = [ARGUMENTS, *Group]
        records.sort(key=lambda it: order.index(it[0]))
        _write(formatter, records)


class GroupedCommands(FoldedGroup):
    """Commands in groups, which without one of them says which come first."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each group."""
        _write(
            formatter, [(group, row) for group, rows in COMMANDS.items() for row in rows.items()]
        )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the line; an empty one is answered with the short help, and wrong usage still."""
        if not args and not ctx.resilient_parsing:
            typer.echo(_render_short_help(ctx.make_formatter()), nl=False, err=True)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)


def _render_short_help(formatter: Any) -> str:
    """Write what is done first with it."""
    summaries = {name: text for group in COMMANDS.values() for name, text in group.items()}
    formatter.write_text(_SUMMARY)
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_dl([(f"swarm-bench {name}", summaries[name]) for name in _FIRST])
    formatter.write_paragraph()
    formatter.write_text(_ALL)
    return str(formatter.getvalue())


def _fold(text: str, width: int) -> Iterator[str]:
    """Yield the paragraphs; of those whose lines stay as they are, break what is too long."""
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        if lines[0] == "\b":
            lines = [part for line in lines for part in _break_line(line, width)]
        yield "\n".join(lines)


def _break_line(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    start, columns = len(line) - len(line.lstrip()), _COLUMNS.match(line)
    if line.lstrip().startswith("swarm-bench "):
        goes_on = line.endswith(_CONTINUATION)
        joined = _VALUE.sub(r"\1\0\2", line.removesuffix(_CONTINUATION))
        wrapped = _wrap(joined, width - len(_CONTINUATION), start + 2)
        parts = [part.replace("\0", " ") for part in wrapped]
        return [*(part + _CONTINUATION for part in parts[:-1]), parts[-1] + _CONTINUATION * goes_on]
    return _wrap(line, width, columns.end() if columns else start)


def _wrap(line: str, width: int, start: int) -> list[str]:
    return wrap(
        line,
        width,
        subsequent_indent=" " * start,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _find_group(param: Any) -> str:
    if param.param_type_name == "argument":
        return ARGUMENTS
    return getattr(param, "rich_help_panel", None) or Group.SESSION


def _write(formatter: Any, rows: Iterable[tuple[str, tuple[str, str]]]) -> None:
    """Write the rows of each group below its name."""
    for group, of_group in groupby(rows, key=lambda row: row[0]):
        with formatter.section(typer.style(group, bold=True) if has_colours() else group):
            formatter.write_dl([row for _, row in of_group])
