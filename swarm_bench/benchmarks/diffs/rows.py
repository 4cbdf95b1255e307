"""What a row of a benchmark of diffs has, such as unit tests in Python: they are read, and all of
them are written as one program that runs beside the answer."""

import ast
import shlex
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from swarm_bench.benchmarks.cases.python_code import find_free_names, parse_python
from swarm_bench.benchmarks.diffs.applying import PATCH
from swarm_bench.environments.files import is_inside, is_text

PYTHON, JAVASCRIPT = "python", "javascript"
_FILES = {PYTHON: "main.py", JAVASCRIPT: "main.js"}
"""Name of the file where a row does not say."""
_COMMANDS = {JAVASCRIPT: "node {tests}"}


class Checkout(BaseModel):
    """A repository, of which the tests need all files at a commit."""

    folder: str
    """Folder of a clone, which is only read."""
    commit: str
    tests: dict[str, str] = {}
    """Files that are otherwise when the tests run, by their paths."""


class Edit(BaseModel):
    """A file that is to be changed, and tests of what comes of it."""

    model_config = ConfigDict(populate_by_name=True)

    id: str | None = None
    source_code: str = Field(alias="sourceCode")
    unit_tests: str = Field(alias="unitTests", min_length=1)
    prompt: str = ""
    """Task of the row: what is to be changed; empty: the tests are shown, and must pass."""
    language: str = PYTHON
    file: str = ""
    """Its path; otherwise `main.py`, `main.js`, or `main` with the name of the language."""
    files: dict[str, str] = {}
    """Other files beside it, by their paths."""
    checkout: Checkout | None = None
    """Checkout with all other files, which models do not see; for rows with a command."""
    command: str = ""
    """Runs the tests, which stand in the file `{tests}`; empty for Python alone, whose tests run in
    another process than the answer."""
    solution: str | None = None
    """The file as it should be."""
    patch: str | None = None
    """The right diff, where there is no solution."""
    difficulty: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _add_defaults(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        language = content.get("language") or PYTHON
        defaults = {
            "file": _FILES.get(language, f"main.{language}"),
            "command": _COMMANDS.get(language, ""),
        }
        return {
            **content,
            **{name: content.get(name) or default for name, default in defaults.items()},
        }

    @model_validator(mode="after")
    def _has_files(self) -> Self:
        paths = [self.file, *self.files]
        folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
        if not all(map(is_inside, paths)) or len({*paths} - folders) < len(paths):
            raise ValueError("needs files with different paths below one folder; name file")
        if not all(map(is_text, self.every_file.values())):
            raise ValueError("has half a character in a file, which no file can hold")
        for path, subject in ((self.tests_file, "its tests are"), (PATCH, "an answer is")):
            if path in paths or path in folders:
                raise ValueError(f"has a file {path}, where {subject} written")
        return self

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        if "\0" in self.command:
            raise ValueError("has a command with a null character, which no command can have")
        if self.checkout and not self.command:
            raise ValueError("has a checkout, and needs a command that runs its tests")
        if self.unit_tests and not self.command and (self.language != PYTHON or self.files):
            raise ValueError("needs a command that runs its tests, such as 'sh {tests}'")
        try:
            shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"has a command that cannot be read ({error})") from error
        if self.unit_tests and not self.command:
            tests = parse_python(self.unit_tests)
            if tests is None:
                raise ValueError("has unit tests that are no Python; give a command that runs them")
            if fault := find_fault(tests, self.file):
                raise ValueError(fault)
        return self

    @property
    def tests_file(self) -> str:
        """Return the path of the file to which the tests that a command runs are written."""
        return f"unit_tests{PurePosixPath(self.file).suffix}"

    @property
    def tests(self) -> dict[str, str]:
        """The text of the file that the command names; of none where it names none."""
        return {self.tests_file: self.unit_tests} if "{tests}" in self.command else {}

    @property
    def every_file(self) -> dict[str, str]:
        """The text of each file, by its path."""
        return {self.file: self.source_code, **self.files}

    @property
    def argv(self) -> tuple[str, ...]:
        """The command, in words."""
        return tuple(word.replace("{tests}", self.tests_file) for word in shlex.split(self.command))


