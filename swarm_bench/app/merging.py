"""Makes one session of the slices of a plan, which ran on machines of their own. Their folders stay
as they are."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarm_bench.app.setup.folders import make_results_folder
from swarm_bench.app.stored.pages import write_page
from swarm_bench.app.stored.session import open_session
from swarm_bench.benchmarks.cases.folder import GENERATIONS, REFERENCES, RESULTS
from swarm_bench.benchmarks.swarm.folder import TASKS
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.page import is_page
from swarm_bench.core.report.pictures import is_picture
from swarm_bench.core.session.base import BaseExperiment, MergedSlice, stable_id
from swarm_bench.engine.folder import EXPERIMENT, LOCK, experiment_keys
from swarm_bench.engine.lines import METRICS, number_lines
from swarm_bench.engine.plan import iterate_groups
from swarm_bench.runtime.files import copy_whole, hold_lock, make_folder, remove, write_whole
from swarm_bench.runtime.untrusted import read

_OF_ONE_SLICE = {
    *("schema_version", "session", "created_at", "machine", "versions", "settings", "slice"),
    *("service_url", "greetings", "nodes"),
}
"""Keys of an experiment by which the slices of one plan may differ."""
_OF_ONE_MACHINE = {"repository": ("path",), "modes": ("source",)}
"""Keys of its parts by which they may differ too: they say where files lie."""
_MADE_ANEW = {EXPERIMENT, METRICS, LOCK, "summary.md", "details.md"}
_MADE_ANEW |= {RESULTS, REFERENCES, GENERATIONS}
"""Names of what is made for the whole session."""


@dataclass(frozen=True, kw_only=True)
class MergedSession:
    """A session that was merged."""

    folder: Path
    summary: RenderedDocument
    repeated: tuple[Path, ...]
    """Slices that were named more than once."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """The folder of a slice."""

    path: Path
    keys: Mapping[str, Any]
    """Its experiment, as it is stored."""
    slice: MergedSlice
    trials: frozenset[str]
    """Ids of the trials of its plan."""

    @property
    def kind(self) -> str:
        """Name what ran: a design of the swarm benchmark, or another benchmark."""
        return str(self.keys.get("design") or self.keys["benchmark"])

    @property
    def plan(self) -> dict[str, Any]:
        """What all slices of a plan have in common."""
        plan = {key: value for key, value in self.keys.items() if key not in _OF_ONE_SLICE}
        for key, inner_keys in _OF_ONE_MACHINE.items():
            if key in plan:
                plan[key] = _drop(plan[key], inner_keys)
        return {**plan, "swarm_bench": self.keys.get("versions", {}).get("swarm-bench")}

    def files(self) -> Iterator[Path]:
        """Yield the paths of its files within it, links left out."""
        for path in sorted(self.path.rglob("*")):  # which follows no links
            inner = path.relative_to(self.path)
            name = inner.parts[0]
            is_anew = name in _MADE_ANEW or is_picture(name) or is_page(name)
            if not is_anew and path.is_file() and not path.is_symlink():
                yield inner


def merge(folders: Sequence[Path], output: Path | None) -> MergedSession:
    """Make one session of slices, with its summary and its page. Raises `UsageError` for what are
    no slices of one plan, and `StoreError`; then nothing was made."""
    counts = Counter(path.expanduser().resolve() for path in folders)
    parts = sorted(map(_read_part, counts), key=lambda part: part.slice.number)
    _check_one_plan(parts)
    with ExitStack() as locks:
        for part in parts:
            locks.enter_context(hold_lock(part.path / LOCK, writes=False))
        lines = _collect_lines(parts)
        folder = _make_folder(output, parts)
        try:
            _copy_files(parts, folder)
            write_whole(folder / METRICS, b"".join(line + b"\n" for line in lines))
            write_whole(folder / EXPERIMENT, json.dumps(_merge_experiments(parts), indent=2) + "\n")
        except BaseException:
            remove(folder)
            raise
    repeated = tuple(path for path, number in counts.items() if number > 1)
    session = open_session(folder)
    summary = session.report()
    write_page(session, summary.document)
    return MergedSession(folder=folder, summary=summary, repeated=repeated)


def _read_part(path: Path) -> _Part:
    stored, keys = open_session(path), experiment_keys(path)
    experiment = stored.read_experiment() if "slice" in keys else None
    if experiment is None or experiment.slice is None:
        raise UsageError(f"{path} is no slice of a session, which --slice makes; omit it")
    part = MergedSlice(
        number=experiment.slice.number,
        total=experiment.slice.total,
        session=experiment.session,
        machine=experiment.machine,
    )
    groups = iterate_groups(stored.read_plan())
    trials = frozenset(trial.id for group in groups for trial in group.trials)
    return _Part(path=path, keys=keys, slice=part, trials=trials)


def _check_one_plan(parts: Sequence[_Part]) -> None:
    """Raise `UsageError` for slices of several plans."""
    first = parts[0]
    for part in parts[1:]:
        if part.slice.total != first.slice.total:
            raise UsageError(
                f"{part.path} is slice {part.slice}, and {first.path} is slice {first.slice}; "
                "merge slices of one plan"
            )
        if part.kind != first.kind:
            raise UsageError(
                f"{part.path} is a slice of {part.kind}, and {first.path} one of {first.kind}; "
                "merge slices of one plan"
            )
        plans = first.plan, part.plan
        keys = {**plans[0], **plans[1]}
        differing = [key for key in keys if plans[0].get(key) != plans[1].get(key)]
        if differing:
            raise UsageError(
                f"{part.path} is of another plan than {first.path}: {', '.join(differing)} "
                f"{'differs' if len(differing) == 1 else 'differ'}; merge slices of one plan"
            )


def _collect_lines(parts: Sequence[_Part]) -> list[bytes]:
    """Return the lines of the trials of all slices. Raises `UsageError` for one that is torn, and
    for a trial that two have differently."""
    lines_by_trial = dict[str, tuple[Path, list[bytes]]]()
    for part in parts:
        part_lines = dict[str, list[bytes]]()
        for number, line in number_lines(part.path / METRICS):
            part_lines.setdefault(_read_trial(part, number, line), []).append(line)
        for trial, lines in part_lines.items():
            path, earlier = lines_by_trial.setdefault(trial, (part.path, lines))
            if earlier != lines:
                raise UsageError(
                    f"{path} and {part.path} have the trial {trial} with different records; omit "
                    "one of them"
                )
    return [line for _, lines in lines_by_trial.values() for line in lines]


def _read_trial(part: _Part, number: int, line: bytes) -> str:
    path = part.path / METRICS
    try:
        trial = str(json.loads(line)["trial"])
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise UsageError(
            f"{path}: line {number} is torn; run its trial again with --continue {part.path}, then "
            "merge"
        ) from error
    if trial not in part.trials:
        raise UsageError(
            f"{path}: line {number} is of no trial of slice {part.slice}; remove it, or omit the "
            "slice"
        )
    return trial


def _make_folder(output: Path | None, parts: Sequence[_Part]) -> Path:
    stem = f"{parts[0].keys['benchmark']}-merged"
    folder = (output or make_results_folder(stem)).expanduser().resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder; choose another --output")
    if inside := [part.path for part in parts if part.path in folder.parents]:
        raise UsageError(f"{folder} is in the slice {inside[0]}; choose another --output")
    make_folder(folder)
    return folder


def _copy_files(parts: Sequence[_Part], folder: Path) -> None:
    """Copy what lies beside the records. Lines are joined; other files of one name whose content
    differs stand below the number of their slice."""
    for part in parts:
        for inner in part.files():
            source, target = part.path / inner, folder / inner
            if inner.suffix == ".jsonl" and inner.parent == Path():
                _join_lines(source, target)
            elif not target.exists():
                copy_whole(source, target)
            elif str(inner) != TASKS and read(source) != read(target):  # it names the session
                copy_whole(source, folder / f"slice-{part.slice.number}" / inner)


def _join_lines(source: Path, target: Path) -> None:
    lines = dict.fromkeys(line for file in (target, source) for _, line in number_lines(file))
    write_whole(target, b"".join(line + b"\n" for line in lines))


def _merge_experiments(parts: Sequence[_Part]) -> dict[str, Any]:
    """Return the experiment of the whole plan."""
    experiment = {key: value for key, value in parts[0].keys.items() if key != "slice"}
    experiment["session"] = stable_id(*(part.slice.session for part in parts))[:8]
    experiment["created_at"] = min(part.keys["created_at"] for part in parts)
    experiment["settings"] = {
        name: setting
        for name, setting in experiment.get("settings", {}).items()
        if name not in ("slice", "output")
    }
    if "greetings" in experiment:
        experiment["greetings"] = [entry for part in parts for entry in part.keys["greetings"]]
    nodes = {name: node for part in parts for name, node in part.keys.get("nodes", {}).items()}
    if nodes:
        experiment["nodes"] = nodes
    experiment["merged"] = [part.slice.model_dump(mode="json") for part in parts]
    return {**experiment, "schema_version": BaseExperiment.model_fields["schema_version"].default}


def _drop(value: Any, keys: Sequence[str]) -> Any:
    """Return the objects without some of their keys."""
    if isinstance(value, list):
        return [_drop(item, keys) for item in value]
    return {name: inner for name, inner in value.items() if name not in keys}
