"""Conversion of what a user typed into the options of a call, and the sessions that it continues:
both are read here, once."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from swarm_bench.app.result import format_continue_command
from swarm_bench.app.setup.folders import RESULTS
from swarm_bench.app.setup.movable import check_movable
from swarm_bench.app.stored.past import find_continued_folder, find_recorded_folder
from swarm_bench.benchmarks.swarm.folder import (
    SessionFolder,
    find_newest_session,
    find_sessions,
)
from swarm_bench.benchmarks.swarm.run_plan import check_options
from swarm_bench.config.command_line import defaults_of
from swarm_bench.config.compare_options import SCOPES, Settings
from swarm_bench.config.layers import Continued, Member, OptionSources, Resolved, read_sources
from swarm_bench.config.parsing import REPLAY
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import Design
from swarm_bench.core.session.experiment import Setting
from swarm_bench.engine.continuing import check_command
from swarm_bench.engine.folder import EXPERIMENT
from swarm_bench.runtime.files import read_state


def resolve(
    typed_options: Mapping[str, Any], design: Design, config: Path | None = None
) -> Resolved:
    """Resolve the options of a call. One that continues a session takes over that session's."""
    option_sources = read_sources(config)
    resolved = _resolve_options(option_sources, typed_options, design)
    resume = resolved.settings.resume
    if resume is None:
        return resolved
    newest, output = partial(find_newest_session, RESULTS, design), resolved.sources["output"]
    folder = SessionFolder(find_continued_folder(resume, newest, output=output))
    members = find_sessions(folder.path)
    sessions = tuple(map(read_session, members.values() or [folder]))
    first = sessions[0].experiment
    check_command(
        first.design,
        design,
        f"{folder.path} is a session of another command; continue it with: "
        f"{format_continue_command(first.design, folder.path)}",
    )
    options = {**typed_options, "resume": str(folder.path)}
    merged = _resolve_options(option_sources, options, design, first.settings)
    check_options(anchor_paths(first.settings), anchor_paths(merged.dump_settings()))
    member = None if members or first.swarm_size is None else Member(size=first.swarm_size)
    sources = {**merged.sources, "resume": resolved.sources["resume"]}
    return replace(merged, sources=sources, continued=sessions, member=member)


def _resolve_options(
    option_sources: OptionSources,
    typed_options: Mapping[str, Any],
    design: Design,
    session: Mapping[str, Setting] | None = None,
) -> Resolved:
    """Resolve the options; where the number of runs is not set, other options decide it."""
    defaults = defaults_of(design)
    resolved = option_sources.resolve(typed_options, session=session, defaults=defaults)
    settings = resolved.settings
    _check_sliceable(settings)
    check_movable(settings)
    until_clear = settings.until_clear and not design.mode_twice
    if resolved.sources["runs"] == "default" and (settings.agents or until_clear):
        # A given number of agents has more runs, as it always had. Until the verdict stands, more
        # tasks say more than more runs.
        runs = 1 if until_clear else design.runs_of_agents
        defaults["runs"] = runs
        resolved = option_sources.resolve(typed_options, session=session, defaults=defaults)
    if settings.agent.startswith(REPLAY):
        resolved = replace(
            resolved, settings=replace(resolved.settings, agent=_find_replay(settings.agent))
        )
    if until_clear == settings.until_clear:
        return resolved
    # Files may set it for other commands, and noise has no verdict to wait for.
    return replace(
        resolved,
        settings=replace(resolved.settings, until_clear=False),
        sources={**resolved.sources, "until_clear": "default"},
    )


def _check_sliceable(settings: Settings) -> None:
    """Raise `UsageError` for options with which no part of the plan can run by itself."""
    reasons = {
        "--until-clear looks at all blocks": settings.until_clear,
        "several --agents are several sessions": len(settings.agents) > 1,
        "--record keeps a whole session": settings.record,
        "--agent replay:DIR costs nothing": settings.agent.startswith(REPLAY),
    }
    for reason, applies in reasons.items():
        if settings.slice and applies:
            raise UsageError(f"--slice {settings.slice}: {reason}; omit one of the two")


def read_session(folder: SessionFolder) -> Continued:
    """Read what a call needs of a session. Raises `UsageError` when the folder holds none."""
    state = read_state(folder.path / EXPERIMENT) if folder.holds_session() else None
    return Continued(folder=folder.path, experiment=folder.read_experiment(), state=state)


def anchor_paths(settings: Mapping[str, Setting]) -> dict[str, Setting]:
    """Return the settings as a session stores them: with their paths begun at the root."""
    return {
        name: setting.model_copy(update={"value": anchor(setting.value)})
        if name in SCOPES and (anchor := SCOPES[name].anchor)
        else setting
        for name, setting in settings.items()
    }


def _find_replay(agent: str) -> str:
    """Put the folder in the place of a word that names a session."""
    word, at, adapter = agent.removeprefix(REPLAY).partition("@")
    return f"{REPLAY}{find_recorded_folder(word)}{at}{adapter}"
