"""Reads a results folder of canopy's own script, and warns of what the script hides."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.audit import FIGURES_OF_SCRIPT, Audit, Key
from swarm_bench.core.session.designs import BENCHMARK, COMPARE
from swarm_bench.core.session.experiment import (
    Experiment,
    Limits,
    Mode,
    Program,
    Repository,
    Setting,
    Task,
)
from swarm_bench.core.session.records import SessionData, SwarmRecord, TrialRecord
from swarm_bench.importers.canopy_script.trial import (
    Assignment,
    Lines,
    Warn,
    build_trial,
    find_differing_keys,
    read_lines,
    read_payload,
    read_whole_number,
)
from swarm_bench.retrieval.probes.feedback import FeedbackProbe
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe
from swarm_bench.runtime.untrusted import read

_FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_AGENT_FILE = re.compile(r"agent-(\d{1,6})\.json")
_LOCAL, _SHARED = FeedbackProbe.name, ServiceMetricsProbe.name
_TOOL_MODES = {"canopy": (_LOCAL,), "canopy-service": (_LOCAL, _SHARED)}
_REFERENCE = "baseline"
_MODES = (_REFERENCE, *_TOOL_MODES)
_FEEDBACK = "local-feedback-metrics.json"
_SERVICE = "service-metrics.json"


class ScriptExperiment(Experiment):
    """What the script left of an experiment. What it did not record is empty or 0; its options
    stand among the settings, in its own words."""

    origin: ClassVar[str] = (
        "These results were written by canopy's own script, which makes one run and keeps no "
        "transcript: whether an agent reached the tool can only be told from its counters."
    )
    tasks: tuple[Task, ...] = ()
    """Tasks without ids: each trial says what it was asked."""


@dataclass
class _Reading:
    """A folder being read, with the problems in it."""

    folder: Path
    warnings: list[str] = field(default_factory=list)
    differing: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    """Figures that a file gives otherwise than its line."""

    def warn(self, sentence: str) -> None:
        self.warnings.append(sentence)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Read a file with one JSON object; `None` when it is missing or something else."""
        content = self.read_content(name)
        if content is None:
            return None
        try:
            document = json.loads(content.decode("utf-8-sig", errors="replace"))
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            self.warn(f"{name} is not valid JSON and is omitted.")
            return None
        return document

    def read_content(self, name: str) -> bytes | None:
        """Read a file; `None` when it is missing or unreadable."""
        try:
            return read(self.folder / name)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.warn(f"{name} cannot be read ({error.strerror or error}) and is omitted.")
            return None

    def check_encoding(self, name: str, content: bytes, consequence: str) -> None:
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            self.warn(f"{name} is not valid UTF-8 (byte {error.start}): {consequence}")


def is_script_folder(path: Path) -> bool:
    """Tell whether canopy's script, and not swarm-bench, wrote this folder."""
    is_own = (path / "experiment.json").exists()
    return not is_own and any((path / name).is_file() for name in ("metrics.jsonl", "config.json"))


def read_script_folder(path: Path) -> SessionData:
    """Read the session in a folder of canopy's script, whatever state it is in.

    Raises `UsageError` when the script wrote nothing there.
    """
    if not is_script_folder(path):
        raise UsageError(
            f"{path} holds no results: there is neither experiment.json nor metrics.jsonl in it; "
            "give the folder of a session"
        )
    reading = _Reading(path)
    config = reading.read_json("config.json") or {}
    head = _read_head(config)
    metrics = reading.read_content("metrics.jsonl") or b""
    reading.check_encoding("metrics.jsonl", metrics, "the rest is shown as replacement marks.")
    lines = read_lines(metrics, reading.warn)
    selected = _MODES if head.get("mode") == "all" else ()
    modes = list(
        dict.fromkeys([*(mode for mode, _ in lines), *_list_mode_folders(path), *selected])
    )
    trials = [trial for mode in modes for trial in _read_trials(reading, mode, lines, config)]
    _check_summary(reading)
    warn_of_differences(trials, lines, reading.warn)
    swarms = [_read_swarm(reading, mode, trials) for mode in modes if _has_counters(path, mode)]
    agents = read_whole_number(head.get("agents"))
    planned = dict.fromkeys(modes, agents) if agents else {}
    mode_names = list(planned or dict.fromkeys(trial.mode for trial in trials))
    return SessionData(
        experiment=build_experiment(path.name, mode_names, head, trials=trials, swarms=swarms),
        trials=tuple(trials),
        swarms=tuple(swarms),
        planned=planned,
        warnings=tuple(reading.warnings),
        audit=Audit(differing=reading.differing),
    )


