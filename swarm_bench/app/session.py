"""What the sessions of all benchmarks do: they run in a process that ends what it started, and have
a summary, also after an error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from swarm_bench.analysis.statistics.formulas import load_functions
from swarm_bench.core.errors import HarnessError, StoreError
from swarm_bench.core.interruption import cancelling
from swarm_bench.engine.folder import Folder
from swarm_bench.runtime.ownership import OWNER, this_owner
from swarm_bench.runtime.processes.guard import guarded
from swarm_bench.runtime.processes.launching import raise_limit, wait_without_threads


@contextmanager
def manage_child_processes() -> Iterator[None]:
    """Let this process start many others for the block; what is left of them ends with it. Raises
    `HarnessError` when somebody else's code in it leaves by `SystemExit`, which is no success."""
    raise_limit()
    wait_without_threads()
    with cancelling(), guarded(f"{OWNER}={this_owner()}"), _refuse_system_exit():
        yield


@contextmanager
def summarise_on_failure(
    folder: Folder[Any, Any], write_summary: Callable[[], object], to_continue: str
) -> Iterator[None]:
    """Write the summary of what there is when the block raises. Raises `StoreError` that names the
    command that continues the session."""
    load_functions()  # now, when nobody waits for the summary and no agent is measured yet
    try:
        with _refuse_system_exit():
            yield
    except StoreError as error:
        if not folder.holds_session():
            raise StoreError(f"{error}; then repeat the command") from error
        with suppress(StoreError):  # the disk may have room for a summary, or not
            write_summary()
        raise StoreError(f"{error}; then continue with: {to_continue}") from error
    except Exception:
        if folder.holds_session():
            write_summary()
        raise


@contextmanager
def _refuse_system_exit() -> Iterator[None]:
    """Turn the `SystemExit` of somebody else's code into a `HarnessError`: it is no success."""
    try:
        yield
    except (SystemExit, BaseExceptionGroup) as error:
        if isinstance(error, BaseExceptionGroup) and (
            error.subgroup(KeyboardInterrupt) or not error.subgroup(SystemExit)
        ):
            raise
        raise HarnessError(
            "An adapter, a benchmark or another part of your own ended the session by SystemExit; "
            "fix it, then repeat the command, or continue the session"
        ) from error
