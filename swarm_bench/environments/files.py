"""Runs a command beside several files, in any environment: they go in by its standard input, and
come back by its standard output."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex

from pydantic import TypeAdapter, ValidationError

from swarm_bench.core.errors import EnvironmentFailed
from swarm_bench.core.roles.execution import PYTHON, Code, Environment, Execution

_LONGEST_REASON = 200
_LONGEST_NAME = 255
"""Bytes, of files and folders."""
_REPORT_BYTES = 1 << 20
_UNPACK = """
import json, os, subprocess, sys
number = sys.stdin.readline().strip()
try:
    job = json.load(sys.stdin)
    for name, text in job["files"].items():
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
            file.write(text)
except (MemoryError, OSError) as error:
    why = getattr(error, "strerror", None) or "no memory"
    sys.exit(f"{number}cannot hold the files of the case ({why}); use another --environment")
# A repository in which the folder lies is none of theirs: git would change nothing, and say so.
os.environ["GIT_CEILING_DIRECTORIES"] = os.path.dirname(os.getcwd())
argv = [sys.executable if it == job["python"] else it for it in job["argv"]]
try:
    if job["back"] is None:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execvp(argv[0], argv)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True)
except OSError as error:
    way_out = "install it there, or use another --environment"
    sys.exit(f"{number}cannot start {argv[0]} ({error.strerror}); {way_out}")
files = {}
for name in filter(os.path.exists, job["back"]):
    with open(name, encoding="utf-8", errors="replace", newline="") as file:
        files[name] = file.read()
reason = done.stderr.decode(errors="replace")
print(json.dumps({"returncode": done.returncode, "reason": reason, "files": files}))
"""
"""Script for a command whose files come back, which is one of ours: untrusted code could write the
report."""


@dataclass(frozen=True, kw_only=True)
class Changed:
    """How a command ended that changes files, and what they are then."""

    returncode: int
    reason: str
    """Text that the command wrote to its standard error."""
    files: Mapping[str, str]
    """Files that are still there."""


_CHANGED = TypeAdapter(Changed)


def is_inside(name: str) -> bool:
    """Tell whether a path names a file that can be below the folder that it is written to."""
    parts = name.split("/")
    if "\0" in name or {"", ".", ".."} & {*parts}:
        return False
    return is_text(name) and max(len(part.encode()) for part in parts) <= _LONGEST_NAME


def is_text(text: str) -> bool:
    """Tell whether a text has whole characters only, so that a file can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


async def run_beside(
    environment: Environment, files: Mapping[str, str], argv: Sequence[str], timeout: float
) -> Execution:
    """Run a command in a folder with these files, by their paths, within `timeout` seconds of
    processor time. Raises `EnvironmentFailed`, also where it cannot hold them or has no such
    program."""
    return await _run(environment, files, argv, timeout)


async def change(
    environment: Environment, files: Mapping[str, str], argv: Sequence[str], back: Sequence[str]
) -> Changed | None:
    """Have a program that is trusted change files, and return those named in `back`; `None` where a
    limit ended it. Raises `EnvironmentFailed`."""
    execution = await _run(environment, files, argv, 10.0, back)
    if execution.stopped is not None:
        return None
    try:
        return _CHANGED.validate_json(execution.stdout)
    except ValidationError as error:
        reason = execution.stderr.strip()[-_LONGEST_REASON:] or "its command ended without a word"
        raise EnvironmentFailed(f"The environment {environment.name} broke: {reason}") from error


async def _run(
    environment: Environment,
    files: Mapping[str, str],
    argv: Sequence[str],
    timeout: float,
    back: Sequence[str] | None = None,
) -> Execution:
    """Run a command. What it starts never has the number with which is said that nothing was
    started. Raises `EnvironmentFailed`, and `ValueError` for a file that would lie elsewhere."""
    if outside := [name for name in files if not is_inside(name)]:
        raise ValueError(f"{outside[0]!r} is no path of a file below the folder")
    number = token_hex(16)
    job = {"files": dict(files), "argv": list(argv), "back": back, "python": PYTHON}
    size = sum(len(text.encode(errors="surrogatepass")) for text in files.values())
    code = Code(
        argv=(PYTHON, "-I", "-S", "-c", _UNPACK),
        stdin=f"{number}\n{json.dumps(job)}",
        timeout=timeout,
        output_bytes=_REPORT_BYTES + 8 * size,
    )
    execution = await environment.run(code)
    if execution.stderr.startswith(number):
        reason = execution.stderr.removeprefix(number).strip()
        raise EnvironmentFailed(f"The environment {environment.name} {reason}")
    return execution