def build_experiment(
    session: str,
    modes: Sequence[str],
    head: Mapping[str, str],
    *,
    trials: Sequence[TrialRecord],
    swarms: Sequence[SwarmRecord] = (),
) -> ScriptExperiment:
    """Make the experiment of what the script left. Nothing was named before its trials."""
    settings = {**head, "primary": ""}
    probes = {swarm.mode: tuple(swarm.difference) for swarm in swarms if swarm.agents}
    agents = sorted({trial.agent for trial in trials})
    return ScriptExperiment(
        session=session,
        created_at=datetime.fromtimestamp(0, UTC),
        benchmark=BENCHMARK,
        design=COMPARE,
        repository=Repository(
            path=head.get("repository", ""), kind="folder", tree="", files=0, bytes=0
        ),
        modes=tuple(_build_mode(mode, probes.get(mode, ())) for mode in modes),
        suite="",
        agent=Program(name="claude"),
        agents=read_whole_number(head.get("agents")) or max([1, *agents]),
        blocks=(tuple(agents),),
        concurrency=0,
        runs=1,
        seed=0,
        order=(tuple(modes),),
        limits=Limits(
            max_turns=read_whole_number(head.get("max_turns")) or 0, timeout=0.0, index_timeout=0.0
        ),
        settings={name: Setting(value=value, source="file") for name, value in settings.items()},
    )


def _build_mode(name: str, probes: tuple[str, ...]) -> Mode:
    servers: dict[str, dict[str, Any]] = {} if name == _REFERENCE else {"canopy": {}}
    return Mode(name=name, source="canopy's script", servers=servers, probes=probes)


def _check_summary(reading: _Reading) -> None:
    content = reading.read_content("summary.md")
    if content is None:
        reading.warn("summary.md is not there: the script broke off before it wrote it.")
    else:
        consequence = "the script cuts the tasks at 40 bytes, even in a letter."
        reading.check_encoding("summary.md", content, consequence)


def _read_head(config: Mapping[str, Any]) -> dict[str, str]:
    names = {"repo": "repository"}
    keys = ("repo", "agents", "max_turns", "mode", "model", "date")
    return {names.get(key, key): str(config[key]) for key in keys if key in config}


def _list_mode_folders(path: Path) -> Iterator[str]:
    for mode in _MODES:
        if any(_list_agent_files(path, mode)):
            yield mode


def _list_agent_files(folder: Path, mode: str) -> Iterator[tuple[int, str]]:
    """Yield the agents' numbers, and their files relative to the session's folder."""
    if not _FOLDER_NAME.fullmatch(mode):  # a line can say anything
        return
    for file in sorted((folder / mode).glob("agent-*.json")):
        match = _AGENT_FILE.fullmatch(file.name)
        if match:
            yield int(match[1]), f"{mode}/{file.name}"


def _find_task(tasks: object, agent: int) -> str:
    """Return an agent's task: the script hands the tasks out in turn."""
    if not isinstance(tasks, list) or not tasks:
        return "not recorded"
    return str(tasks[(agent - 1) % len(tasks)])


