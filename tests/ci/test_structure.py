"""The figures of the structure: each rule sees what it counts, and none may rise."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECK = ROOT / ".ci" / "structure.py"
STRUCTURE = runpy.run_path(str(CHECK))
OPTIONS = "class Settings:\n    repo: str\n    seed: int\n    model: str\n\n\n"
CLEAN = {
    "cli/settings.py": OPTIONS + "NAMES = ('repo', 'seed', 'branch')\n",
    "cli/main.py": "from package.cli.settings import Settings\n\n\n"
    "def run(model: str) -> None:\n"
    "    settings = {'repo': '.', 'seed': 1, 'model': model}\n"
    "    isinstance(settings, dict)\n",
    "cli/again.py": "from package.cli.settings import Settings\n\nmark = None\nnumber = 1\n",
    "analysis/table.py": "def make_table(experiment):\n    return experiment == 1\n",
    "analysis/short.py": "",
}
KINDS, FILES, LISTS, GUARDS, IMPORTERS, DIALECT, PARTICIPLES = STRUCTURE["LIMITS"]


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_a_clean_package_has_none(tmp_path: Path) -> None:
    figures = STRUCTURE["figures"](write(tmp_path / "package", CLEAN))
    assert figures == dict.fromkeys(STRUCTURE["LIMITS"], 0)


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(record, ModelRecord)",
        "isinstance(it, str | models.ModelExperiment)",
        "issubclass(kind, (RowBenchmark, int))",
        "folder.is_its_kind()",
        "is_session(path)",
        "experiment.benchmark == name",
        "folder.mark in content",
        "design is not CALIBRATE",
        "name in ('swarm', other) or name == 'retrieve'",
        "match it:\n    case CaseExperiment(arms=[]):\n        pass",
    ],
)
def test_a_question_for_the_kind_is_counted(tmp_path: Path, line: str) -> None:
    package = write(tmp_path / "package", {**CLEAN, "app/asking.py": line + "\n"})
    figures = STRUCTURE["figures"](package)
    assert (figures[KINDS], figures[FILES]) == (1, 1)


@pytest.mark.parametrize(
    ("files", "figure", "count"),
    [
        ({"app/lists.py": "FIXED = frozenset({'repo', 'seed', 'model'})\n"}, LISTS, 1),
        ({"app/lists.py": "OF = {'repo': 1, 'seed': 2, 'model': 3}\n"}, LISTS, 1),
        (
            {"app/lists.py": "OF = (*('repo', 'seed', 'model'), *('repo', 'seed', 'model'))\n"},
            LISTS,
            1,
        ),
        ({"app/lists.py": "for name in ['repo', 'seed', 'model']:\n    pass\n"}, LISTS, 1),
        ({"analysis/guard.py": "session.experiment is None\n"}, GUARDS, 1),
        ({"analysis/guard.py": "2 if experiment is not None else 3\n"}, GUARDS, 1),
        ({"app/one.py": "from package.app import two\n", "app/two.py": "\n\n\n"}, IMPORTERS, 1),
        ({"app/names.py": "def run(asked, number, model): ...\n"}, DIALECT, 62.5),
        ({"app/names.py": "async def _opened(path): ...\n"}, PARTICIPLES, 33.3),
    ],
)
def test_a_breach_is_counted(
    tmp_path: Path, files: dict[str, str], figure: str, count: float
) -> None:
    figures = STRUCTURE["figures"](write(tmp_path / "package", {**CLEAN, **files}))
    assert figures[figure] == count


def test_a_rise_is_refused_and_a_fall_asks_for_a_lower_limit(tmp_path: Path) -> None:
    command = [sys.executable, str(CHECK)]
    package = write(tmp_path / "swarm_bench", CLEAN)
    good = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (good.returncode, "lower the limit to 0" in good.stdout) == (0, True)
    more = "is_session(1)\n" * (STRUCTURE["LIMITS"][KINDS] + 1)
    write(package, {"app/asking.py": more})
    bad = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (line,) = (it for it in bad.stdout.splitlines() if "above the limit" in it)
    assert (bad.returncode, line.startswith(KINDS)) == (1, True)


def test_the_package_is_within_its_limits() -> None:
    figures = STRUCTURE["figures"](ROOT / "swarm_bench")
    assert {name for name, limit in STRUCTURE["LIMITS"].items() if figures[name] > limit} == set()
