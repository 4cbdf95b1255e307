import time

import pytest

from swarm_bench.programs.canopy.defaults import DEFAULT_GLOB
from swarm_bench.programs.canopy.errors import ToolError
from swarm_bench.programs.globs import compile_glob


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        (DEFAULT_GLOB, "main.rs", True),
        (DEFAULT_GLOB, "a/b/c.yaml", True),
        (DEFAULT_GLOB, "a/b/c.png", False),
        (DEFAULT_GLOB, "a/b/c.java", True),
        ("src/**", "src/a/b.py", True),
        ("src/**/*.py", "src/b.py", True),
        ("src/*.py", "src/a/b.py", True),
        ("./src/*.py", "src/b.py", True),
        ("*.{py,t{s,sx}}", "a.tsx", True),
        ("[ab].py", "b.py", True),
        ("a?.py", "a.py", False),
        ("a(b.py", "a(b.py", True),
    ],
)
def test_globs_fit_whole_paths(glob: str, path: str, *, fits: bool) -> None:
    assert (compile_glob(glob).match(path) is not None) is fits


@pytest.mark.parametrize("glob", ["{a,b", "[ab.py", "x" * 2000, "{a,b}" * 20])
def test_a_glob_that_cannot_be_read_is_refused(glob: str) -> None:
    with pytest.raises(ToolError):
        compile_glob(glob)


def test_a_hostile_glob_takes_no_time() -> None:
    started = time.monotonic()
    assert compile_glob("*a" * 40 + "b").match("a" * 300) is None
    assert time.monotonic() - started < 1
