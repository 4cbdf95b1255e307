"""How long a session will still take, from how long its trials and their set-up took so far."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from math import ceil

_MINUTE = 60
_HOUR = 3600


class Pace:
    """Time of each arm: setting up, and running trials. Time in which several arms
    run at once is that of whichever was heard of last."""

    def __init__(
        self, planned: Mapping[str, int], groups: Mapping[str, int], clock: Callable[[], float]
    ) -> None:
        """Take the trials to run, and the groups to set up, by arm."""
        self._clock = clock
        self._planned, self._groups = planned, groups
        self._setting_up = defaultdict[str, float](float)
        self._running = defaultdict[str, float](float)
        self._set_up = Counter[str]()
        self._ended = Counter[str]()
        self._timed = Counter[str]()
        """Trials of each arm that lasted a known time."""
        self._lasted = defaultdict[str, float](float)
        self._more_set_ups = dict[str | None, tuple[str, int]]()
        """Set-ups that the running group of an arm still has, by its own count; of each machine."""
        self._preparing = dict[str | None, str]()
        """The arm that each machine sets up."""
        self._now: tuple[str, bool] | None = None
        """The arm that was heard of last, and whether it was being set up."""
        self._since = clock()

    def set_up(self, arm: str, repeats: int, node: str | None = None) -> None:
        """Take note that an arm is being set up at a node, and how often the same group will be
        again."""
        self._switch(arm, setting_up=True)
        self._more_set_ups[node] = arm, repeats
        self._preparing[node] = arm

    def run(self, arm: str, node: str | None = None) -> None:
        """Take note that a trial starts."""
        if self._preparing.pop(node, None) == arm:
            self._set_up[arm] += 1
        self._switch(arm, setting_up=False)

    def end(self, arm: str, seconds: float | None) -> None:
        """Take note that a trial ended; `None`: it never started."""
        self._switch(arm, setting_up=False)
        self._ended[arm] += 1
        if seconds is not None:
            self._timed[arm] += 1
            self._lasted[arm] += seconds

    def rerun(self, trials: Mapping[str, int], groups: Mapping[str, int]) -> None:
        """Take note of what runs once more, by arm; all else has ended."""
        self._more_set_ups.clear()
        for arm, number in trials.items():
            self._ended[arm] = self._planned[arm] - number
            self._set_up[arm] = self._groups[arm] - groups[arm]

    def estimate_remaining(self, ages: Iterable[tuple[str, float]]) -> float | None:
        """Estimate the seconds that remain; `ages` are those of the trials that run, with their
        arms. `None` before the first trial ended."""
        self._pass()
        if not self._ended:
            return None
        behind = defaultdict[str, float](float, self._ended)
        for arm, age in ages:
            if number := self._timed[arm]:
                behind[arm] += min(1.0, age * number / (self._lasted[arm] or 1.0))
        trial_seconds = {arm: self._running[arm] / behind[arm] for arm in behind if behind[arm]}
        usual = sum(self._running.values()) / (sum(behind.values()) or 1)
        trials = sum(
            max(0.0, number - behind[arm]) * trial_seconds.get(arm, usual)
            for arm, number in self._planned.items()
        )
        return trials + self._estimate_set_up()

    def _estimate_set_up(self) -> float:
        once = {
            arm: self._setting_up[arm] / number for arm, number in self._set_up.items() if number
        }
        usual = sum(once.values()) / len(once) if once else 0.0
        repeats = self._more_set_ups.values()
        repeated_seconds = sum(number * once.get(arm, usual) for arm, number in repeats)
        return repeated_seconds + sum(
            max(0, number - self._set_up[arm]) * once.get(arm, usual)
            for arm, number in self._groups.items()
        )

    def _switch(self, arm: str, *, setting_up: bool) -> None:
        self._pass()
        self._now = arm, setting_up

    def _pass(self) -> None:
        """Add the time that passed to what it was spent on."""
        now = self._clock()
        if self._now is not None:
            arm, setting_up = self._now
            (self._setting_up if setting_up else self._running)[arm] += now - self._since
        self._since = now


def format_estimate(seconds: float) -> str:
    """Say how long that is, as exactly as anybody knows."""
    if seconds < _MINUTE * 0.75:
        return "less than 1 min"
    minutes = ceil(seconds / _MINUTE)
    if minutes < 90:
        return f"about {minutes} min"
    hours, remainder = divmod(5 * round(minutes / 5), 60)
    return f"about {hours} h {remainder} min" if remainder else f"about {hours} h"


def format_duration(seconds: float) -> str:
    """Write how long something took so far."""
    minutes, remainder = divmod(int(seconds), _MINUTE)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {remainder} s" if minutes else f"{remainder} s"
