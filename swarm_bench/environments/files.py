"""Runs a command beside several files, in any environment: they go in by its standard input, and
come back by its standard output."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from secrets import token_hex

from pydantic import TypeAdapter, ValidationError

from swarm_bench.core.errors import EnvironmentFailed
from swarm_bench.core.roles.execution import PYTHON, Code, Environment, Execution

_LONGEST_REASON = 200
_REPORT_BYTES = 1 << 20
_UNPACK = """
import json, os, subprocess, sys
job = json.load(sys.stdin)
for name, text in job["files"].items():
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
argv = [sys.executable if it == job["python"] else it for it in job["argv"]]
if job["back"] is None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.exit(job["number"] + str(error.strerror))
done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True)
files = {}
for name in job["back"]:
    with open(name, encoding="utf-8", errors="surrogateescape", newline="") as file:
        files[name] = file.read()
reason = done.stderr.decode(errors="replace")
print(json.dumps({"returncode": done.returncode, "reason": reason, "files": files}))
"""
"""A command whose files come back is one of ours: what nobody trusts could write the report."""


@dataclass(frozen=True, kw_only=True)
class Changed:
    """How a command ended that changes files, and what they are then."""

    returncode: int
    reason: str
    """What it wrote to its standard error."""
    files: Mapping[str, str]


_CHANGED = TypeAdapter(Changed)


def is_inside(name: str) -> bool:
    """Tell whether a path names a file below the folder that it is written to."""
    path = PurePosixPath(name)
    parts = name.split("/")
    return (
        bool(name)
        and "\0" not in name
        and not path.is_absolute()
        and not {"", ".", ".."} & {*parts}
    )


async def run_beside(
    environment: Environment, files: Mapping[str, str], argv: Sequence[str], timeout: float
) -> Execution:
    """Run a command in a folder with these files, by their paths, within `timeout` seconds of
    processor time. Raises `EnvironmentFailed`, also where it has no such program: what it would run
    never has the number with which that is said."""
    number = token_hex(16)
    execution = await environment.run(_code(files, argv, timeout, number=number))
    if execution.stderr.startswith(number):
        why = execution.stderr.removeprefix(number).strip()
        raise EnvironmentFailed(
            f"The environment {environment.name} cannot start {argv[0]} ({why}); install it there, "
            "or use another --environment"
        )
    return execution


async def change(
    environment: Environment, files: Mapping[str, str], argv: Sequence[str], back: Sequence[str]
) -> Changed | None:
    """Have a program that is trusted change files, and return those named in `back`; `None` where a
    limit ended it. Raises `EnvironmentFailed`."""
    execution = await environment.run(_code(files, argv, 10.0, back))
    if execution.stopped is not None:
        return None
    try:
        return _CHANGED.validate_json(execution.stdout)
    except ValidationError as error:
        why = execution.stderr.strip()[-_LONGEST_REASON:] or "its command ended without a word"
        raise EnvironmentFailed(f"The environment {environment.name} broke: {why}") from error


def _code(
    files: Mapping[str, str],
    argv: Sequence[str],
    timeout: float,
    back: Sequence[str] | None = None,
    number: str = "",
) -> Code:
    """Make the command. Raises `ValueError` for a file that would lie elsewhere."""
    if outside := [name for name in files if not is_inside(name)]:
        raise ValueError(f"{outside[0]!r} is no path of a file below the folder")
    form = {"argv": list(argv), "back": back, "python": PYTHON, "number": number}
    job = {"files": dict(files), **form}
    size = sum(len(text.encode(errors="surrogatepass")) for text in files.values())
    return Code(
        argv=(PYTHON, "-I", "-S", "-c", _UNPACK),
        stdin=json.dumps(job),
        timeout=timeout,
        output_bytes=_REPORT_BYTES + 8 * size,
    )
