"""What can be exchanged is named where it lives, and nowhere else: benchmarks, modes, probes and
the programs that we ship. A branch on such a name is a key, a field or a method that is missing.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path("swarm_bench")
HOMES = {
    "ab": ("core/session/designs.py",),
    "calibrate": ("core/session/designs.py",),
    "swarm": ("benchmarks/swarm", "core/session/designs.py"),
    "baseline": (),
    "canopy": ("retrieval/canopy",),
    "canopy-service": ("retrieval/canopy",),
    "embedded canopy": ("retrieval/canopy",),
    "feedback": ("retrieval/probes/feedback.py",),
    "service": ("retrieval/probes/service_metrics.py",),
    "rules": ("agents/scout",),
    "scout": ("agents/scout",),
}
"""Names as whole strings, and where each of them may stand."""
_FILE_MODE = "how a file is opened"
_NOUN = "the noun, in a sentence"
ALLOWED: dict[str, dict[str, str]] = {
    "analysis/caveats/clones.py": {"swarm": _NOUN},
    "analysis/caveats/missing_figures.py": {"swarm": _NOUN},
    "analysis/caveats/tools.py": {"swarm": _NOUN},
    "analysis/gate/modes.py": {"swarm": _NOUN},
    "analysis/sentences/contrast.py": {"baseline": "a name that takes an article in a sentence"},
    "app/doctor/servers.py": {"service": "a row of doctor"},
    "app/notices.py": {"scout": "a hint for the default agent"},
    "app/trust/option_parts.py": {"service": "a part of a digest that is remembered"},
    "benchmarks/retrieve/running.py": {"service": "a step of the live view"},
    "benchmarks/swarm/running/swarm.py": {"service": "a step of the live view"},
    "cli/completing.py": {"rules": "a model to choose"},
    "config/compare_options.py": {
        **dict.fromkeys(("baseline", "canopy", "canopy-service"), "what --modes is by default"),
        "ab": "what --tasks is by default",
        "scout": "what --agent is by default",
    },
    "core/session/base.py": {"rules": "in records that do not say `fixed_rules`"},
    "core/session/designs.py": {"baseline": "what modes are held against"},
    "engine/folder.py": {"ab": _FILE_MODE},
    "importers/canopy_script/folder.py": dict.fromkeys(
        ("baseline", "canopy", "canopy-service"), "the modes of the script"
    ),
    "text/tool_roles.py": {"feedback": "a word in names of tools"},
    "programs": dict.fromkeys(HOMES, "run in processes of their own, and speak protocols"),
    "retrieval/canopy/service.py": {"service": "a key of its /status"},
    "retrieval/modes/mode_file.py": {"canopy-service": "what a mode file may ask for"},
    "retrieval/witnesses/purposes.py": {"feedback": "a word in names of tools"},
    "runtime": {"ab": _FILE_MODE},
    "testing": {"ab": _FILE_MODE, "canopy": "a tool that it plays"},
}
"""What is left out, below the package: the names, and why."""


def breaches(folder: Path) -> Iterator[str]:
    """One line for everything below the package that is named outside of its home."""
    for path in sorted(folder.rglob("*.py")):
        inner = path.relative_to(folder).as_posix()
        for line, name in _strings(path):
            if name in HOMES and not _may_stand(inner, name):
                yield f"{path}:{line}: {name!r}: see .ci/names.py"


def unused(folder: Path) -> Iterator[str]:
    """One line for each entry of the list that nothing needs any more."""
    for inner, names in ALLOWED.items():
        place = folder / inner
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        there = {name for path in files if path.is_file() for _, name in _strings(path)}
        if inner != "programs":
            yield from (f"{inner}: no {name!r} any more" for name in names if name not in there)


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _may_stand(inner: str, name: str) -> bool:
    allowed = [place for place, names in ALLOWED.items() if name in names]
    places = (*HOMES[name], *allowed)
    return any(inner == place or inner.startswith(f"{place}/") for place in places)


def main() -> int:
    """Print every breach; 1 when there is one."""
    lines = [*breaches(PACKAGE), *unused(PACKAGE)]
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