def _read_trials(
    reading: _Reading, mode: str, lines: Lines, config: Mapping[str, Any]
) -> Iterator[TrialRecord]:
    head, tasks = _read_head(config), config.get("tasks")
    files = dict(_list_agent_files(reading.folder, mode))
    with_line = {agent for line_mode, agent in lines if line_mode == mode}
    agent_count = read_whole_number(head.get("agents")) or max(files, default=0)
    unlisted = sorted(agent for agent in files if agent not in with_line and agent <= agent_count)
    stale = sorted(agent for agent in files if agent not in with_line and agent > agent_count)
    if unlisted:
        reading.warn(
            f"{mode}: {name_agents(unlisted)} left a file but no line in metrics.jsonl, so the "
            f"script's rates omit them; here they count."
        )
    if stale:
        reading.warn(
            f"{mode}: the files of {name_agents(stale)} remain from another use of the folder; "
            "they are omitted here, but the script's strict figures count them."
        )
    for agent in sorted(with_line | set(unlisted)):
        content = reading.read_content(files[agent]) if agent in files else None
        line = lines.get((mode, agent))
        payload = None if content is None else read_payload(content)
        assignment = Assignment(mode=mode, agent=agent, task=_find_task(tasks, agent))
        trial = build_trial(assignment, line=line, payload=payload, head=head, warn=reading.warn)
        if line and payload and (keys := find_differing_keys(line, payload)):
            reading.differing[trial.key] = keys
        yield trial


def _has_counters(path: Path, mode: str) -> bool:
    is_name = _FOLDER_NAME.fullmatch(mode) is not None
    return mode in _TOOL_MODES or (is_name and (path / mode / _FEEDBACK).is_file())


def _read_swarm(reading: _Reading, mode: str, trials: Iterable[TrialRecord]) -> SwarmRecord:
    service = reading.read_json(f"{mode}/{_SERVICE}") or {}
    performance = service.get("performance", service)
    counters = {
        _LOCAL: reading.read_json(f"{mode}/{_FEEDBACK}"),
        _SHARED: performance if isinstance(performance, dict) and performance else None,
    }
    probes = dict.fromkeys(
        [*_TOOL_MODES.get(mode, ()), *(name for name in counters if counters[name])]
    )
    return SwarmRecord(
        session=reading.folder.name,
        swarm=mode,
        mode=mode,
        run=1,
        agents=tuple(trial.agent for trial in trials if trial.mode == mode),
        difference={probe: counters[probe] for probe in probes},
    )


_Difference = tuple[str, float, float | None, str]
"""Key, the script's figure, ours, and why."""


def warn_of_differences(trials: Iterable[TrialRecord], lines: Lines, warn: Warn) -> None:
    """Name every figure that the script has otherwise, and whose it is."""
    zeros = defaultdict[str, list[int]](list)
    agents_by_difference = defaultdict[tuple[str, _Difference], list[int]](list)
    for trial in trials:
        line = lines.get((trial.mode, trial.agent))
        if line is None:
            continue
        if line.total_tokens == 0 and line.num_turns in {0, None}:
            if trial.total_tokens is None:
                zeros[trial.mode].append(trial.agent)
            continue  # else there is a warning that the script could not read it
        for difference in _find_differences(trial, line):
            agents_by_difference[trial.mode, difference].append(trial.agent)
    _warn_of_zeros(zeros, warn)
    for (mode, (key, script_figure, own_figure, clause)), agents in agents_by_difference.items():
        warn(
            f"{mode}: the script has {key} {script_figure:.12g} for {name_agents(agents)}, "
            f"{clause}; here it is {'missing' if own_figure is None else f'{own_figure:.12g}'}."
        )


def _warn_of_zeros(zeros: Mapping[str, list[int]], warn: Warn) -> None:
    """Say how many agents gave nothing: the script averages over their lines of zeros."""
    for mode, agents in zeros.items():
        warn(
            f"{mode}: the script wrote zeros for {len(agents)} "
            f"{'agent that' if len(agents) == 1 else 'agents that'} gave no figures, and its "
            "averages count them; here they are missing."
        )


def _find_differences(trial: TrialRecord, line: TrialRecord) -> Iterable[_Difference]:
    for key in FIGURES_OF_SCRIPT:
        script_figure, own_figure = getattr(line, key), getattr(trial, key)
        if script_figure is not None and script_figure != own_figure:
            yield key, script_figure, own_figure, _explain(key, own_figure)


def _explain(key: str, own_figure: float | None) -> str:
    if key == "result_lines":
        return (
            "where there is no answer"
            if own_figure is None
            else "whose answer it took for an option"
        )
    return "which the agent did not give" if own_figure is None else "but its file says otherwise"


def name_agents(agents: list[int]) -> str:
    """Name them by number: `agents 1, 2`."""
    return f"agent{'' if len(agents) == 1 else 's'} {', '.join(map(str, agents))}"
