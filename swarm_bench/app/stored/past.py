"""The sessions of a folder of results: when and what each was, and what it came to."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from os.path import commonprefix
from pathlib import Path
from typing import Any

from swarm_bench.analysis.cases.verdicts import case_answers
from swarm_bench.analysis.comparison.headline import headline as comparison_headline
from swarm_bench.analysis.comparison.verdicts import hypotheses
from swarm_bench.analysis.noise.calibration import calibration
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.analysis.retrieve.headline import headline
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.sentences.verdict_line import IS_REFERENCE
from swarm_bench.app.result import Ends, read_ends
from swarm_bench.app.retrieve import session as retrieve
from swarm_bench.app.retrieve.resolving import is_session
from swarm_bench.app.stored import pairs
from swarm_bench.app.stored.naming import sessions_below
from swarm_bench.app.stored.reading import read_audited
from swarm_bench.benchmarks.cases.folder import case_folder
from swarm_bench.benchmarks.swarm.folder import SessionFolder
from swarm_bench.benchmarks.swarm.metrics.registered import registered_metrics
from swarm_bench.benchmarks.swarm.plan.swarms import plan
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.core.report.document import Answer
from swarm_bench.core.session.base import RecordView
from swarm_bench.core.session.designs import RETRIEVE
from swarm_bench.engine.folder import Folder
from swarm_bench.engine.plan import plan_cases
from swarm_bench.runtime.files import is_locked

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class PastSession:
    """One session, in a line."""

    name: str
    """Of its folder, below that of the results."""
    id: str | None
    created_at: datetime | None = None
    command: str = ""
    """With the benchmark, where one command runs several."""
    state: str
    """`finished`, `interrupted`, `running` or `unreadable`."""
    ended: int | None = None
    """Trials that ran to their own end."""
    planned: int | None = None
    verdict: str = ""
    """What the summary claims of each arm; empty where nothing is compared."""
    shared: str = ""
    """The address that the names of its arms begin with, if there are several of one."""
    problem: str | None = None
    """Why it cannot be read."""
    cost: float | None = None
    """US dollars that somebody may have been charged; `None` where that is nobody."""
    unpriced: int = 0
    """Trials that somebody may have been charged for, without a cost."""


def past_sessions(results: Path, most: int, tell: Tell) -> tuple[list[PastSession], int]:
    """Read the sessions below a folder, at `most` so many, the last one that ran first. Returns how
    many there are beside. Nothing is written, and nothing that they name is run. Raises
    `UsageError` where there is no such folder."""
    if not results.is_dir():
        raise UsageError(f"{results} is not a folder; 'swarm-bench demo' makes a first session")
    folders = sessions_below(results)
    chosen = folders[:most]
    past = []
    for number, folder in enumerate(chosen, 1):
        tell(f"reading session {number} of {len(chosen)}")
        past.append(_read(folder, str(folder.relative_to(results))))
    return past, len(folders) - len(chosen)


def _read(folder: Path, name: str) -> PastSession:
    try:
        if not pairs.holds_cases(folder):
            return _of_swarm(SessionFolder(folder), name)
        return _of_cases(folder, name)
    except SwarmBenchError as error:
        session = case_folder(folder).session()
        return PastSession(name=name, id=session, state="unreadable", problem=str(error))


def _of_swarm(folder: SessionFolder, name: str) -> PastSession:
    data = read_audited(folder)
    experiment = data.experiment
    assert experiment
    selection = Selection(data, registered_metrics())
    ends = read_ends(folder, plan(experiment))
    past = _past(name, folder, ends, data.trials)
    return replace(
        past,
        command=experiment.design.name,
        verdict=_verdict(selection) if data.trials else "",
        state="finished" if experiment.stands_after is not None else past.state,
    )


def _of_cases(path: Path, name: str) -> PastSession:
    folder = case_folder(path)
    of_tools = is_session(path)
    session = retrieve.read_whole(path) if of_tools else pairs.read_whole(path)
    experiment = session.experiment
    past = _past(name, folder, read_ends(folder, plan_cases(experiment)), session.records)
    if of_tools:
        verdict = _grouped(headline(Answers(session)))
        return replace(past, command=RETRIEVE.name, verdict=verdict)
    verdict = _grouped(case_answers(session))
    command, shared = f"run {experiment.benchmark}", shared_address(experiment.arms)
    return replace(past, command=command, verdict=verdict, shared=shared)


def shared_address(arms: Iterable[str]) -> str:
    """Return what the addresses of models among the arms have in common, up to a part of theirs."""
    addresses = [arm for arm in arms if "://" in arm]
    shared = commonprefix(addresses) if len(addresses) > 1 else ""
    end = max(shared.rfind("/"), shared.rfind("#"))
    return shared[: end + 1] if end > shared.find("://") + 2 else ""


def _verdict(selection: Selection) -> str:
    """Write what the first lines of the summary claim."""
    experiment = selection.data.experiment
    if experiment and experiment.design.mode_twice:
        first, *_ = calibration(selection.data, selection.metrics).answers
        return first.claim.strip(": ")
    standings = comparison_headline(selection).standings
    judged = hypotheses(selection)
    return _grouped(it.answer for it in standings if it.answer and it.mode in judged)


def _past(
    name: str, folder: Folder[Any, Any], ends: Ends, records: Sequence[RecordView]
) -> PastSession:
    """Say what is alike in all benchmarks."""
    experiment = folder.read_experiment()
    ended = ends.causes.total()
    billed = [record.cost for record in records if record.is_billed]
    priced = [cost for cost in billed if cost is not None]
    begun = "running" if is_locked(folder.lock) else "interrupted"
    return PastSession(
        name=name,
        id=experiment.session,
        created_at=experiment.created_at,
        state=begun if ends.unfinished else "finished",
        ended=ended,
        planned=ended + ends.unfinished,
        cost=sum(priced) if priced else None,
        unpriced=len(billed) - len(priced) if priced else 0,
    )


def _grouped(answers: Iterable[Answer]) -> str:
    """Write which arms each claim is on."""
    arms = defaultdict[str, list[str]](list)
    for answer in answers:
        if answer.claim != IS_REFERENCE:
            arms[answer.claim.strip(": ")].append(answer.subject)
    return "; ".join(f"{', '.join(of_claim)}: {claim}" for claim, of_claim in arms.items())
