"""Scout with the embedded canopy, asked who calls something."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.programs.scout.conftest import Done

QUESTION = "Which functions and methods call the function `storable` directly?"
CALLERS = ("shop/orders.py", "shop/stock.py", "web/export.py")
FILES = {
    "shop/records.py": "def storable(value):\n    return repr(value)\n",
    "shop/orders.py": "from shop.records import storable\n\n\ndef keep(order):\n"
    "    return storable(order)\n",
    "shop/stock.py": "from shop.records import storable\n\n\nclass Stock:\n"
    "    def save(self):\n        return storable(self.items)\n",
    "web/export.py": "from shop import records\n\n\ndef export(rows):\n"
    "    return [records.storable(row) for row in rows]\n",
    **{
        f"tests/test_{name}.py": "# storable storable storable\nSTORABLE = 'what is storable'\n"
        for name in "abcdefgh"
    },
    **{f"docs/{name}.md": "# Storable\n\nWhat is storable.\n" for name in "abcd"},
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_it_reads_the_callers_and_names_them_first(
    scout: Callable[..., Done], workspace: Path
) -> None:
    """In the files that mention the name most nobody calls it, and its definition covers all words
    of the task."""
    words = ["-m", "swarm_bench.programs.canopy.mcp.server", "--root", str(workspace)]
    server = {"command": sys.executable, "args": ["-I", *words]}
    option = "--mcp-config=" + json.dumps({"mcpServers": {"canopy": server}})
    done = scout(option, prompt=QUESTION)
    assert done.code == 0, done.err
    assert done.calls[0] == ["mcp__canopy__canopy_evidence_pack", "mcp__canopy__canopy_query"]
    assert done.calls[1] == ["mcp__canopy__canopy_expand"]
    named = re.findall(r"^### `(.*)`", done.result["result"], re.MULTILINE)
    first = named[: len(CALLERS) + 1]
    assert set(CALLERS) <= set(first)
    assert set(first) - set(CALLERS) <= {"shop/records.py"}
