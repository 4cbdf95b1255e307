"""Compares two stored sessions."""

import json
from pathlib import Path
from typing import Any

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.diff.cases import case_diff, case_obstacles
from swarm_bench.analysis.diff.settings import obstacles
from swarm_bench.analysis.diff.summary import diff
from swarm_bench.analysis.documents.diff import document
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.wording import amount, listed
from swarm_bench.app.retrieve.resolving import is_session
from swarm_bench.app.stored import pairs
from swarm_bench.app.stored.reading import read_audited, session_in
from swarm_bench.benchmarks.cases.folder import REFERENCES
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.registered import registered_metrics
from swarm_bench.core.errors import Refused, UsageError
from swarm_bench.core.report.document import Written
from swarm_bench.reports.markdown import written
from swarm_bench.runtime.cycles import uncollected
from swarm_bench.runtime.untrusted import read


@uncollected()
def diff_sessions(a: Path, b: Path) -> Written:
    """Compare the second session with the first. Nothing is written. Raises `UsageError` where they
    cannot be compared."""
    if any(map(pairs.holds_cases, (a, b))):
        return _of_cases(a, b)
    folders = [_folder(path) for path in (a, b)]
    metrics = registered_metrics()
    first, second = (Selection(read_audited(folder), metrics) for folder in folders)
    if clauses := obstacles(first, second):
        raise UsageError(
            f"The sessions {a} (A) and {b} (B) cannot be compared: {'; '.join(clauses)}; give two "
            "that agree in model, version of the agent, tasks and commit"
        )
    return written(document(diff(first, second, (a, b))))


def _of_cases(a: Path, b: Path) -> Written:
    for path in (a, b):
        benchmark = session_in(path).benchmark()
        if is_session(path) or not pairs.holds_cases(path):
            raise UsageError(
                f"{path} is a session of the benchmark {benchmark!r}; diff takes two sessions of "
                "compare or ab, or two of run"
            )
    first, second = (pairs.read_whole(path) for path in (a, b))
    clauses = case_obstacles(first, second) or _other_answers((a, first), (b, second))
    if clauses:
        raise UsageError(
            f"The sessions {a} (A) and {b} (B) cannot be compared: {'; '.join(clauses)}; give two "
            "that agree in benchmark, data and cases"
        )
    return written(document(case_diff(first, second, (a, b))))


def _other_answers(*sides: tuple[Path, CaseSession]) -> list[str]:
    """Say in a clause that other answers are right in the second session, as files say: what is
    called alike was not asked alike. None where they are the same, or nothing says it."""
    first, second = (_references(*side) for side in sides)
    moved = [case for case in first if case in second and first[case] != second[case]]
    if not moved:
        return []
    return [f"{amount(len(moved), 'case')} had another right answer in B ({listed(moved)})"]


def _references(path: Path, session: CaseSession) -> dict[str, Any]:
    try:
        answers = json.loads(read(path / REFERENCES))
    except (OSError, Refused, ValueError, RecursionError):
        return {}
    ids = [case.id for case in session.experiment.cases]
    whole = isinstance(answers, list) and len(answers) == len(ids)
    return dict(zip(ids, answers, strict=True)) if whole else {}


def _folder(path: Path) -> SessionFolder:
    folder = session_in(path)
    if folder.read_experiment().design.mode_twice:
        raise UsageError(
            f"{path} compares a mode with itself; diff takes two sessions of compare or ab"
        )
    return folder
