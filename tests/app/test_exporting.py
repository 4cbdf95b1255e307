"""What is exported of a session: all of its trials, under the names that the docs have."""

import csv
import json
import re
import shutil
import sys
from io import StringIO
from pathlib import Path

import pytest
from junitparser import JUnitXml
from pyarrow import parquet

import swarm_bench
from swarm_bench.analysis.export_table import COMMON
from swarm_bench.app.exporting import export, export_to
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.report.trials import TableColumn, TrialsTable
from swarm_bench.reports.exports import render_csv, render_json, render_junit
from tests.builders.contradicted import store_contradicted

ROOT = Path(__file__).parents[2]
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


def test_junit_has_a_test_case_for_each_trial() -> None:
    document = export(GOLDEN, "junit")
    suites = JUnitXml.fromstring(document.encode())
    rows = list(csv.DictReader(StringIO(export(GOLDEN, "csv"))))
    assert [suite.name for suite in suites] == list(dict.fromkeys(row["arm"] for row in rows))
    assert sum(suite.tests for suite in suites) == len(rows)
    failed = sum(row["counts"] == "true" and row["status"] != "completed" for row in rows)
    assert sum(suite.failures for suite in suites) == failed > 0
    assert sum(suite.skipped for suite in suites) == sum(row["counts"] == "false" for row in rows)


def test_junit_holds_what_agents_wrote_and_no_character_that_xml_cannot() -> None:
    names = ("arm", "case", "run", "number", "status", "cause", "detail", "counts", "right_answer")
    columns = tuple(TableColumn(name=name, unit="", definition="", kind="text") for name in names)
    hostile = "]]></failure><x a='&\x00\x1b\ud800\ufffe\">"
    rows = [
        (hostile, hostile, 1, 1, "agent-failed", "error-result", hostile, True, None),
        (hostile, "b", 1, 2, "completed", "finished", None, True, False),
        (hostile, "c", 1, 3, "completed", "finished", None, True, True),
        (hostile, "d", 1, 4, "harness-failed", "workspace-failed", "no space", False, None),
    ]
    table = TrialsTable(columns=columns, rows=iter(rows), experiment=None, caveats={})
    (suite,) = JUnitXml.fromstring(render_junit(table).encode())
    results = [[type(result).__name__ for result in case.result] for case in suite]
    assert results == [["Failure"], ["Failure"], [], ["Skipped"]]
    assert suite.name == "]]></failure><x a='&<U+0000><U+001B>\">"


def test_no_export_drives_a_terminal() -> None:
    hidden = "".join(map(chr, (0x1B, 0x7F, 0x9B, 0x202E, 0x2028, 0xE0041, 0xFEFF)))
    columns = tuple(
        TableColumn(name=name, unit=hidden, definition=hidden, kind="text")
        for name in ("arm", "case", "run", "number", "status", "cause", "detail", "counts")
    )
    caveats = {f"a{hidden}": (Caveat(qualification=hidden, is_void=True),)}
    for render in (render_csv, render_json, render_junit):
        row = (f"a{hidden}", hidden, 1, 1, "agent-failed", "exit-code", hidden, True)
        table = TrialsTable(
            columns=columns, rows=iter([row]), experiment={"x": hidden}, caveats=caveats
        )
        assert set(render(table)).isdisjoint(hidden), render.__name__
    table = TrialsTable(columns=columns, rows=iter([row]), experiment=None, caveats={})
    assert json.loads(render_json(table))["trials"][0]["detail"] == hidden


def test_a_mode_without_a_trial_has_its_caveats_in_junit() -> None:
    caveats = {"baseline": (), "tool": (Caveat(qualification="nothing answered", is_void=True),)}
    table = TrialsTable(columns=(), rows=iter(()), experiment=None, caveats=caveats)
    _, suite = JUnitXml.fromstring(render_junit(table).encode())
    assert (suite.name, suite.tests, suite.errors) == ("tool", 1, 1)


