"""Which version of a server's program is installed, by the metadata of its package. Nothing is
started: many servers report the version of the SDK they are built with as their own."""

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import Distribution, distributions
from pathlib import Path

from swarm_bench.retrieval.reach.program_names import is_launcher, list_launched_packages

_PYTHON = re.compile(r"python(\d+(\.\d+)?)?")
_LAUNCHERS_OF_PYTHON = ("uv", "uvx", "pipx")
_SDKS = ("mcp", "fastmcp")
"""Those of Python, with which a server says their version unless it gives one of its own."""
_INTERPRETERS = ("node", "bun", "deno")
_PINNED = re.compile(r"(?:(?:@[^/@]+/)?[^/@=]+@(\d+\.\d+\.\d+[\w.+-]*)|[^/@=<>~!]+==(\d[\w.+!-]*))")
"""One version of a package, as npm or pip write it; `name@1.2` of npm is any 1.2."""
_FIRST_LINE = 256
"""Bytes of a script in which its interpreter stands."""


def find_package_version(command: str, args: Sequence[str], path: str | None) -> str | None:
    """Find the version of the package that a command line starts, looked up in `path`; `None` when
    it is unknown. Of a launcher such as npx it is the version that it is to run."""
    program = shutil.which(command, path=path)
    if program is None:
        return None
    file = Path(program)
    if _PYTHON.fullmatch(file.name):
        return _find_by_module(file, args)
    if file.name in _INTERPRETERS and (scripts := list(_find_files(args))):
        return _read_npm(scripts[0])
    if file.name in _INTERPRETERS or is_launcher(file.name):
        return _find_pinned(list_launched_packages(file.name, args))
    return _read_npm(file) or _find_by_script(file)


def may_be_of_sdk(version: str, command: str, args: Sequence[str], path: str | None) -> bool:
    """Tell whether the version that a server says of itself may be that of the SDK it is built
    with: where it runs there is one of that version, or nobody can look."""
    program = shutil.which(command, path=path)
    if program is None:
        return False
    file = Path(program)
    if file.name in _LAUNCHERS_OF_PYTHON:
        return True
    is_python = _PYTHON.fullmatch(file.name)
    homes = [file.absolute().parent.parent] if is_python else _list_homes(file.resolve())
    return any(
        distribution.name in _SDKS and distribution.version == version
        for distribution in _find_distributions(homes)
    )


def _find_files(args: Sequence[str]) -> Iterator[Path]:
    """Yield the arguments that are files."""
    yield from (Path(word) for word in args if not word.startswith("-") and Path(word).is_file())


def _find_pinned(packages: Sequence[str]) -> str | None:
    """Return the version that a package is pinned to, if there is only one package."""
    match = _PINNED.fullmatch(packages[0]) if len(packages) == 1 else None
    return match and (match[1] or match[2])


def _read_npm(file: Path) -> str | None:
    """Read the `package.json` above the file that a link in `.bin` leads to."""
    script = file.resolve()
    if "node_modules" not in script.parts:
        return None
    for folder in script.parents:
        if folder.name == "node_modules":
            return None
        content = _read_json(folder / "package.json")
        if isinstance(content.get("name"), str) and isinstance(content.get("version"), str):
            return str(content["version"])
    return None


def _read_json(file: Path) -> dict[str, object]:
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(file.read_text(encoding="utf-8"))
        return content if isinstance(content, dict) else {}
    return {}


def _find_by_script(file: Path) -> str | None:
    """Find the distribution that has a script of that name, where the script's Python looks."""
    script = file.resolve()
    for dist in _find_distributions(_list_homes(script)):
        names = (entry.name for entry in dist.entry_points if entry.group == "console_scripts")
        if script.name in names:
            return dist.version
    return None


def _list_homes(script: Path) -> list[Path]:
    """List folders with a `lib` of Python: of the script's interpreter, and around the script."""
    homes = [script.parent.parent]
    with suppress(OSError), script.open("rb") as file:
        first = file.read(_FIRST_LINE).split(b"\n")[0].decode(errors="replace")
        if first.startswith("#!/") and _PYTHON.fullmatch(Path(first[2:].split()[0]).name):
            homes.insert(0, Path(first[2:].split()[0]).parent.parent)
    return homes


def _find_by_module(python: Path, args: Sequence[str]) -> str | None:
    """Find the distribution that has the module of `python -m module`."""
    arguments = list(args)
    if "-m" not in arguments[:-1]:
        return None
    module = arguments[arguments.index("-m") + 1].split(".")[0]
    for dist in _find_distributions([python.absolute().parent.parent]):
        top = (dist.read_text("top_level.txt") or "").split()
        files = dist.files or ()
        if module in top or any(file.parts[:1] in ((module,), (f"{module}.py",)) for file in files):
            return dist.version
    return None


def _find_distributions(homes: Iterable[Path]) -> Iterable[Distribution]:
    folders = [
        str(folder) for home in homes for folder in sorted(home.glob("lib/python3*/site-packages"))
    ]
    return distributions(path=folders) if folders else ()
