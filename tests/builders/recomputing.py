"""The script of the docs that computes a session's headline anew."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "recompute.py"
_names = runpy.run_path(str(_SCRIPT))
recompute: Callable[..., dict[str, Any]] = _names["headline"]
"""Takes the session's folder and, if it is not the second one, the mode."""
recompute_groups: Callable[[dict[str, Any]], dict[str, str]] = _names["groups"]
"""Takes what stands in `experiment.json`."""
