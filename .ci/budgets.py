"""The size budgets of files, functions and folders, and one import that the import contracts cannot
see."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 40
FOLDER_MODULES = 15
SAME_WORD = 3
"""Modules whose names begin with the same word are a folder of their own."""
ROOT = "swarm_bench"


def breaches(folder: Path) -> Iterator[str]:
    """One line for everything below `folder` that is over its budget."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if (lines := text.count("\n")) > FILE_LINES:
            yield f"{path}: {lines} lines, at most {FILE_LINES}"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES:
                    yield f"{path}:{node.lineno}: {node.name}: {length} lines, at most 40"
            elif _imports_root(node):
                yield f"{path}: imports the package's root from inside; name the module"


def crowded(folder: Path) -> Iterator[str]:
    """Yield one line for every folder with too many modules, or with a folder hidden in them."""
    for inner in sorted({path.parent for path in folder.rglob("*.py")}):
        names = [path.stem for path in inner.glob("*.py") if not path.stem.startswith("__")]
        if len(names) > FOLDER_MODULES:
            yield f"{inner}: {len(names)} modules, at most {FOLDER_MODULES}"
        words = Counter(name.strip("_").partition("_")[0] for name in names)
        for word, count in words.items():
            if count >= SAME_WORD:
                yield f"{inner}: {count} modules begin with {word}; put them into a folder"


def _imports_root(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == ROOT
    return isinstance(node, ast.Import) and any(alias.name == ROOT for alias in node.names)


def main() -> int:
    """Print every breach; 1 when there is one."""
    found = [*breaches(Path(ROOT)), *crowded(Path(ROOT))]
    for breach in found:
        print(breach)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
