"""Writes the table of trials for other programs: CSV for spreadsheets, JSON with the rest of the
session."""

import csv
import json
from io import StringIO

from swarm_bench.core.report.standing import export_caveats
from swarm_bench.core.report.trials_table import Entry, TrialsTable
from swarm_bench.reports.text import visible

SCHEMA_VERSION = 1
"""Of the JSON document; higher when a key of it gets another meaning."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet computes."""


def render_csv(table: TrialsTable) -> str:
    """Write a row for each trial. What is missing is empty, a character that a terminal would obey
    is written by its number, and text that a spreadsheet would compute gets an apostrophe."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_cell(column.name) for column in table.columns])
    writer.writerows([_cell(entry) for entry in row] for row in table.rows)
    return text.getvalue()


def render_json(table: TrialsTable) -> str:
    """Write one document: the experiment, the columns, the caveats, a trial a line, and the
    swarms; in ASCII, so that no terminal obeys it."""
    names = [column.name for column in table.columns]
    columns = {
        column.name: {"unit": column.unit, "definition": column.definition}
        for column in table.columns
    }
    trials = ",\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in table.rows)
    parts = (
        f'"schema_version": {SCHEMA_VERSION}',
        f'"experiment": {json.dumps(table.experiment)}',
        f'"columns": {json.dumps(columns)}',
        f'"caveats": {json.dumps(export_caveats(table.caveats))}',
        f'"trials": [\n{trials}\n]',
        f'"swarms": {json.dumps(table.swarms)}',
    )
    return "{" + ",\n".join(parts).replace("\x7f", "\\u007f") + "}\n"


def _cell(entry: Entry) -> str | float | None:
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if not isinstance(entry, str):
        return entry
    text = visible(entry)
    return f"'{text}" if text.startswith(_FORMULA) else text
