"""What is read from a retrieval tool's counters, whoever wrote the probe and the tool."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from swarm_bench.agents.scripted import Scripted
from swarm_bench.benchmarks.swarm.running.swarm import read_counters
from swarm_bench.core.errors import ConfigError
from swarm_bench.core.events import Event, WarningRaised
from swarm_bench.core.ports import ProbeContext
from swarm_bench.retrieval.probes import registered
from swarm_bench.retrieval.probes.registered import load
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe
from tests.builders.golden import Sentences
from tests.builders.kits import KEY, kit_for


class Repeating(ServiceMetricsProbe):
    """Repeats what its service was asked."""

    async def snapshot(self, context: ProbeContext) -> dict[str, Any] | None:
        return {"performance": {"queries": 1}, "analytics": {"top_patterns": {KEY: 1}, "x": [KEY]}}


class Endless(ServiceMetricsProbe):
    """Never ends."""

    async def snapshot(self, context: ProbeContext) -> dict[str, Any] | None:
        await anyio.sleep_forever()
        return None


class Leaving(ServiceMetricsProbe):
    """Ends whoever asks it."""

    async def snapshot(self, context: ProbeContext) -> dict[str, Any] | None:
        raise SystemExit(0)


@pytest.mark.anyio
async def test_keys_are_taken_out_and_whatever_does_not_answer_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Sentences
) -> None:
    events = list[Event]()
    kit = replace(
        kit_for(Scripted(), tmp_path, emit=events.append),
        probes={"endless": Endless(), "leaving": Leaving(), "repeating": Repeating()},
    )
    monkeypatch.setattr("swarm_bench.retrieval.probes.registered.READING_SECONDS", 0.1)
    context = ProbeContext(workspace=tmp_path, service_url="http://127.0.0.1:1", key=None)

    read = await read_counters(kit, kit.experiment.mode("baseline"), context)

    assert (read["endless"], read["leaving"]) == (registered.FAILED, registered.FAILED)
    golden(*(event.message for event in events if isinstance(event, WarningRaised)))
    assert len(events) == 2
    assert read["repeating"] == {
        "performance": {"queries": 1},
        "analytics": {"top_patterns": {"(not stored)": 1}, "x": ["(not stored)"]},
    }


def test_a_probe_that_leaves_when_it_is_made_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be made into a probe: SystemExit"):
        load("sys:exit")
