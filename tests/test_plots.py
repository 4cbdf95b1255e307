"""The examples of docs/plots.md: each runs as it stands, on a stored session. They need altair,
which is in an environment of its own: `make test-plots` sets it up."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / ".venv-plots" / "bin" / "python"
_READY = (ROOT / ".venv-plots" / ".ready").exists()
if not _READY and os.environ.get("NEED_PLOTS"):
    raise RuntimeError("altair is not there (make .venv-plots/.ready)")
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "plots.md").read_text("utf-8"), re.S)
pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        not _READY, reason="no .venv-plots: EXAMPLES OF docs/plots.md NOT RUN (make test-plots)"
    ),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the session that the examples name."""
    session = ROOT / "tests" / "golden" / "sessions" / "compare"
    shutil.copytree(session, tmp_path / "results" / "swarm-20261120-213300")
    return tmp_path


def run(example: str, folder: Path) -> Path:
    """Run an example, and return the file that it writes."""
    before = {*folder.iterdir()}
    subprocess.run([PYTHON, "-W", "error::UserWarning", "-c", example], cwd=folder, check=True)
    (file,) = {*folder.iterdir()} - before
    return file


def test_there_are_three() -> None:
    assert len(EXAMPLES) == 3


def test_marks_of_each_mode_are_drawn(folder: Path) -> None:
    picture = ElementTree.fromstring(run(EXAMPLES[0], folder).read_text("utf-8"))
    texts = {*picture.itertext()}
    assert {"baseline", "canopy", "canopy-service", "auth", "jobs", "orders"} <= texts
    points = [it for it in picture.iter() if it.attrib.get("aria-roledescription") == "point"]
    assert len(points) == 9


def test_a_picture_of_points_is_written(folder: Path) -> None:
    content = run(EXAMPLES[1], folder).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5_000


def test_a_page_needs_no_network(folder: Path) -> None:
    page = run(EXAMPLES[2], folder).read_text("utf-8")
    assert "file_recall" not in page, "only what is drawn"
    assert '"canopy-service"' in page
    assert not re.findall(r"<(?:script|link)[^>]+(?:src|href)=", page)
