"""Tasks that ask which functions call those that call another one: one grep does not tell. What is
called under a name has to be surely one definition, and no other."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import PurePosixPath
from random import Random

from swarm_bench.core.ports import Tree
from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.making.code import (
    Code,
    code_of,
    describe_kind,
    order_randomly,
    parts_of,
    strip_ending,
)
from swarm_bench.datasets.making.made import (
    GeneratedTasks,
    Looked,
    UnsuitableCandidate,
    generate_tasks,
    ignore_progress,
    joined_id,
)
from swarm_bench.source.calls import Mention, Use, mentions
from swarm_bench.source.definitions import Definition, is_supported
from swarm_bench.source.files import UNDECLARED, Files, Purpose, may_be_test, purpose_of
from swarm_bench.text.languages import language_of

_MIN_CALLERS, _MAX_CALLERS = 2, 8
"""Functions of a key. Those that call directly are as many at most."""
_MOST_MENTIONS = 200
"""Most mentions of a name in a file: each of them takes a look at all that the file defines."""
_CALLING = ("function", "method")
_NOT_COUNTED = (Purpose.TEST, Purpose.DOCUMENTATION)


def make_callers(
    tree: Tree, count: int, seed: int, files: Files = UNDECLARED, looked: Looked = ignore_progress
) -> GeneratedTasks:
    """Make tasks of the functions and methods of a tree of which every call can be attributed."""
    code = code_of(tree, files)
    candidates = (definition for definition in code.candidates() if definition.kind in _CALLING)
    ordered = order_randomly(candidates, Random(f"{seed}/callers"))
    return generate_tasks(ordered, count, partial(_task, code), looked)


def _over_two_steps(code: Code, target: Definition) -> list[Definition]:
    """List the functions that call one that calls it, and do not call it themselves, in their
    order. Raises `UnsuitableCandidate`."""
    direct = find_callers(code, target)
    further = {
        at: definition
        for caller in direct.values()
        for at, definition in find_callers(code, caller).items()
    }
    callers = [further[at] for at in sorted(further.keys() - direct.keys() - {_key_of(target)})]
    if not _MIN_CALLERS <= len(callers) <= _MAX_CALLERS:
        raise UnsuitableCandidate(
            f"fewer than {_MIN_CALLERS} functions two calls away, or more than {_MAX_CALLERS}"
        )
    if len({definition.symbol for definition in callers}) < len(callers):
        raise UnsuitableCandidate("callers of the same name in one file")
    return callers


def find_callers(code: Code, target: Definition) -> dict[tuple[str, int], Definition]:
    """Return the functions that call it, by where they are. Raises `UnsuitableCandidate`."""
    if not code.is_only(target):
        raise UnsuitableCandidate("name defined or assigned elsewhere too")
    callers = {_key_of(definition): definition for definition in _calling(code, target)}
    if len(callers) > _MAX_CALLERS:
        raise UnsuitableCandidate(f"more than {_MAX_CALLERS} callers")
    return callers


def _key_of(definition: Definition) -> tuple[str, int]:
    return definition.path, definition.name_at


def _calling(code: Code, target: Definition) -> Iterator[Definition]:
    attribution = Attribution(code=code, target=target)
    for path in code.mentions[target.own_name.encode()]:
        if may_be_test(path):
            raise UnsuitableCandidate("name in a file that may be a test or not")
        for mention in _mentions(code, path, target.own_name):
            if mention.in_test or mention.use in (Use.TEXT, Use.DEFINITION):
                continue
            if mention.use is Use.VALUE:
                raise UnsuitableCandidate("used otherwise than in calls")
            caller = _find_enclosing(code, path, mention.at)
            if not attribution.is_of_target(path, mention, caller):
                raise UnsuitableCandidate("call or import that cannot be resolved")
            if mention.use is Use.CALL:
                yield _name_caller(target, caller)


def _mentions(code: Code, path: str, name: str) -> tuple[Mention, ...]:
    if purpose_of(path) in _NOT_COUNTED:
        return ()
    if not is_supported(path):
        raise UnsuitableCandidate("name in a file that cannot be parsed")
    found_mentions = mentions(path, code.texts[path], name)
    if len(found_mentions) > _MOST_MENTIONS:
        raise UnsuitableCandidate(f"name more than {_MOST_MENTIONS} times in a file")
    return found_mentions


def _find_enclosing(code: Code, path: str, at: int) -> Definition | None:
    """Return the innermost function with a name around an offset."""
    enclosing = [
        definition
        for definition in code.definitions(path)
        if definition.kind in _CALLING and definition.name_at < at < definition.span[1]
    ]
    return enclosing[-1] if enclosing else None


def _name_caller(target: Definition, caller: Definition | None) -> Definition:
    """Return the caller, when people would name it so. Raises `UnsuitableCandidate`."""
    if caller is None:
        raise UnsuitableCandidate("called outside of functions")
    if caller == target:
        raise UnsuitableCandidate("calls itself")
    if caller.is_local:
        raise UnsuitableCandidate("called in a function within a function")
    return caller


def _task(code: Code, definition: Definition) -> Task:
    callers, name = _over_two_steps(code, definition), describe_kind(definition)
    return Task(
        id=joined_id("callers", *parts_of(definition)),
        title=f"Callers of the callers of {name}",
        prompt=(
            f"The {definition.kind} `{name}` is to take another argument, which the functions that "
            "call it cannot know and have to take as well. Which functions and methods call one of "
            "those, and have to change too? Name each with the path of its file, and leave out "
            f"those that call `{name}` themselves."
        ),
        keywords=definition.name.replace(".", " "),
        key=AnswerKey(
            files=tuple(sorted({caller.path for caller in callers})),
            symbols=tuple(caller.symbol for caller in callers),
        ),
        tags=("callers", language_of(definition.path) or ""),
    )


_SELVES = ("self", "cls", "this", "Self", "super()")
_ECMA = ("javascript", "typescript")
_BASES = re.compile(r"class\s+\w+\s*(?:\(([^)]*)\)|(?:<[^{]*>)?\s+extends\s+([\w.$]+))")
_STANDARD = ("std", "core", "alloc")
_MODULE = re.compile(rb"^module\s+(\S+)", re.MULTILINE)
_CRATE = re.compile(rb'^name\s*=\s*"([\w-]+)"', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """What is known of the repository that has one definition of a name."""

    code: Code
    target: Definition

    def is_of_target(self, path: str, mention: Mention, caller: Definition | None) -> bool:
        """Tell whether a call or an import in a file surely means the definition. It is the only
        one of its name in the repository."""
        languages = {language_of(path) or "", self._language}
        if len(languages) > 1 and not languages <= set(_ECMA):
            return False
        if mention.use is not Use.CALL:
            return self._imports(path, mention)
        if self.target.parent_name:
            return caller is not None and self._is_method_of(path, mention.origin, caller)
        return self._is_function(path, mention.origin)

    @property
    def _language(self) -> str:
        return language_of(self.target.path) or ""

    def _imports(self, path: str, mention: Mention) -> bool:
        if mention.use is Use.DEFAULT_IMPORT:
            return self._resolve(path, mention.origin) == self._module
        return self._is_local(path, mention.origin)

    def _is_local(self, path: str, origin: str) -> bool:
        """Tell whether a module is one of the repository."""
        if self._language == "python":
            return origin.startswith(".") or self._is_package(origin.split("."))
        if self._language == "rust":
            first = origin.partition("::")[0]
            return first in ("crate", "self", "super") or first in self._crates
        return self._language in _ECMA and self._resolve(path, origin) is not None

    def _is_package(self, dotted: list[str]) -> bool:
        """Tell whether an absolute module of Python is in the package of the definition."""
        parts = PurePosixPath(self.target.path).with_suffix("").parts
        starts = [at for at, part in enumerate(parts) if part == dotted[0]]
        return any("/".join([*parts[:at], "__init__.py"]) not in self.code.texts for at in starts)

    def _is_method_of(self, path: str, origin: str, caller: Definition) -> bool:
        owner = self.target.parent_name
        if self._language == "go":
            if self.target.own_name[0].islower() and origin:
                return self._folder(path) == self._folder(self.target.path)
            return caller.parent_name == owner and origin == self._receiver(path, caller)
        if path == self.target.path and origin == owner:
            return True
        if origin in _SELVES and caller.parent_name:
            return owner in self._line(path, caller.parent_name)
        return False

    def _is_function(self, path: str, origin: str) -> bool:
        if self._language == "go":
            if not origin:
                return self._folder(path) == self._folder(self.target.path)
            return self._go_import(path, origin)
        if not origin:
            return path == self.target.path or self._is_imported(path)
        if self._language == "python":
            return self._is_python_module(path, origin)
        if self._language == "rust":
            is_module = origin.rpartition("::")[2] == self._module.rpartition("/")[2]
            is_foreign = origin.partition("::")[0] in _STANDARD
            return self._is_local(path, origin) or (is_module and not is_foreign)
        return self._is_namespace(path, origin)

    def _is_imported(self, path: str) -> bool:
        """Tell whether a file imports the name itself, or in Rust all of a module."""
        uses = mentions(path, self.code.texts[path], self.target.own_name)
        if any(import_use.use in (Use.IMPORT, Use.DEFAULT_IMPORT) for import_use in uses):
            return True
        glob_import = rb"use\s+(?:crate|super|self)\b[\w:]*::(?:\*|\{[^}*]{0,2000}\*)"
        return (
            self._language == "rust" and re.search(glob_import, self.code.texts[path]) is not None
        )

    def _is_python_module(self, path: str, origin: str) -> bool:
        if origin.rpartition(".")[2] != self._module.rpartition("/")[2]:
            return False
        text = self.code.texts[path].decode("utf-8", "replace")
        name = re.escape(origin)
        pattern = rf"^[ \t]*from[ \t]+(\S+)[ \t]+import\b[^#\n]*?\b{name}\b(?! as)"
        imports = re.findall(pattern, text, re.M)
        if re.search(rf"^[ \t]*import[ \t]+{name}[ \t]*$", text, re.M):
            imports.append(origin)
        return len(imports) == 1 and self._is_local(path, imports[0])

    def _is_namespace(self, path: str, origin: str) -> bool:
        """Tell whether a file imports a module of the repository under the name."""
        text = self.code.texts[path].decode("utf-8", "replace")
        name = re.escape(origin)
        match = re.search(rf"import\s+\*\s+as\s+{name}\s+from\s+['\"]([^'\"]+)['\"]", text)
        if match:
            return self._resolve(path, match[1]) is not None
        required = re.search(rf"\b{name}\s*=\s*require\(\s*['\"]([^'\"]+)['\"]\s*\)(?!\.)", text)
        return required is not None and self._resolve(path, required[1]) == self._module

    def _go_import(self, path: str, origin: str) -> bool:
        text = self.code.texts[path]
        module = next(iter(self._modules), "")
        folder = self._folder(self.target.path)
        package = f"{module}/{folder}" if folder else module
        pattern = rb'(?:(\w+)[ \t]+)?"' + re.escape(package.encode()) + b'"'
        match = re.search(pattern, text)
        if not module or match is None:
            return False
        return origin == (match[1] or package.rpartition("/")[2].encode()).decode()

    def _receiver(self, path: str, caller: Definition) -> str:
        head = self.code.texts[path][caller.span[0] : caller.name_at]
        match = re.search(rb"\(\s*(\w+)", head)
        return match[1].decode() if match else ""

    def _line(self, path: str, owner: str) -> set[str]:
        """Return a class with all that it inherits from, as far as those names are unique."""
        line, queue = set[str](), [owner]
        while queue:
            name = queue.pop()
            if name not in line:
                line.add(name)
                queue += self._bases(path, name)
        return line

    def _bases(self, path: str, name: str) -> Iterator[str]:
        classes = self.code.classes.get(name, [])
        candidates = [definition for definition in classes if definition.path == path] or classes
        if len(candidates) != 1:
            return
        start, end = candidates[0].name_at, candidates[0].span[1]
        head = b"class " + self.code.texts[candidates[0].path][start : min(end, start + 500)]
        match = _BASES.match(head.decode("utf-8", "replace"))
        for base in re.findall(r"[\w.$]+", (match[1] or match[2] or "") if match else ""):
            yield base.rpartition(".")[2]

    def _resolve(self, path: str, origin: str) -> str | None:
        """Return a relative module of JavaScript without its ending, when it is there."""
        if not origin.startswith("."):
            return None
        module = strip_ending(posixpath.normpath(posixpath.join(self._folder(path), origin)))
        return next((m for m in (module, f"{module}/index") if m in self.code.modules), None)

    @property
    def _module(self) -> str:
        """The path of the definition's module, without its ending."""
        module = strip_ending(self.target.path)
        folder, _, name = module.rpartition("/")
        return folder if name in ("__init__", "mod") else module

    @cached_property
    def _modules(self) -> list[str]:
        text = self.code.texts.get("go.mod", b"")
        return [match.decode() for match in _MODULE.findall(text)]

    @cached_property
    def _crates(self) -> set[str]:
        files = (p for p in self.code.texts if PurePosixPath(p).name == "Cargo.toml")
        names = (name for path in files for name in _CRATE.findall(self.code.texts[path]))
        return {name.decode().replace("-", "_") for name in names}

    def _folder(self, path: str) -> str:
        return path.rpartition("/")[0]
