"""Contracts, and values that the reference programs computed; `data/SOURCE.txt` says whose."""

import gzip
import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
PACKAGE = DATA / "contracts.jsonl.gz"


def contracts() -> dict[str, str]:
    """Texts by path, with the line ends that the reference program reads."""
    rows = map(json.loads, gzip.decompress(PACKAGE.read_bytes()).decode().splitlines())
    return {row["path"]: row["content"].replace("\r\n", "\n") for row in rows}


def read_json(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))