def test_parquet_has_types_units_and_every_trial(tmp_path: Path) -> None:
    export_to(GOLDEN, "parquet", tmp_path / "trials.parquet")
    table = parquet.read_table(tmp_path / "trials.parquet")
    rows = list(csv.DictReader(StringIO(export(GOLDEN, "csv"))))
    assert table.column_names == list(rows[0])
    assert table["trial"].to_pylist() == [row["trial"] for row in rows]
    wall = table.schema.field("wall_seconds")
    assert (str(wall.type), wall.metadata[b"unit"]) == ("double", b"seconds")
    assert table["cost"].null_count == sum(not row["cost"] for row in rows)


def test_load_gives_frames_in_which_nothing_missing_is_0() -> None:
    session = swarm_bench.load(GOLDEN)
    rows = list(csv.DictReader(StringIO(export(GOLDEN, "csv"))))
    assert list(session.trials.columns) == list(rows[0]) == list(session.columns["name"])
    assert session.trials["cost"].isna().sum() == sum(not row["cost"] for row in rows)
    assert str(session.trials["started_at"].dtype).endswith("UTC]")
    wall = session.figures[session.figures["metric"] == "wall_seconds"]
    given = [float(row["wall_seconds"]) for row in rows if row["wall_seconds"]]
    assert wall["value"].tolist() == given
    assert set(wall["unit"]) == {"seconds"}
    assert not session.figures["value"].isna().any()
    assert session.experiment is not None
    assert len(session.swarms) > 0
    assert repr(session).startswith(f"<LoadedSession: trials ({len(rows)}), figures (")


def test_without_its_library_a_format_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=r"pip install pandas"):
        swarm_bench.load(GOLDEN)
    with pytest.raises(UsageError, match=r"pip install pyarrow"):
        export_to(GOLDEN, "parquet", tmp_path / "trials.parquet")


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
    columns = tuple(TableColumn(name=name, unit="", definition="", kind="text") for name in "abc")

    def table() -> TrialsTable:
        return TrialsTable(
            columns=columns, rows=[("=cmd()", -1.5, None)], experiment=None, caveats={}
        )

    assert render_csv(table()) == "a,b,c\n'=cmd(),-1.5,\n"
    assert json.loads(render_json(table()))["trials"] == [{"a": "=cmd()", "b": -1.5, "c": None}]


def test_a_terminal_obeys_nothing_in_a_table() -> None:
    columns = (TableColumn(name="detail", unit="", definition="", kind="text"),)
    table = TrialsTable(columns=columns, rows=[("\x1b[31mred",)], experiment=None, caveats={})
    assert render_csv(table) == "detail\n<U+001B>[31mred\n"


def test_the_docs_name_the_columns() -> None:
    page = (ROOT / "docs" / "export.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ?(.*?) \| (.*) \|$", page, re.MULTILINE)
    assert rows == [(column.name, column.unit, column.definition) for column in COMMON]


def test_a_file_may_lie_above_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    export_to(GOLDEN, "csv", Path("../trials.csv"))
    assert (tmp_path / "trials.csv").read_text() == export(GOLDEN, "csv")


def test_figures_that_the_stored_output_contradicts_are_void(tmp_path: Path) -> None:
    store_contradicted(tmp_path)
    caveats = json.loads(export(tmp_path, "json"))["caveats"]
    assert any(caveat["void"] for caveat in caveats if caveat["arm"] == "canopy")


def test_a_start_without_a_zone_is_in_utc(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "session")
    path = tmp_path / "session" / "metrics.jsonl"
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    for record in records:
        own = {"started_at": "2026-11-26T15:54:08", "ended_at": "2026-11-26T15:54:10Z"}
        record |= {**own, "wall_seconds": None}
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    suites = JUnitXml.fromstring(export(tmp_path / "session", "junit").encode())
    assert {case.time for suite in suites for case in suite if case.name != "evidence"} == {2.0}
