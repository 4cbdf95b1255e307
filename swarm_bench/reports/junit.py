"""Writes the table of trials as JUnit XML, for what shows the tests of a build."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from swarm_bench.core.report.standing import Caveat
from swarm_bench.core.report.trials_table import TrialsTable
from swarm_bench.core.status import Status
from swarm_bench.reports.text import visible

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even escaped."""
_ENDED = (Status.AGENT_FAILED, Status.BUDGET_REACHED)
"""The agent ended without an answer."""

Trial = Mapping[str, Any]


def render_junit(table: TrialsTable) -> str:
    """Write a test suite for each arm, and a test case for each trial: one fails whose agent gave
    no answer, or a wrong one by its key, or whose call failed, and one is skipped that says nothing
    about its arm. Caveats are properties of the suite, and those that leave no evidence are one
    test case with an error."""
    names = [column.name for column in table.columns]
    arms: dict[str, list[Trial]] = defaultdict(list)
    for row in table.rows:
        trial = dict(zip(names, row, strict=True))
        arms[str(trial["arm"])].append(trial)
    suites = ElementTree.Element("testsuites")
    for arm in dict.fromkeys([*table.caveats, *arms]):
        suites.append(_suite(arm, arms.get(arm, ()), table.caveats.get(arm, ())))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _suite(arm: str, trials: Sequence[Trial], caveats: Sequence[Caveat]) -> ElementTree.Element:
    void = "; ".join(caveat.qualification for caveat in caveats if caveat.is_void)
    cases = [*map(_case, trials), *([_no_evidence(arm, void)] if void else [])]
    suite = ElementTree.Element(
        "testsuite",
        name=_fit(arm),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(int(bool(void))),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        time=f"{sum(map(_seconds, trials)):.3f}",
    )
    if caveats:
        properties = ElementTree.SubElement(suite, "properties")
        for caveat in caveats:
            value = _fit(caveat.qualification)
            ElementTree.SubElement(properties, "property", name="caveat", value=value)
    suite.extend(cases)
    return suite


def _case(trial: Trial) -> ElementTree.Element:
    name = f"{trial['case']}, run {trial['run']}, {trial['number']}"
    case = ElementTree.Element(
        "testcase",
        classname=_fit(str(trial["arm"])),
        name=_fit(name),
        time=f"{_seconds(trial):.3f}",
    )
    detail = _fit(str(trial["detail"] or ""))
    if not trial["counts"]:
        ElementTree.SubElement(case, "skipped", message=str(trial["cause"] or "contaminated"))
    elif trial["status"] in _ENDED:
        failure = ElementTree.SubElement(
            case, "failure", type=str(trial["status"]), message=str(trial["cause"])
        )
        failure.text = detail
    elif trial.get("failed"):  # a call of a search, which has no status of its own
        ElementTree.SubElement(case, "failure", type="call", message="failed-call")
    elif trial.get("right_answer") in (False, 0):
        ElementTree.SubElement(case, "failure", type="answer", message="wrong-answer")
    return case


def _no_evidence(arm: str, why: str) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_fit(arm), name="evidence", time="0.000")
    ElementTree.SubElement(case, "error", type="no-evidence", message=_fit(why))
    return case


def _seconds(trial: Trial) -> float:
    """Return the wall time; 0 where nobody measured it, since the format wants a number."""
    return float(trial.get("wall_seconds") or 0)


def _fit(text: str) -> str:
    return _NO_XML.sub("", visible(text))
