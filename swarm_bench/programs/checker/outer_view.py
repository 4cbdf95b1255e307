"""What a program sees around it: what it would see if an interpreter ran it alone."""

import __future__

import builtins
import gc
import site
import sys
from types import CodeType, ModuleType
from typing import Any

FILE = "<answer>"
_FUTURE = __future__.annotations.compiler_flag | __future__.barry_as_FLUFL.compiler_flag
"""Flags that change how newer code is read."""


class ProgramNamespace:
    """A module of its own in which code is executed, piece by piece."""

    def __init__(self, name: str) -> None:
        """Register the module. A program that is to run as a whole has the name `__main__`."""
        site.setquit()  # as the interpreter does itself, but for -S
        site.setcopyright()
        site.sethelper()
        self._module = ModuleType(name)
        self._flags = 0
        self.names: dict[str, Any] = self._module.__dict__
        self.names.update(__builtins__=builtins, __file__=FILE)
        sys.modules[name] = self._module

    def compile(self, code: str) -> CodeType:
        """Compile a piece. An earlier one may have said `from __future__`, as if it stood above."""
        source = code.removeprefix("\ufeff")  # as of any file
        result: CodeType = compile(source, FILE, "exec", self._flags, dont_inherit=True)
        self._flags |= result.co_flags & _FUTURE
        return result

    def execute(self, code: str) -> None:
        """Compile and execute a piece."""
        exec(self.compile(code), self.names)

    def enter(self, code: str) -> None:
        """Take the place of the main program, with its code for programs that read it back."""
        sys.modules["__main__"] = self._module
        sys.argv[:] = [FILE]
        if "inspect" in code or "linecache" in code:
            import linecache

            linecache.cache[FILE] = len(code), None, code.splitlines(keepends=True), FILE
        sys.setrecursionlimit(sys.getrecursionlimit() + _depth())

    def leave(self, code: str) -> None:
        """Let go of the module. Where objects may have last words, they have them as at the end of
        an interpreter, while the names are still there; that takes as long as all else."""
        if "__del__" not in code and "yield" not in code:
            self.names.clear()  # files are closed
            return
        self.names = {}
        sys.modules.pop(self._module.__name__, None)
        sys.modules.pop("__main__", None)
        self._module = ModuleType("")
        gc.unfreeze()
        gc.collect()


def _depth() -> int:
    """Count the frames that are ours."""
    depth, frame = 0, sys._getframe()
    while frame.f_back:
        depth, frame = depth + 1, frame.f_back
    return depth
