"""A calibration compares a mode with itself."""

from collections.abc import Sequence

from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.experiment import Mode

AGAIN = "-again"


def twice(modes: Sequence[Mode]) -> tuple[Mode, Mode]:
    """The mode, and its copy under another name. A session that is continued has both already.

    Raises `UsageError` for any other number of modes.
    """
    first = modes[0]
    again = first.model_copy(update={"name": first.name + AGAIN})
    if {mode.name for mode in modes} - {first.name, again.name}:
        raise UsageError(
            f"calibrate compares one mode with itself, and not {', '.join(m.name for m in modes)}; "
            "give one with --mode, and begin a new session for another"
        )
    return first, (modes[1] if len(modes) > 1 else again)
