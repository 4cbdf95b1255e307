from swarm_bench.agents.scripted import Scripted
from swarm_bench.benchmarks.swarm.running.agent_process import OutputWatcher
from swarm_bench.core.outcome import Activity


class Counted(Scripted):
    """Every line is a turn that is over."""

    def activity(self, line: bytes) -> Activity | None:
        return Activity(doing=line.decode(), turns=1) if line else None


def test_a_budget_that_the_program_does_not_keep_is_kept() -> None:
    shown: list[Activity] = []
    watch = OutputWatcher(Counted(), 2, shown.append)
    assert [watch.read_line(line) for line in (b"one", b"", b"two")] == [None, None, "turn-limit"]
    assert [activity.doing for activity in shown] == ["one", "two"]


def test_a_program_that_keeps_its_budget_is_only_watched() -> None:
    watch = OutputWatcher(Counted(), None, lambda _: None)
    assert [watch.read_line(b"turn") for _ in range(5)] == [None] * 5
