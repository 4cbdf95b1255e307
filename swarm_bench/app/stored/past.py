"""The sessions so far: which one a word means; and when and what each was, and what it came to."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from typing import Any

from swarm_bench.analysis.sentences.verdict_line import IS_REFERENCE
from swarm_bench.analysis.wording import join
from swarm_bench.app.result import count_ends
from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.app.stored.session import open_session
from swarm_bench.benchmarks.swarm.folder import find_sessions
from swarm_bench.core.errors import SwarmBenchError, UsageError, choice
from swarm_bench.core.report.document import Answer
from swarm_bench.core.session.base import RecordView, Source
from swarm_bench.core.session.recording import FOLDER as RECORDING
from swarm_bench.engine.benchmark import find_benchmark
from swarm_bench.engine.folder import EXPERIMENT, Folder, experiment_keys
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
    """US dollars that the user may have been charged; `None` where there was no charge."""
    unpriced: int = 0
    """Trials that the user may have been charged for, without a cost."""


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
    """Return what the addresses of models among the arms have in common, up to a part of their
    paths."""
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


LATEST = "latest"


def find_session_folder(word: str, newest: Callable[[], Path] | None = None) -> Path:
    """Return the folder that a word names; `newest` finds that of `latest` and of no word where not
    every session will do. What is written as a path need not be there. Raises `UsageError`."""
    if word in ("", LATEST):
        return (newest or _find_newest_session)()
    path, folders = Path(word).expanduser(), list_session_folders(RESULTS)
    if path.exists():
        return path
    if (match := _find_named(word, folders)) is not None:
        return match
    if "/" in word and (path.parent != RESULTS or not folders):
        return path
    if not folders:
        raise UsageError(f"There is no session below {RESULTS}, and no folder {word}; name one")
    names = dict.fromkeys(
        [LATEST, *(_format_name(_find_series_folder(folder)) for folder in folders)]
    )
    raise UsageError(f"There is no session {word} below {RESULTS}; {choice(path.name, names)}")


def find_continued_folder(word: str, newest: Callable[[], Path], *, output: Source | None) -> Path:
    """Return the folder of the session that a call continues; `output` is the source of a folder
    for a new one. Raises `UsageError`."""
    if output == "command line":
        raise UsageError(
            "--output cannot be given with --continue: the session stays where it is; "
            "omit one of them"
        )
    return find_session_folder(word, newest)


def _find_named(word: str, folders: Sequence[Path]) -> Path | None:
    """Return the one folder that is listed, or else called, or else has a session of this name.
    Raises `UsageError` where these are several."""
    shown_folders = dict.fromkeys(chain(map(_find_series_folder, folders), folders))
    matches = (
        (folder for folder in shown_folders if _format_name(folder) == word),
        (folder for folder in shown_folders if folder.name == word),
        (folder for folder in folders if experiment_keys(folder).get("session") == word),
    )
    for candidates in map(sorted, matches):
        if len(candidates) > 1:
            raise UsageError(
                f"{word} is the name of {join([*map(str, candidates)])}; give a folder"
            )
        if candidates:
            return candidates[0]
    return None


def find_newest(benchmark: str) -> Path:
    """Return the newest session of a benchmark. Raises `UsageError`."""
    name = find_benchmark(benchmark).name
    for folder in list_session_folders(RESULTS):
        if experiment_keys(folder).get("benchmark") == name:
            return folder
    raise UsageError(f"There is no session of {name} below {RESULTS}; give the folder of one")


def find_recorded_folder(word: str) -> Path:
    """Return the folder of the recording, or of the session, that a word names; the newest that was
    recorded for `latest`. Raises `UsageError`."""
    return find_session_folder(word, _find_newest_recorded)


def list_session_folders(results: Path) -> list[Path]:
    """List the folders of all sessions, those of series among them, the last one that ran first."""
    single = [file for file in results.glob(f"*/{EXPERIMENT}") if file.is_file()]
    deeper = [file for file in results.glob(f"*/*/{EXPERIMENT}") if file.is_file()]
    parents = {file.parent for file in single}  # what agents leave in a session is none
    files = [*single, *(file for file in deeper if file.parent.parent not in parents)]
    dated = [(file.stat().st_mtime_ns, file.parent) for file in files]
    return [folder for _, folder in sorted(dated, reverse=True)]


def _find_newest_session() -> Path:
    for folder in list_session_folders(RESULTS):
        return _find_series_folder(folder)
    raise UsageError(f"There is no session below {RESULTS}; give the folder of one")


def _find_newest_recorded() -> Path:
    for folder in list_session_folders(RESULTS):
        if (folder / RECORDING).is_dir():
            return folder
    raise UsageError(f"No session below {RESULTS} was recorded (--record); give its folder")


def _find_series_folder(folder: Path) -> Path:
    """Return the series of one of its sessions, and any other session itself."""
    if folder.parent == RESULTS:
        return folder
    members = {member.path.name for member in find_sessions(folder.parent).values()}
    return folder.parent if folder.name in members else folder


def _format_name(folder: Path) -> str:
    """Return the name under which it is listed."""
    return str(folder.relative_to(RESULTS))
