"""Packages as pip leaves them in a folder, among them the examples of docs/extending."""

import re
from pathlib import Path

DOCUMENTS = Path(__file__).parents[2] / "docs" / "extending"


def block(page: str, language: str) -> str:
    """The first block of code in a language that a page of docs/extending has."""
    text = (DOCUMENTS / f"{page}.md").read_text(encoding="utf-8")
    match = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert match
    return match[1]


def install_example(page: str, module: str, packages: Path) -> None:
    """The code of a page as a package of one module, registered as the page has it."""
    points = block(page, "toml").replace("project.entry-points.", "").replace('"', "")
    install(module, block(page, "python"), points, packages)


def install(module: str, code: str, points: str, packages: Path) -> None:
    """A package of one module; `points` is its `entry_points.txt`."""
    info = packages / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)
    (packages / f"{module}.py").write_text(code, encoding="utf-8")
