"""The sessions of a folder of results: when and what each was, and what it came to."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from os.path import commonprefix
from pathlib import Path
from typing import Any

from swarm_bench.analysis.sentences.verdict_line import IS_REFERENCE
from swarm_bench.app.result import count_ends
from swarm_bench.app.stored.naming import list_session_folders
from swarm_bench.app.stored.opening import open_session
from swarm_bench.core.errors import SwarmBenchError, UsageError
from swarm_bench.core.report.document import Answer
from swarm_bench.core.session.base import RecordView
from swarm_bench.engine.folder import Folder, experiment_keys
from swarm_bench.engine.plan import Block
from swarm_bench.runtime.files import is_locked

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class PastSession:
    """One session, in a line."""

    name: str
    """Path of its folder, below that of the results."""
    id: str | None
    created_at: datetime | None = None
    command: str = ""
    """Command, with the benchmark where one command runs several."""
    state: str
    """`finished`, `interrupted`, `running` or `unreadable`."""
    ended: int | None = None
    """Trials that ran to their own end."""
    planned: int | None = None
    verdict: str = ""
    """Claims of the summary on each arm; empty where nothing is compared."""
    shared: str = ""
    """The address that the names of its arms begin with, if there are several of one."""
    problem: str | None = None
    """Reason why it cannot be read."""
    cost: float | None = None
    """US dollars that somebody may have been charged; `None` where that is nobody."""
    unpriced: int = 0
    """Trials that somebody may have been charged for, without a cost."""


def read_past_sessions(results: Path, limit: int, tell: Tell) -> tuple[list[PastSession], int]:
    """Read the sessions below a folder, so many at most, the last one that ran first. Returns how
    many there are beside. Nothing is written, and nothing that they name is run. Raises
    `UsageError` where there is no such folder."""
    if not results.is_dir():
        raise UsageError(f"{results} is not a folder; 'swarm-bench demo' makes a first session")
    folders = list_session_folders(results)
    selected = folders[:limit]
    past = []
    for number, folder in enumerate(selected, 1):
        tell(f"reading session {number} of {len(selected)}")
        past.append(_read(folder, str(folder.relative_to(results))))
    return past, len(folders) - len(selected)


def _read(folder: Path, name: str) -> PastSession:
    try:
        return open_session(folder).describe_past(name)
    except SwarmBenchError as error:
        session = experiment_keys(folder).get("session")
        id = session if isinstance(session, str) else None
        return PastSession(name=name, id=id, state="unreadable", problem=str(error))


def find_shared_address(arms: Iterable[str]) -> str:
    """Return what the addresses of models among the arms have in common, up to a part of theirs."""
    addresses = [arm for arm in arms if "://" in arm]
    shared = commonprefix(addresses) if len(addresses) > 1 else ""
    end = max(shared.rfind("/"), shared.rfind("#"))
    return shared[: end + 1] if end > shared.find("://") + 2 else ""


def build_past(
    name: str,
    folder: Folder[Any, Any],
    plan: Sequence[Block[Any]],
    records: Sequence[RecordView],
) -> PastSession:
    """Say what is alike in all benchmarks."""
    experiment, end_counts = folder.read_experiment(), count_ends(folder, plan)
    ended_count = end_counts.causes.total()
    billed = [record.cost for record in records if record.is_billed]
    priced = [cost for cost in billed if cost is not None]
    unfinished_state = "running" if is_locked(folder.lock) else "interrupted"
    return PastSession(
        name=name,
        id=experiment.session,
        created_at=experiment.created_at,
        state=unfinished_state if end_counts.unfinished else "finished",
        ended=ended_count,
        planned=ended_count + end_counts.unfinished,
        cost=sum(priced) if priced else None,
        unpriced=len(billed) - len(priced) if priced else 0,
    )


def describe_claims(answers: Iterable[Answer]) -> str:
    """Write which arms each claim is on."""
    arms = defaultdict[str, list[str]](list)
    for answer in answers:
        if answer.claim != IS_REFERENCE:
            arms[answer.claim.strip(": ")].append(answer.subject)
    return "; ".join(f"{', '.join(of_claim)}: {claim}" for claim, of_claim in arms.items())
