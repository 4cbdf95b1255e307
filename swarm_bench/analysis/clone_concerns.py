"""What a mode's tool did to the clone of its agents beyond what its file says."""

from collections.abc import Iterator

from swarm_bench.analysis.concerns import Concern
from swarm_bench.analysis.treated import Treated
from swarm_bench.analysis.wording import amount, listed


def littered(treated: Treated) -> Iterator[Concern]:
    """Agents read a changed CLAUDE.md, and git runs a new hook: part of the treatment that nobody
    meant to measure."""
    changed = [swarm for swarm in treated.swarms if swarm.unexpected]
    paths = sorted({path for swarm in changed for path in swarm.unexpected})
    if paths:
        yield Concern(
            qualification=f"its tool changed the clone: {listed(paths)}",
            warning=f"{treated.mode}: before the agents started, its tool changed "
            f"{_paths(max(swarm.unexpected_count or 0 for swarm in changed))} in the clone that "
            f"its may_create does not name: {listed(paths)}. Agents may read or run what is there.",
        )


def not_torn_down(treated: Treated) -> Iterator[Concern]:
    """What runs on takes time from the agents of other modes."""
    failed = [swarm for swarm in treated.swarms if swarm.teardown_failure]
    if failed:
        where = f"in {len(failed)} of {amount(len(treated.swarms), 'swarm')}"
        yield Concern(
            qualification=f"its teardown failed {where}",
            warning=f"{treated.mode}: its teardown failed {where}. The first says: "
            f"{failed[0].teardown_failure}.",
        )


def _paths(number: int) -> str:
    return "a path" if number == 1 else f"{number} paths"
