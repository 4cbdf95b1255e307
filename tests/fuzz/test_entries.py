"""What others wrote raises our errors only, whatever it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.entries import ENTRIES, run
from tests.fuzz.foreign import foreign
from tests.fuzz.parts import joined, parts

UNFIT = {"modes": [], "order": [["other"]], "tasks": [], "agents": 0}
"""By key: what other values of an experiment do not go with."""


def changed(key: str, value: Any) -> bytes:
    """A session whose experiment was edited by hand."""
    metrics, retrieval, text = parts(ENTRIES["session"].seeds()[0], 3)
    return joined(metrics, retrieval, json.dumps({**json.loads(text), key: value}).encode())


FOUND = [
    ("task-file", b"description: !!int ''\n"),
    ("task-file", b"description: !!float ''\n"),
    ("task-file", b"description: !!bool x\n"),
    ("agent-file", b"name: !!timestamp x\n"),
    ("mcp-result", b'"see {a"'),
    ("mode-file", b"9" * 5_000),
    ("mode-file", b'{"mcpServers": {"a": {"command": "' + b"a/" * 5_000 + b'"}}}'),
    ("answer-file", b"[" * 5_000),
    ("settings", b"runs = " + b"9" * 5_000),
    ("settings", b"runs = " + b"[" * 5_000),
    *(("session", changed(key, value)) for key, value in UNFIT.items()),
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
