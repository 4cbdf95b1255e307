"""How long a session will still take, told before its end."""

import time

import pytest

from swarm_bench.cli.output.pace import Pace, format_duration, format_estimate

SET_UP, SLOW, FAST = 30.0, 20.0, 2.0
"""Seconds."""


class Session:
    """Two arms in blocks of four trials, two at a time; the first one has an index."""

    def __init__(self, blocks: int) -> None:
        self.now = 0.0
        self.blocks = blocks
        trials = {"tool": 4 * blocks, "plain": 4 * blocks}
        self.pace = Pace(trials, dict.fromkeys(trials, blocks), lambda: self.now)
        self.told: list[tuple[float, float]] = []
        """The time, and what was left by the estimate."""

    def run(self) -> None:
        for _ in range(self.blocks):
            for arm, set_up, seconds in (("tool", SET_UP, SLOW), ("plain", 1.0, FAST)):
                self.pace.set_up(arm, 0)
                self.now += set_up
                for _ in range(2):
                    self.pair(arm, seconds)

    def pair(self, arm: str, seconds: float) -> None:
        for _ in range(2):
            self.pace.run(arm)
        self.now += seconds / 2
        if (left := self.pace.estimate_remaining([(arm, seconds / 2)] * 2)) is not None:
            self.told.append((self.now, left))
        self.now += seconds / 2
        for _ in range(2):
            self.pace.end(arm, seconds)
        self.told.append((self.now, self.pace.estimate_remaining([]) or 0.0))


def test_it_is_right_once_each_arm_was_heard_of() -> None:
    session = Session(blocks=6)
    session.run()
    whole = session.now
    of_one = SET_UP + 2 * SLOW + 1 + 2 * FAST
    late = [(now, left) for now, left in session.told if now > of_one]
    assert len(late) > 30
    for now, left in late:
        assert left == pytest.approx(whole - now, abs=1.0)


def test_before_that_it_is_of_the_right_size() -> None:
    session = Session(blocks=6)
    session.run()
    assert all(left < 2.5 * (session.now - now) + 1 for now, left in session.told)


def test_before_the_first_trial_has_ended_nothing_is_known() -> None:
    session = Session(blocks=1)
    assert session.pace.estimate_remaining([]) is None
    session.pace.set_up("tool", 0)
    session.now += 5
    session.pace.run("tool")
    assert session.pace.estimate_remaining([("tool", 3.0)]) is None


def test_workspaces_that_follow_in_the_same_group_count() -> None:
    now = [0.0]
    pace = Pace({"tool": 3}, {"tool": 1}, lambda: now[0])
    for more in (2, 1, 0):
        pace.set_up("tool", more)
        now[0] += 10
        pace.run("tool")
        now[0] += 1
        pace.end("tool", 1.0)
        assert pace.estimate_remaining([]) == pytest.approx(11 * more)


def test_trials_that_never_started_do_not_divide_by_zero() -> None:
    pace = Pace({"tool": 2}, {"tool": 1}, lambda: 1.0)
    pace.end("tool", None)
    assert pace.estimate_remaining([("tool", 4.0)]) == 0.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "less than 1 min"), (44, "less than 1 min"), (46, "about 1 min"), (121, "about 3 min"),
     (89 * 60, "about 89 min"), (95 * 60, "about 1 h 35 min"), (7201, "about 2 h")],
)  # fmt: skip
def test_nobody_reads_more_than_is_known(seconds: float, text: str) -> None:
    assert format_estimate(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(59.9, "59 s"), (64, "1 min 4 s"), (3725, "1 h 2 min")]
)
def test_what_has_passed_is_exact(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_an_estimate_does_not_take_longer_the_more_trials_have_ended() -> None:
    pace = Pace({"a": 200_000}, {"a": 1}, lambda: 1.0)
    for _ in range(100_000):
        pace.end("a", 60.0)
    began = time.process_time()
    assert pace.estimate_remaining([("a", 30.0)] * 5_000) is not None
    assert time.process_time() - began < 1.0  # adding up all of them each time takes several
