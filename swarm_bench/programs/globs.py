"""Globs as canopy reads them: `**`, `*`, `?`, `[a-z]` and `{a,b}`, over whole relative paths.

`*` also matches `/`, as it does in canopy's queries. Braces and `**/` are written out into
plain globs, and `fnmatch` translates those: its patterns cannot be made to backtrack without
end, which matters because globs come from agents.
"""

import fnmatch
import re
from functools import lru_cache

from swarm_bench.programs.canopy.errors import ToolError

MAX_LENGTH = 1_000
MAX_ALTERNATIVES = 256
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")
"""A set of characters; a bracket that comes first in it is one of them."""
_INNERMOST = re.compile(r"\{([^{}]*)\}")


@lru_cache(maxsize=256)
def compile_glob(glob: str) -> re.Pattern[str]:
    """Compile a pattern for `match` on a relative path.

    Raises:
        ToolError: the glob is too long, has too many alternatives, an open brace or bracket.
    """
    if len(glob) > MAX_LENGTH:
        raise ToolError(f"The glob is longer than {MAX_LENGTH} characters; give a shorter one")
    try:
        plain = _plain(glob.removeprefix("./"))
    except ValueError as error:
        raise ToolError(f"The glob {glob!r} {error}") from None
    return re.compile("|".join(map(fnmatch.translate, plain)))


def _plain(glob: str) -> list[str]:
    """Write out braces, and then `**/` as nothing and as `*/`. Raises `ValueError` with a clause
    for a glob that cannot be read."""
    plain: list[str] = []
    for pattern in alternatives(glob, MAX_ALTERNATIVES):
        if "{" in pattern:
            raise ValueError("has an open brace; close it")
        if "[" in _CLASS.sub("", pattern):
            raise ValueError("has an open bracket; close it")
        limit = MAX_ALTERNATIVES - len(plain)
        plain += alternatives(pattern.replace("**/", "{,*/}"), limit)
    return plain


def alternatives(glob: str, limit: int) -> list[str]:
    """Return the globs that one with braces stands for; a brace that is not closed stays.

    Raises:
        ValueError: there are more than `limit`; a clause that follows the glob.
    """
    globs = [glob]
    while any(map(_INNERMOST.search, globs)):
        globs = list(
            dict.fromkeys(simpler for pattern in globs for simpler in _expand_first(pattern))
        )
        if len(globs) > limit:
            raise ValueError("stands for too many others; give a simpler one")
    return globs


def _expand_first(glob: str) -> list[str]:
    """Write out the first of the innermost braces, if there is one."""
    braces = _INNERMOST.search(glob)
    if braces is None:
        return [glob]
    before, after = glob[: braces.start()], glob[braces.end() :]
    return [before + choice + after for choice in braces[1].split(",")]
