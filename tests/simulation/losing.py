"""Sessions of which trials are lost by how much they would have taken, and what the program itself
concludes from them."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swarm_bench.analysis.comparison.verdicts import conclude
from swarm_bench.analysis.selection import Selection
from swarm_bench.analysis.statistics.verdict_rule import Verdict
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.session.experiment import Task
from swarm_bench.core.session.records import SessionData, TrialRecord
from tests.builders.keyed import PAID
from tests.builders.sessions import make_failed, make_session, make_trial

MODES = ("baseline", "canopy")
LOST, DIED = ("rate-limited", "provider-limited"), ("exit-code", "agent-failed")
STEEP = 3.0
"""By how much the chance to be lost rises with a standard deviation of what is spent."""
NOISE = 0.3


@dataclass(frozen=True, kw_only=True)
class Losing:
    """A comparison of a tool that does nothing, of which dear trials end."""

    tasks: int
    share: float
    """How many of the trials of the modes end that lose them."""
    runs: int = 3
    losers: tuple[str, ...] = ("canopy",)
    end: tuple[str, str] = LOST
    ratio: float = 1.0
    """What the tool takes of what the baseline takes."""

    def session(self, number: int, *, blind: bool = False) -> SessionData:
        """Draw the session of a number; a blind one does not know of its lost trials."""
        rng = np.random.default_rng([number, self.tasks, self.runs, round(1000 * self.share)])
        shape = (len(MODES), self.tasks, self.runs)
        noise = rng.normal(size=shape)
        logs = 10 + rng.normal(0, 0.8, (1, self.tasks, 1)) + NOISE * noise
        logs[1] += np.log(self.ratio)
        found = rng.binomial(4, 0.95, shape) / 4
        ends = self._ends(rng, noise)
        trials = [
            _ended(self.end, at) if ends[at] else _whole(at, float(logs[at]), float(found[at]))
            for at in np.ndindex(*shape)
            if not (blind and ends[at])
        ]
        return make_session(*trials, modes=MODES, tasks=_tasks(self.tasks), runs=self.runs)

    def conclude(self, number: int, *, blind: bool = False) -> Verdict:
        """Return the verdict on the session of a number."""
        reached = conclude(Selection(self.session(number, blind=blind), METRICS), "canopy")
        assert reached
        return reached.verdict

    def _ends(self, rng: np.random.Generator, noise: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Draw which trials end."""
        chances = _chance(noise, _middle(self.share))
        for at, mode in enumerate(MODES):
            chances[at] *= mode in self.losers
        ends: NDArray[np.bool_] = rng.random(noise.shape) < chances
        return ends


def _chance(noise: NDArray[np.float64], middle: float) -> NDArray[np.float64]:
    chance: NDArray[np.float64] = 1 / (1 + np.exp(-STEEP * (noise - middle)))
    return chance


@cache
def _middle(share: float) -> float:
    """Solve for where the chance is a half, if so many trials are to end."""
    from scipy import optimize, stats

    normal = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    return float(optimize.brentq(lambda x: _chance(normal, x).mean() - share, -9, 9))


@cache
def _tasks(number: int) -> list[dict[str, Any]]:
    return [
        Task.model_validate(
            {"id": f"t{n}", "title": "t", "prompt": f"{n}?", "key": {"files": [f"{n}.py"]}}
        ).model_dump()
        for n in range(number)
    ]


@cache
def _like(mode: str, end: tuple[str, str] | None) -> TrialRecord:
    return make_failed(mode, *end, **PAID) if end else make_trial(mode, **PAID)


def _ended(end: tuple[str, str], at: tuple[int, ...]) -> TrialRecord:
    # An agent that died has found nothing.
    return _of(_like(MODES[at[0]], end), at, found=0.0 if end == DIED else None)


def _whole(at: tuple[int, ...], log: float, found: float) -> TrialRecord:
    return _of(_like(MODES[at[0]], None), at, found=found, effective_tokens=round(np.exp(log)))


def _of(like: TrialRecord, at: tuple[int, ...], found: float | None, **spent: int) -> TrialRecord:
    _, task, run = at
    scores = None if found is None else {"file_recall": found}
    placed = {"task_id": f"t{task}", "agent": task + 1, "run": run + 1, "scores": scores}
    return like.model_copy(update={**placed, **spent})
