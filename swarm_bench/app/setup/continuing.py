"""What a call takes over from the session that it continues: its modes and tasks."""

from collections.abc import Sequence
from pathlib import Path

from swarm_bench.benchmarks.swarm.plan.suites import Suite, find_suite
from swarm_bench.config.settings import Resolved
from swarm_bench.config.shipped import MODES
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.retrieval.modes.mode import find_modes, has_changed, mode_name, with_secrets


def modes_of(resolved: Resolved, old: Experiment | None) -> tuple[Mode, ...]:
    """The modes of a call. A session that is continued keeps its own as they were; only the others
    are read. Raises `UsageError` for a file that changed, or has the name of another."""
    return _modes(_mode_words(resolved, old), old)


def suite_of(resolved: Resolved, old: Experiment | None) -> Suite:
    """The tasks of a call: those of the session, unless others are typed. Raises `ConfigError`."""
    if old is None or resolved.is_typed("tasks"):
        return find_suite(resolved.settings.tasks)
    return Suite(
        name=old.suite,
        source=old.suite,
        description="",
        answer_format=old.answer_format,
        tasks=old.tasks,
    )


def _mode_words(resolved: Resolved, old: Experiment | None) -> Sequence[str]:
    """What a session took over is where the session read it; an older one has it as it was typed,
    from another folder maybe."""
    words = resolved.settings.modes
    if old is None or resolved.sources["modes"] != "session":
        return words
    sources = {mode.name: mode.source for mode in old.modes}
    return [
        sources.get(mode_name(Path(word)), word) if MODES.is_path(word) else word for word in words
    ]


def _is_same(word: str, source: str) -> bool:
    return Path(word).expanduser().resolve() == Path(source).resolve()


def _modes(names: Sequence[str], old: Experiment | None) -> tuple[Mode, ...]:
    known = {mode.name: with_secrets(mode) for mode in old.modes} if old else {}
    for name in names:
        mode = known.get(mode_name(Path(name)))
        if mode and MODES.is_path(name) and not _is_same(name, mode.source):
            raise UsageError(
                f"{name} and {mode.source} of the session are both called {mode.name!r}; "
                "rename the new file"
            )
        if mode and MODES.is_path(name) and Path(name).is_file() and has_changed(mode):
            raise UsageError(
                f"{mode.source} has changed since the session began, which keeps its own copy; "
                "restore the file, or begin a new session"
            )
    new = find_modes([name for name in names if mode_name(Path(name)) not in known])
    return (*known.values(), *new)
