"""What the reference programs say."""

import json
from pathlib import Path
from typing import Any

TOLERANCE = 1e-9


def golden_values(name: str) -> Any:
    return json.loads((Path(__file__).parent / "golden" / f"{name}.json").read_text("utf-8"))
