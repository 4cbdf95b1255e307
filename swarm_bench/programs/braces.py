"""Braces of globs, written out: `*.{ts,tsx}` is `*.ts` and `*.tsx`.

The rest of a glob is each program's own: in canopy's queries `*` also matches `/`; for scout's
tools, as for ripgrep, it does not, and a glob without `/` is looked for at any depth.
"""

import re

_INNERMOST = re.compile(r"\{([^{}]*)\}")


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
