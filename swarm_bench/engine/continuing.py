"""What a session that is continued keeps, and how that is said."""

from pathlib import Path

from swarm_bench.config.annotations import Scope, flag
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.base import BaseExperiment
from swarm_bench.core.session.designs import Design


def check_kept(name: str, scope: Scope, old: object, new: object) -> None:
    """Raise `UsageError` for another value of an option that a session keeps."""
    if scope.named and old != new:
        raise UsageError(
            f"{flag(name)} was named before the first trial, as {_describe_value(old)}; omit "
            f"it, and see with swarm-bench report DIR {flag(name)} what the session says by "
            f"{_describe_value(new)}"
        )
    if scope.fixed:
        check_same(name, old, new)


def check_same(name: str, old: object, new: object) -> None:
    """Raise `UsageError` for an option that is not what it was."""
    if old != new:
        raise UsageError(
            f"{flag(name)} was {_describe_value(old)} when the session began and cannot be "
            f"{_describe_value(new)} now; omit it, or start a new session"
        )


def check_runs(old: int, new: int) -> None:
    """Raise `UsageError` for fewer runs than there are."""
    if new < old:
        raise UsageError(
            f"--runs {new}: the session has {old} runs already; give {old} or more, or omit it"
        )


def check_benchmark(old: BaseExperiment, name: str, version: int) -> None:
    """Raise `UsageError` for a session of another benchmark, or of another version of it."""
    if (old.benchmark, old.benchmark_version) != (name, version):
        raise UsageError(
            f"The session is of {old.benchmark} {old.benchmark_version}, and this is {name} "
            f"{version}; start a new session"
        )


def check_slice_kept(old: BaseExperiment, new: BaseExperiment) -> None:
    """Raise `UsageError` for a slice that grows: its plan is that of the others."""
    if old.slice and (old.order, len(old.cases)) != (new.order, len(new.cases)):
        raise UsageError(
            f"The session is slice {old.slice} of a plan, which grows only as a whole; merge the "
            "slices with swarm-bench merge, then continue what they make"
        )


def check_command(old: Design, new: Design, refusal: str) -> None:
    """Raise `UsageError` with the refusal for a session that another command began."""
    if old != new:
        raise UsageError(refusal)


def check_unchanged(folder: Path, old: object, new: object) -> None:
    """Raise `UsageError` where another call changed the session since this one read it."""
    if old != new:
        raise UsageError(f"{folder} was changed while this command started; repeat the command")


def _describe_value(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value)) or "not given"
    return "not given" if value is None else repr(value)
