"""The script of the docs that computes a session's headline anew."""

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SCRIPT = Path(__file__).parents[2] / "docs" / "examples" / "recompute.py"
recompute: Callable[..., dict[str, Any]] = runpy.run_path(str(_SCRIPT))["headline"]
"""Takes the session's folder and, if it is not the second one, the mode."""
