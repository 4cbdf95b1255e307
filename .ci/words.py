"""Names say what a thing is. The words below say nothing of it, and sentences to users have the
field's terms: `continue` for "go on", `fix` for "mend", `omit` for "leave it out".
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path("swarm_bench")
PAGES = ("README.md", "SECURITY.md", "docs/**/*.md")
NAMES = re.compile(
    r"afterwards|alike|asking|barred|both|chosen|comes|course|doubt|doubts|filled|found"
    r"|given|goes|gone|ground|groundwork|half|heard|hears|here|idle|known|knows|left|lets"
    r"|meant|mine|noted|offers|one|ours|place|purse|puts|said|seen|so|some|somebody|somehow"
    r"|something|spoken|story|stuff|surroundings|taken|theirs|then|there|thing|told|treated"
    r"|trouble|typed|wanted|whatever|whoever|wished|words|worth|yours"
)
"""Refused as a whole name of a variable, an argument, an attribute, a function or a class."""
PHRASES = (
    *("go on with", "goes on with", "go on", "begin anew", "leave it out", "leave them out"),
    *(
        "no merit",
        "the dearest",
        "nobody vouches",
        "nobody can vouch",
        "whatever qualifies",
        "is no wall",
    ),
    *("patience of their own", "hardly be seen", "agents of our own", "indexs"),
    *("apart from that, there are no caveats", "is not in the keys: precision"),
)
"""Refused in strings that are no docstrings, and in pages for users."""
_PHRASE = re.compile(rf"\b({'|'.join(PHRASES)})\b", re.IGNORECASE)


def prose_breaches(root: Path) -> Iterator[str]:
    """Give one line for each phrase that is refused in a page for users."""
    for path in sorted(path for pattern in PAGES for path in root.glob(pattern)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := _PHRASE.search(line):
                yield f"{path}:{number}: {match[0]!r}: see .ci/words.py"


def breaches(folder: Path) -> Iterator[str]:
    """Give one line for each name and each sentence that is refused."""
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for line, name in _names(tree):
            if NAMES.fullmatch(name.strip("_").lower()):
                yield f"{path}:{line}: {name}: name it by what it is; see .ci/words.py"
        for line, text in _sentences(tree):
            if match := _PHRASE.search(text):
                yield f"{path}:{line}: {match[0]!r}: see .ci/words.py"


def _names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name):
                yield node.lineno, name


def _sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Give the strings of a module that are no documentation."""
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) in documentation:
                continue
            yield node.lineno, node.value


def main() -> int:
    """Print every breach; 1 when there is one."""
    lines = [*breaches(PACKAGE), *prose_breaches(Path())]
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
