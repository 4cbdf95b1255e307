"""Runs the unit tests of a row on files that an answer has changed."""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from swarm_bench.benchmarks.cases.python_code import parsed
from swarm_bench.benchmarks.diffs.rows import Edit
from swarm_bench.core.roles.execution import Environment
from swarm_bench.environments.files import run_beside
from swarm_bench.environments.python_tests import PythonTests, check


async def end_of_tests(
    environment: Environment, row: Edit, files: Mapping[str, str], timeout: float
) -> str:
    """Run them; return how they ended, `passed` being the one good end. Raises
    `EnvironmentFailed`."""
    if row.command:
        inside = {**files, row.tests_file: row.unit_tests}
        execution = await run_beside(environment, inside, row.argv, timeout)
        if execution.stopped is not None:
            return "timeout" if execution.stopped == "time" else execution.stopped
        return "passed" if execution.returncode == 0 else "failed"
    text = files[row.file]
    tree = parsed(text)
    if tree is None:
        return "uncompiled"
    tests = python_tests(row.unit_tests, row.file)
    names = names_in(tree) & {
        it.id for it in ast.walk(ast.parse(tests)) if isinstance(it, ast.Name)
    }
    checked = await check(
        environment,
        PythonTests(candidate=text, exports=tuple(sorted(names)), tests=tests, timeout=timeout),
    )
    return checked.end


def run_beside_answers(rows: Sequence[Edit]) -> Sequence[str]:
    """Say of how many rows an answer could fake its tests; nothing where of none."""
    own = [row for row in rows if row.command and row.unit_tests]
    if not own:
        return ()
    languages = ", ".join(sorted({row.language for row in own}))
    return (
        f"The tests of {len(own)} of {len(rows)} rows ({languages}) run in the process of the "
        "answer: one that ends it with exit code 0 passes. Python's run apart.",
    )


def python_tests(tests: str, file: str) -> str:
    """Return tests as a program that fails where they do: functions and classes of tests are
    called, and imports of the file become its names."""
    module = file.removesuffix(".py").replace("/", ".")
    tree = ast.parse(tests)
    body = list[ast.stmt]()
    for node in tree.body:
        body += _own_names(node, module)
    functions = [it for it in body if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef)]
    called = {it.id for it in _at_once(body) if isinstance(it, ast.Name)}
    calls = [f"{it.name}()" for it in functions if _is_test(it) and it.name not in called]
    cases = [it.name for it in body if isinstance(it, ast.ClassDef) and _is_test_case(it)]
    if cases:
        calls.append(_RUN_CASES.format(cases=", ".join(cases)))
    return ast.unparse(ast.Module(body=body, type_ignores=[])) + "\n" + "\n".join(calls)


_RUN_CASES = """import unittest as _unittest
_result = _unittest.TestResult()
for _case in ({cases},):
    _unittest.defaultTestLoader.loadTestsFromTestCase(_case).run(_result)
assert _result.testsRun and _result.wasSuccessful(), (_result.failures + _result.errors)[:1]"""


def _own_names(node: ast.stmt, module: str) -> Iterator[ast.stmt]:
    """Yield what stands for an import of the file: an assignment of each name."""
    if isinstance(node, ast.ImportFrom) and node.module == module:
        for it in node.names:
            if it.asname and it.asname != it.name:
                yield from ast.parse(f"{it.asname} = {it.name}").body
    elif isinstance(node, ast.Import) and [it.name for it in node.names] == [module]:
        raise ValueError(f"must import names of the file, as from {module} import …")
    elif isinstance(node, ast.If) and _is_main(node):
        return
    else:
        yield node


def _is_main(node: ast.If) -> bool:
    return any(isinstance(it, ast.Name) and it.id == "__name__" for it in ast.walk(node.test))


def _at_once(body: Collection[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what is executed when the tests are."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in body:
        if not isinstance(node, defined):
            yield from ast.walk(node)


def _is_test(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = node.args
    needs = len(arguments.args) + len(arguments.posonlyargs) - len(arguments.defaults)
    return node.name.startswith("test") and needs == 0 and isinstance(node, ast.FunctionDef)


def _is_test_case(node: ast.ClassDef) -> bool:
    return any("TestCase" in ast.unparse(base) for base in node.bases)


def names_in(tree: ast.Module) -> set[str]:
    """Return the names that a file defines."""
    names = set[str]()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names |= {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}
    return names
