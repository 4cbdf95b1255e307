"""The data set `python-docstrings`: documented functions of Python's own standard library."""

import ast
import re
import sysconfig
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain, islice, zip_longest
from pathlib import Path
from platform import python_version
from typing import Any

from swarm_bench.core.errors import ConfigError
from swarm_bench.core.roles.dataset import RawRows
from swarm_bench.datasets.files import FIX
from swarm_bench.runtime.untrusted import read

MODULES = (
    "argparse", "base64", "bisect", "calendar", "configparser", "contextlib", "copy", "csv",
    "difflib", "fractions", "functools", "gettext", "glob", "heapq", "inspect", "ipaddress",
    "mimetypes", "pprint", "random", "shlex", "shutil", "statistics", "string", "tempfile",
    "textwrap", "threading", "zipfile",
)  # fmt: skip
"""Modules from which rows are taken. What has become a package is read from its `__init__.py`."""
_LARGEST = 4 * 1024 * 1024
"""Bytes of a module."""
_MOST_LINES = 60
_MOST_OF_A_MODULE = 12
"""Rows: functions of one module resemble each other."""
_TOKENS = range(4, 61)
"""Number of tokens of the summary: shorter ones say nothing, and longer ones are no summary."""
_QUOTES = ('"""', "'''")
_SENTENCE = re.compile(r"[A-Z]\w*\s+\w")
"""Beginning of a sentence that says something, and does not repeat the signature."""
_TOKEN = re.compile(r"\w+(?:['-]\w+)*|[<>=!]=|->|::|\.{2,}|[^\w\s]")


class PythonDocstrings:
    """Rows in the schema of CodeXGLUE's documentation task, the same ones for the same version of
    Python. They are read where Python is installed, and not shipped."""

    about = "Documented functions of the standard library of the Python that runs."
    published: date | None = None

    def __init__(self, folder: str | None = None) -> None:
        """Note the folder of a library, by default that of the Python that runs."""
        self._folder = Path(folder or sysconfig.get_path("stdlib")).expanduser()
        self._is_own = not folder

    @property
    def licence(self) -> str | None:
        """Return that of Python; what another folder has is not known."""
        return "PSF-2.0" if self._is_own else None

    @property
    def source(self) -> str | None:
        """Name the version whose library it is, or the folder that was named."""
        if not self._is_own:
            return str(self._folder)
        return f"the standard library of Python {python_version()} (Python Software Foundation)"

    def load(self) -> RawRows:
        """Read the functions, one of each module in turn: the first rows are of many. Raises
        `ConfigError`."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in what others wrote
            modules = [islice(self._rows(name), _MOST_OF_A_MODULE) for name in MODULES]
            rows = list(filter(None, chain.from_iterable(zip_longest(*modules))))
        return RawRows.of([{"id": number, **row} for number, row in enumerate(rows)])

    def _rows(self, module: str) -> Iterator[dict[str, Any]]:
        path, code = self._source(module)
        lines = code.split("\n")
        for owner, function in _functions(ast.parse(code)):
            if row := _row(lines, function):
                name = owner + function.name
                yield {"language": "python", "path": path, "func_name": name, **row}

    def _source(self, module: str) -> tuple[str, str]:
        package = (self._folder / module).is_dir()
        name = f"{module}/__init__.py" if package else f"{module}.py"
        try:
            return name, read(self._folder / name, _LARGEST).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{self._folder / name} cannot be read ({error}): {self._folder} has no standard "
                f"library as it is known here; {FIX}"
            ) from error


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield functions, and methods with the name of their class; not those that Python calls."""
    owners = [("", tree.body)]
    owners += [
        (f"{owner.name}.", owner.body) for owner in tree.body if isinstance(owner, ast.ClassDef)
    ]
    for owner, body in owners:
        for node in body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                yield owner, node


def _row(lines: Sequence[str], function: ast.FunctionDef) -> dict[str, Any] | None:
    """Return what a row has of a function; `None` for one that is no good example."""
    function_lines = lines[function.lineno - 1 : function.end_lineno]
    if len(function_lines) > _MOST_LINES or ast.get_docstring(function, clean=False) is None:
        return None
    code = textwrap.dedent("\n".join(function_lines))
    docstring = _docstring(code)
    tokens = _TOKEN.findall(docstring.strip().partition("\n\n")[0])
    quoted = any(f"{quotes}{docstring}{quotes}" in code for quotes in _QUOTES)
    sentence = _SENTENCE.match(docstring.strip())
    if not (quoted and sentence) or len(tokens) not in _TOKENS:
        return None
    return {"code": code, "docstring": docstring.strip(), "docstring_tokens": tokens}


def _docstring(code: str) -> str:
    """Return it as it stands in the code, where it can be hidden."""
    (function,) = ast.parse(code).body
    assert isinstance(function, ast.FunctionDef)
    return ast.get_docstring(function, clean=False) or ""