FILE = "_file_"
"""Name of the answer's file in the program, and in the file itself."""
PREAMBLE = f"import sys as _sys\n{FILE} = _sys.modules[__name__]\n"
"""Executed before the answer, which it makes a name for."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RUN = """import sys as _sys
from types import AsyncGeneratorType as _Async, CoroutineType as _Coroutine
from types import FunctionType as _Function, GeneratorType as _Generator, ModuleType as _Module

class _File(_Module):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_file_, name)

    def __setattr__(self, name, value):
        setattr(_file_, name, value)

_at = _sys.modules[{first!r}] = (_Module if {rest!r} else _File)({first!r})
for _part in {rest!r}:
    _name = _at.__name__ + "." + _part
    _sys.modules[_name] = (_File if _name == {module!r} else _Module)(_name)
    _at.__dict__[_part] = _sys.modules[_name]
    _at = _sys.modules[_name]
if {has_cases!r}:
    import unittest as _unittest
    _unittest.main = lambda *values, **named: None
if {is_async!r}:
    import asyncio as _asyncio
    _run = _asyncio.run
    async def _awaited(it):
        return await it
    _asyncio.run = lambda it, _run=_run, _awaited=_awaited, **named: _run(_awaited(it), **named)
__name__ = "__main__"
exec(compile({tests!r}, "unit_tests.py", "exec"), globals())
if "setUpModule" in globals():
    setUpModule()
_ran = {runs_at_once!r}
for _name, _test in list(globals().items()):
    if not _name.startswith("test") or not isinstance(_test, _Function):
        continue
    _code = _test.__code__
    if _name in {used_at_once!r} and _code.co_argcount > len(_test.__defaults__ or ()):
        continue
    _result = _test()
    if isinstance(_result, _Coroutine):
        _asyncio.run(_result)
    assert not isinstance(_result, (_Async, _Generator)), _name + " is a generator"
    _ran = True
if {has_cases!r}:
    _result, _suite = _unittest.TestResult(), _unittest.TestSuite()
    for _value in list(globals().values()):
        if isinstance(_value, type) and issubclass(_value, _unittest.TestCase):
            _suite.addTests(_unittest.defaultTestLoader.loadTestsFromTestCase(_value))
    _suite.run(_result)
    assert _result.wasSuccessful(), (_result.failures + _result.errors)[:1]
    _ran = _ran or _result.testsRun > len(_result.skipped)
