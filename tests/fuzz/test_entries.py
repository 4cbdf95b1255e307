"""What others wrote raises our errors only, whatever it is."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.entries import ENTRIES, run
from tests.fuzz.foreign import foreign

FOUND = [
    ("task-file", b"description: !!int ''\n"),
    ("task-file", b"description: !!float ''\n"),
    ("task-file", b"description: !!bool x\n"),
    ("agent-file", b"name: !!timestamp x\n"),
]
"""What once raised something else."""


@pytest.mark.parametrize("name", ENTRIES)
def test_bytes_of_others_raise_only_our_errors(name: str, tmp_path: Path) -> None:
    @settings(
        max_examples=40,
        derandomize=True,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def explore(data: st.DataObject) -> None:
        run(name, data.draw(foreign(seeds)), tmp_path)

    seeds = ENTRIES[name].seeds()
    assert seeds
    explore()


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_was_found(name: str, data: bytes, tmp_path: Path) -> None:
    run(name, data, tmp_path)
