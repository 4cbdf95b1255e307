"""The notebook of the docs: its cells run, in their order, and give what stands below them.

`make golden` writes the outputs anew; then read the difference.
"""

import ast
import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOK = DOCS / "notebook.ipynb"


def run(source: str, names: dict[str, Any]) -> str:
    """Run a cell, and return what it prints; the value of a last expression would be shown apart,
    so there is none."""
    tree = ast.parse(source)
    last = tree.body[-1]
    assert not isinstance(last, ast.Expr) or ast.unparse(last).startswith("print(")
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "cell", "exec"), names)
    return printed.getvalue()


def test_every_cell_gives_what_stands_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    outputs = [run("".join(cell["source"]), names).splitlines(keepends=True) for cell in cells]
    if "RENEW" in os.environ:
        for number, (cell, lines) in enumerate(zip(cells, outputs, strict=True), start=1):
            cell["execution_count"] = number
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}]
        NOTEBOOK.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")
    assert len(cells) >= 4
    assert outputs == [cell["outputs"][0]["text"] for cell in cells]
