"""Has what a person needs to write a benchmark: a first one that works, and a page for a model."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path

from swarm_bench.core import entry_points
from swarm_bench.core.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_EXAMPLE = "my-benchmark"
"""The name of the one that is copied; its module and its class are called after it."""
_IDEA = "Replace this line by what is to be measured, with two or three rows of your data."


def create_benchmark(name: str, folder: Path) -> str:
    """Write a benchmark with three rows and a test into a folder, and say what to do next. Raises
    `UsageError`."""
    module = _name_module(name)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"A benchmark cannot be called {name!r}: write small letters and digits, words joined "
            "by hyphens, as in my-benchmark"
        )
    if (conflict := _find_conflict(name)) is not None:
        raise UsageError(f"A benchmark cannot be called {name!r}: {conflict}; give another name")
    texts = {
        folder / _rename(file.name, name): _rename(file.read_text(), name)
        for file in _list_example_files()
    }
    if existing := [path for path in texts if path.exists()]:
        raise UsageError(f"{existing[0]} is there already; give another name, or remove it")
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    listing = "\n".join(f"  {path.name}" for path in sorted(texts))
    return (
        f"Written:\n{listing}\n\nNext:\n"
        f"  python -m pip install pytest\n"
        f"  python -m pytest test_{module}.py\n"
        f"  swarm-bench run {module}:{_name_class(name)} --models reference copy empty\n\n"
        "Then change the rows, the prompt and the score, and PROMPTS of the test, which names the\n"
        "new hash; see 'swarm-bench docs benchmarks'.\n"
    )


def _find_conflict(name: str) -> str | None:
    """Say what has the name already, or that of its module or its class."""
    module, class_name = _name_module(name), _name_class(name)
    if iskeyword(module) or iskeyword(class_name):
        return "that is a word of Python"
    if entry_points.is_registered("benchmarks", name):
        return "there is one already"
    if find_spec(module) is not None:
        return f"the module {module} of Python or of a package could not be imported any more"
    if any(re.search(rf"\b{class_name}\b", file.read_text()) for file in _list_example_files()):
        return f"its module uses a class {class_name}"
    return None


def read_prompt() -> str:
    """Return what a model has to know to write a benchmark, with a gap for the idea."""
    example = next(
        file for file in _list_example_files() if file.name == f"{_name_module(_EXAMPLE)}.py"
    )
    text = (files(__package__) / "prompt.md").read_text(encoding="utf-8")
    return text.replace("{example}", example.read_text().strip()).replace("{idea}", _IDEA)


def _list_example_files() -> list[Traversable]:
    folder = files(__package__) / "example"
    return [file for file in folder.iterdir() if file.name.endswith((".py", ".jsonl"))]


def _rename(text: str, name: str) -> str:
    """Put a name in the place of that of the example, in each of its forms."""
    for form in (str, _name_module, _name_class):
        text = text.replace(form(_EXAMPLE), form(name))
    return text


def _name_module(name: str) -> str:
    return name.replace("-", "_")


def _name_class(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))
