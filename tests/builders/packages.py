"""Packages as pip leaves them in a folder, among them the examples of docs/extending."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

EXAMPLES = {
    "agent-program": "my_agent",
    "benchmark": "my_benchmark",
    "column": "my_columns",
    "metric": "my_metrics",
    "probe": "my_probe",
    "scorer": "my_scorers",
}
"""By page, the module of its code."""
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


def build_examples(source: Path, packages: Path) -> dict[str, dict[str, str]]:
    """The code of all pages as one package, built as docs/extending/README.md has it. Returns its
    entry points, by group."""
    source.mkdir()
    groups: dict[str, dict[str, str]] = {}
    for page, module in EXAMPLES.items():
        (source / f"{module}.py").write_text(block(page, "python"), encoding="utf-8")
        for group, points in tomllib.loads(block(page, "toml"))["project"]["entry-points"].items():
            groups.setdefault(group, {}).update(points)
    project = block("README", "toml").partition("[project.entry-points")[0]
    for group, points in groups.items():
        lines = (f'{name} = "{value}"' for name, value in points.items())
        project += "\n".join((f'[project.entry-points."{group}"]', *lines, ""))
    (source / "pyproject.toml").write_text(project, encoding="utf-8")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("*.whl")
    ZipFile(wheel).extractall(packages)
    return groups