assert _ran, "no test was run"
"""


def name_module(file: str) -> str:
    """Return the name by which a file is imported."""
    return ".".join(PurePosixPath(file).with_suffix("").parts)


def find_exports(tree: ast.Module) -> tuple[str, ...]:
    """Return the names that the program takes from the answer: those that the tests do not
    define."""
    return FILE, *sorted(find_free_names(tree) - {FILE})


def write_program(tests: str, tree: ast.Module, file: str) -> str:
    """Return a program that fails where one of the tests does, and where none is run; `tree` are
    the tests, parsed."""
    first, *inner = name_module(file).split(".")
    return _RUN.format(
        first=first,
        rest=inner,
        module=name_module(file),
        tests=tests,
        has_cases="unittest" in tests,
        is_async="async" in tests,
        runs_at_once=_runs_at_once(tree),
        used_at_once=_find_used_at_once(tree),
    )


def find_fault(tree: ast.Module, file: str) -> str | None:
    """Return why tests would not run, as a clause on the row; `None` for those that do."""
    return next(chain(_find_missing(tree, name_module(file)), _find_not_run(tree)), None)


def _find_missing(tree: ast.Module, module: str) -> Iterator[str]:
    """Yield what the tests need, and what does not cross."""
    own_modules = {module.partition(".")[0]}
    for name in _find_imported(tree):
        if name.partition(".")[0] not in own_modules | sys.stdlib_module_names:
            yield (
                f"has unit tests that import {name or 'by a relative name'}, which they cannot: "
                f"they have {module} and Python's own library; give a command that runs them"
            )
    for name in _find_classes(tree, module):
        yield (
            f"has unit tests that need {name} as a class, which is in another process; catch "
            "Exception, look at values, or give a command that runs them"
        )


def _find_not_run(tree: ast.Module) -> Iterator[str]:
    """Yield what looks like a test, and would not run."""
    used, runs = _find_used_at_once(tree), _runs_at_once(tree)
    cases = _find_test_cases(tree)
    for node in tree.body:
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            if _is_generator(node):
                yield f"has the test {node.name}, which is a generator: it would not run; fix it"
            if not node.decorator_list and _needs(node.args) and node.name not in used:
                yield (
                    f"has the test {node.name} with arguments that nobody passes; call it in the "
                    "tests, or give a command that runs them"
                )
            runs = True
        elif isinstance(node, ast.ClassDef) and any(map(_is_test, node.body)):
            if node.name not in cases and node.name not in used:
                yield (
                    f"has the class {node.name} with tests, which is no unittest.TestCase; make it "
                    "one, or give a command that runs them"
                )
            runs = True
    if not runs:
        yield (
            "has unit tests of which none would run; call functions test_…, use "
            "unittest.TestCase, or assert"
        )


def _find_imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that are imported in any case."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level else node.module or ""


def _find_classes(tree: ast.Module, module: str) -> Iterator[str]:
    """Yield what is to be a class in the tests, and is one of the file's."""
    names, modules = find_free_names(tree), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            names = names | {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name == module}
    for node in ast.walk(tree):
        for kind in _find_class_expressions(node):
            text = ast.unparse(kind)
            if text in names or text.rpartition(".")[0] in modules:
                yield text


def _find_class_expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions of a node that have to be classes."""
    match node:
        case ast.ClassDef(bases=bases):
            yield from bases
        case ast.ExceptHandler(type=ast.Tuple(elts=kinds)):
            yield from kinds
        case ast.ExceptHandler(type=ast.expr() as kind):
            yield kind
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind]):
            yield from kind.elts if isinstance(kind, ast.Tuple) else [kind]
        case ast.Call(func=ast.Attribute(attr=name), args=[first, *remaining]):
            if name.startswith("assertRaises"):
                yield from first.elts if isinstance(first, ast.Tuple) else [first]
            elif name in ("assertIsInstance", "assertNotIsInstance"):
                yield from remaining[:1]


def _find_test_cases(tree: ast.Module) -> set[str]:
    """Return the classes that are, or may be, test cases of unittest."""
    cases = set[str]()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base) for base in node.bases]
            if any("TestCase" in base or base in cases for base in bases):
                cases.add(node.name)
    return cases


def _runs_at_once(tree: ast.Module) -> bool:
    """Tell whether the file itself asserts something, or calls what it has or imports."""
    callable_names = _find_callables(tree)
    for node in _walk_at_once(tree):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in callable_names - {"main"}:
                return True
            if isinstance(function, ast.Attribute) and function.attr.startswith("assert"):
                return True
    return False


def _find_callables(tree: ast.Module) -> set[str]:
    """Return the functions that a file defines, and what it imports by name."""
    names = {statement.name for statement in tree.body if isinstance(statement, _FUNCTIONS)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def _find_used_at_once(tree: ast.Module) -> set[str]:
    return {node.id for node in _walk_at_once(tree) if isinstance(node, ast.Name)}


def _walk_at_once(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what is executed when the file is."""
    for node in tree.body:
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield from ast.walk(node)


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, _FUNCTIONS) and node.name.startswith("test")


def _is_generator(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    inner = [child for node in function.body for child in _walk_function(node)]
    return any(isinstance(child, ast.Yield | ast.YieldFrom) for child in inner)


def _walk_function(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what belongs to a function, without functions in it."""
    yield node
    if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
        for child in ast.iter_child_nodes(node):
            yield from _walk_function(child)


def _needs(arguments: ast.arguments) -> bool:
    positional = len(arguments.args) + len(arguments.posonlyargs)
    return positional > len(arguments.defaults) or None in arguments.kw_defaults
