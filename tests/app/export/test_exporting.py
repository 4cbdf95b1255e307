"""What is exported of a session: all of its trials, under the names that the docs have."""

import csv
import json
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest

from swarm_bench.analysis.trials_table import COMMON
from swarm_bench.app.export.exporting import export, export_to
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.trials_table import TableColumn, TrialsTable
from swarm_bench.reports.trials_text import render_csv, render_json

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "session"


def test_csv_has_a_line_for_each_trial_and_a_column_for_each_metric() -> None:
    rows = list(csv.DictReader(StringIO(export(GOLDEN, "csv"))))
    stored = [json.loads(line) for line in (GOLDEN / "metrics.jsonl").read_bytes().splitlines()]
    assert {row["trial"] for row in rows} == {line["trial"] for line in stored}
    assert {metric.key for metric in METRICS if metric.read} <= set(rows[0])
    by_key = {(line["trial"], line["attempt"]): line for line in stored}
    for row in rows:
        given = by_key[row["trial"], int(row["attempt"])]["effective_tokens"]
        assert row["effective_tokens"] == ("" if given is None else str(given))
        assert row["compares"] in ("true", "false")


def test_json_holds_the_experiment_and_the_swarms() -> None:
    document = json.loads(export(GOLDEN, "json"))
    stored = json.loads((GOLDEN / "experiment.json").read_text("utf-8"))
    assert document["schema_version"] == 1
    assert document["experiment"]["session"] == stored["session"]
    assert [*document["columns"]] == [*document["trials"][0]]
    assert "before" in document["swarms"][0]
    assert len(document["trials"]) == len(list(csv.DictReader(StringIO(export(GOLDEN, "csv")))))


def test_the_session_stays_as_it_is_and_so_does_what_is_there(tmp_path: Path) -> None:
    session = shutil.copytree(GOLDEN, tmp_path / "session")
    before = {path.name: path.read_bytes() for path in session.iterdir()}
    export_to(session, "csv", tmp_path / "trials.csv")
    assert (tmp_path / "trials.csv").read_text("utf-8") == export(session, "csv")
    with pytest.raises(UsageError, match="exists"):
        export_to(session, "json", session / "metrics.jsonl")
    assert {path.name: path.read_bytes() for path in session.iterdir()} == before


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no session"):
        export(tmp_path, "csv")
    with pytest.raises(UsageError, match="is not a folder"):
        export(tmp_path / "none", "csv")


def test_a_spreadsheet_computes_no_text_and_figures_stay_figures() -> None:
    columns = tuple(TableColumn(name=name, unit="", definition="") for name in ("a", "b", "c"))

    def table() -> TrialsTable:
        return TrialsTable(columns=columns, rows=[("=cmd()", -1.5, None)], experiment=None)

    assert render_csv(table()) == "a,b,c\n'=cmd(),-1.5,\n"
    assert json.loads(render_json(table()))["trials"] == [{"a": "=cmd()", "b": -1.5, "c": None}]


def test_the_docs_name_the_columns() -> None:
    page = (ROOT / "docs" / "export.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ?(.*?) \| (.*) \|$", page, re.MULTILINE)
    assert rows == [(column.name, column.unit, column.definition) for column in COMMON]
