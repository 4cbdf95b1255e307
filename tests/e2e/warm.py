"""The command in a process of its own, forked from one that has imported the program already.

Importing is most of what a short session costs, and the same every time. All else is as if the
command had been typed: working folder, environment, streams, signals, exit code.
"""

import multiprocessing
import os
import pkgutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TextIO, cast

import swarm_bench
from swarm_bench.cli.main import main

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(
    # What the program imports only where it computes, too.
    ["numpy.random", "scipy.special"]
    + [
        module.name
        for module in pkgutil.walk_packages(swarm_bench.__path__, "swarm_bench.")
        if not module.name.endswith("__main__")
    ]
)


def call(argv: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str, str]:
    """Run the command `argv` in `folder` to its end. Returns its exit code and what it wrote to
    standard output and standard error.

    Raises TimeoutError after 300 seconds."""
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name, "out"), Path(name, "err")
        process = SERVER.Process(target=_run, args=(argv, folder, environment, out, err))
        process.start()
        process.join(300)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"no end within 300 seconds: {argv}")
        return process.exitcode, out.read_bytes().decode(), err.read_bytes().decode()


def _run(argv: list[str], folder: Path, environment: dict[str, str], out: Path, err: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    tempfile.tempdir = None  # found by the old environment
    folders = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[1:1] = map(os.path.abspath, folders)  # behind the folder of the script
    for number, path in enumerate([Path(os.devnull), out, err]):
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    # As Python opens them where no language is set.
    sys.stdin = _text(0, "r", "surrogateescape")
    sys.stdout = _text(1, "w", "surrogateescape")
    sys.stderr = _text(2, "w", "backslashreplace")
    sys.argv = argv
    if environment.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    main()


def _text(number: int, mode: str, errors: str) -> TextIO:
    return cast(TextIO, open(number, mode, 1, "utf-8", errors, closefd=False))
