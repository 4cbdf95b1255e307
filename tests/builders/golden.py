"""Texts that somebody looked at. `make golden` writes them anew; then read the difference."""

import os
from difflib import unified_diff
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
RENEWED = "RENEW" in os.environ


def hold(name: str, text: str) -> None:
    """Compare a text with the golden file of that name below tests/golden."""
    path = GOLDEN / name
    if RENEWED:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    golden = path.read_text(encoding="utf-8")
    if text != golden:
        before, after = golden.splitlines(), text.splitlines()
        difference = unified_diff(before, after, f"golden/{name}", "now", n=0, lineterm="")
        pytest.fail("\n".join(difference), pytrace=False)
