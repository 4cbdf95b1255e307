"""Files are opened through `swarm_bench.runtime.untrusted`, as an agent, a stranger or an older
session may have put something else in their place: `open_untrusted`, `read`, `tail` and
`read_inside` read. In `swarm_bench.runtime.files`, `writable`, `write_whole` and `append_line`
write, `remove` removes.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path("swarm_bench")
METHODS = ("open", "read_bytes", "read_text")
"""Of paths, and of `os`. A name in `from os import open` is caught by its import."""
FUNCTIONS = {
    "shutil": ("copyfile", "copyfileobj", "copytree", "rmtree"),
    "sqlite3": ("connect",),
    "tempfile": ("NamedTemporaryFile", "TemporaryDirectory"),
    "io": ("open",),
    "os": ("open", "walk"),
}
EXEMPT = {
    "app/kit": "files of the package, which a user gets copies of",
    "app/listing.py": "files of the package",
    "runtime/workspaces/snapshots.py": "a tar file in memory, of a repository that we made",
    "cli/main.py": "/dev/null",
    "cli/output/terminal.py": "/dev/null",
    "config/text_file.py": "files that the user names, which may be links",
    "datasets/exposure/scanning.py": "in memory",
    "datasets/shipped/__init__.py": "files of the package",
    "executors/ray_cluster.py": "/dev/null",
    "executors/worker.py": "/dev/null",
    "environments/folders.py": "folders of the system, and how the package was installed",
    "models/prices.py": "a file of the package",
    "text/bm25.py": "in memory, or in the process of a program that we ship",
    "text/terms.py": "a file of the package",
    "programs": "what we ship, in its own process",
    "retrieval/probes/feedback.py": "reads a copy of canopy's database",
    "retrieval/handshake.py": "what the user has installed",
    "retrieval/placebo/material.py": "read by a server of the agent's, in its own process",
    "runtime/processes": "/proc",
    "runtime/untrusted.py": "the module that opens and removes",
    "runtime/workspaces/content.py": "walks the user's own folder",
    "testing": "programs that misbehave",
}
"""What is left out, below the package, and why."""


def breaches(folder: Path) -> Iterator[str]:
    """One line for everything below the package that opens or removes files by itself."""
    for path in sorted(folder.rglob("*.py")):
        inner = path.relative_to(folder).as_posix()
        if not any(inner == name or inner.startswith(f"{name}/") for name in EXEMPT):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for name in _forbidden(node):
                    yield f"{path}:{getattr(node, 'lineno', 0)}: {name}: see .ci/opening.py"


def _forbidden(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        names = FUNCTIONS.get(node.module or "", ())
        yield from (alias.name for alias in node.names if alias.name in names)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if not any(keyword.arg == "opener" for keyword in node.keywords):
            yield from {"open", "FileIO"} & {node.func.id}
    elif isinstance(node, ast.Attribute):
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if node.attr in METHODS or node.attr in FUNCTIONS.get(owner, ()):
            yield ast.unparse(node)


def main() -> int:
    """Print every breach; 1 when there is one."""
    found = list(breaches(PACKAGE))
    for breach in found:
        print(breach)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
