"""Writes the table of trials for other programs: CSV for spreadsheets, JSON with the rest of the
session, JUnit XML for what shows the tests of a build, and Parquet."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from io import BytesIO, StringIO
from math import isclose
from typing import Any
from xml.etree import ElementTree

from swarm_bench.core.report.standing import Caveat, export_caveats
from swarm_bench.core.report.trials import Entry, Scored, TrialsTable
from swarm_bench.core.status import Status
from swarm_bench.reports.text import visible

SCHEMA_VERSION = 1
"""Version of the JSON document; higher when a key of it gets another meaning."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of a text that a spreadsheet computes."""


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


def render_parquet(table: TrialsTable) -> bytes:
    """Write a row for each trial, with unit and definition in the metadata of each column. Raises
    `ImportError` without the library."""
    import pyarrow
    from pyarrow import parquet

    types = {
        "text": pyarrow.string(),
        "whole": pyarrow.int64(),
        "check": pyarrow.bool_(),
        "figure": pyarrow.float64(),
    }
    schema = pyarrow.schema(
        pyarrow.field(
            column.name,
            types[column.kind],
            metadata={"unit": column.unit, "definition": column.definition},
        )
        for column in table.columns
    )
    entries = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    arrays = [
        pyarrow.array(entry, field.type) for entry, field in zip(entries, schema, strict=True)
    ]
    file = BytesIO()
    parquet.write_table(pyarrow.table(arrays, schema=schema), file)
    return file.getvalue()


_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even escaped."""
_NO_ANSWER = (Status.AGENT_FAILED, Status.BUDGET_REACHED)
"""The agent ended without an answer."""
_ROUNDING = 1e-9

Trial = Mapping[str, Any]


def render_junit(table: TrialsTable) -> str:
    """Write a test suite for each arm, and a test case for each trial: one fails whose agent gave
    no answer, or whose score is not full, or whose call failed, and one is skipped that says
    nothing about its arm, or has no score. Caveats are properties of the suite, and those that
    leave no evidence are one test case with an error."""
    names = [column.name for column in table.columns]
    arms: dict[str, list[Trial]] = defaultdict(list)
    for row in table.rows:
        trial = dict(zip(names, row, strict=True))
        arms[str(trial["arm"])].append(trial)
    suites = ElementTree.Element("testsuites")
    for arm in dict.fromkeys([*table.caveats, *arms]):
        cases = [_build_case(trial, table.scored) for trial in arms.get(arm, ())]
        suites.append(_build_suite(arm, cases, table.caveats.get(arm, ())))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _build_suite(
    arm: str, trials: Sequence[ElementTree.Element], caveats: Sequence[Caveat]
) -> ElementTree.Element:
    void = "; ".join(caveat.qualification for caveat in caveats if caveat.is_void)
    cases = [*trials, *([_build_error_case(arm, void)] if void else [])]
    suite = ElementTree.Element(
        "testsuite",
        name=_clean(arm),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(int(bool(void))),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=f"{sum(float(case.attrib['time']) for case in cases):.3f}",
    )
    _add_properties(suite, [("caveat", _clean(caveat.qualification)) for caveat in caveats])
    suite.extend(cases)
    return suite


def _build_case(trial: Trial, scored: Scored | None) -> ElementTree.Element:
    name = f"{trial['case']}, run {trial['run']}, {trial['number']}"
    case = ElementTree.Element(
        "testcase",
        classname=_clean(str(trial["arm"])),
        name=_clean(name),
        time=f"{_measure_seconds(trial):.3f}",
    )
    score = trial.get("score")
    scores = {scored.title: score} if scored and score is not None else {}
    _add_properties(case, [(key, f"{value:.4g}") for key, value in scores.items()])
    if not trial["counts"]:
        ElementTree.SubElement(case, "skipped", message=str(trial["cause"] or "contaminated"))
    elif failure := _find_failure(trial, scored):
        kind, message = failure
        detail = _clean(str(trial["detail"] or "")) if trial["status"] in _NO_ANSWER else None
        ElementTree.SubElement(case, "failure", type=kind, message=_clean(message)).text = detail
    elif scored and score is None and trial.get("right_answer") is None:
        ElementTree.SubElement(case, "skipped", message="no score")
    return case


def _find_failure(trial: Trial, scored: Scored | None) -> tuple[str, str] | None:
    """Return the kind of a failure, and what it is; `None` where there is none."""
    score = trial.get("score")
    if trial["status"] in _NO_ANSWER:
        return str(trial["status"]), str(trial["cause"])
    if trial.get("failed"):  # a call of a search, which has no status of its own
        return "call", "failed-call"
    if scored and score is not None and not isclose(score, scored.full, abs_tol=_ROUNDING):
        return "score", f"{scored.title} {score:.4g}"
    if trial.get("right_answer") in (False, 0):
        return "answer", "wrong-answer"
    return None


def _add_properties(element: ElementTree.Element, pairs: Sequence[tuple[str, str]]) -> None:
    if pairs:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in pairs:
            ElementTree.SubElement(properties, "property", name=_clean(name), value=value)


def _build_error_case(arm: str, reason: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_clean(arm), name="evidence", time="0.000")
    ElementTree.SubElement(case, "error", type="no-evidence", message=_clean(reason))
    return case


def _measure_seconds(trial: Trial) -> float:
    """Return the wall time, or that from the start to the end; 0 where neither was measured, as the
    format wants a number."""
    started_at, ended_at = trial.get("started_at"), trial.get("ended_at")
    if (seconds := trial.get("wall_seconds")) is not None:
        return float(seconds)
    if not started_at or not ended_at:
        return 0.0
    return (datetime.fromisoformat(ended_at) - datetime.fromisoformat(started_at)).total_seconds()


def _clean(text: str) -> str:
    return _NO_XML.sub("", visible(text))
