"""Finds a plugin by kind and name: an entry point, or `module:attribute` for one of your own."""

import sys
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from swarm_bench.core.errors import (
    ConfigError,
    SwarmBenchError,
    UnknownName,
    UsageError,
    described,
    where_raised,
)


@cache
def own_version() -> str:
    """Return the version of swarm-bench; to know it, a file is read."""
    return version("swarm-bench")


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """One named implementation and the distribution it came with."""

    name: str
    distribution: str


def list_plugins(kind: str) -> list[Plugin]:
    """List the entry points of the group `swarm_bench.<kind>` by name; nothing is imported."""
    return [
        Plugin(
            name=point.name,
            distribution=point.dist.name if point.dist else "unknown",
        )
        for point in sorted(_find_points(kind).values(), key=lambda point: point.name)
    ]


def load(kind: str, name: str) -> Any:
    """Load the object that `name` stands for.

    Raises `UnknownName` when there is none, `ConfigError` when it cannot be imported.
    """
    if ":" in name:
        if not names_code(name):
            raise ConfigError(
                f"{name!r} cannot be loaded as one of the {kind}: it is no module:attribute; check "
                "the spelling"
            )
        _make_findable(kind, name)
        return _import(kind, name)
    points = _find_points(kind)
    if name not in points:
        raise UnknownName(kind.removesuffix("s"), name, points)
    return _import(kind, points[name].value)


def make(kind: str, word: str) -> Any:
    """Make what a word stands for: a class that is registered, `NAME`, which may be made with what
    stands behind a colon, `NAME:ARGUMENT`; or a class of the user's own, `module:Class`.

    Raises as `load` does, and `UsageError` where an argument is missing or not taken.
    """
    name, colon, argument = word.partition(":")
    is_path = is_class(kind, word)
    factory, arguments = (
        load(kind, word if is_path else name),
        () if is_path or not colon else (argument,),
    )
    try:
        signature(factory).bind(*arguments)
    except TypeError:
        advice = f"write {name}" if arguments else f"write {word}:ARGUMENT"
        takes = "takes nothing behind a colon" if arguments else "needs an argument behind a colon"
        subject = f"{word}: {name}" if arguments else name
        raise UsageError(f"{subject} {takes}; {advice}") from None
    return factory(*arguments)


def names_code(word: str) -> bool:
    """Tell whether a word is `module:attribute`, which `load` imports."""
    module, colon, attribute = word.partition(":")
    parts = [*module.split("."), *attribute.split(".")]
    return bool(colon) and all(part.isidentifier() for part in parts)


def is_class(kind: str, word: str) -> bool:
    """Tell whether a word is `module:Class`, and does not begin with a registered name."""
    name, colon, _ = word.partition(":")
    return bool(colon) and not is_registered(kind, name)


def is_registered(kind: str, name: str) -> bool:
    """Tell whether a package registers the name; nothing is imported."""
    return name in _find_points(kind)


def _make_findable(kind: str, name: str) -> None:
    """Let a module of the user's own be found in the working folder. What is installed is not
    looked for there, nor what that may import besides. Raises `ConfigError` for one that is in both
    places: it would be ambiguous."""
    folder, package = Path.cwd(), name.partition(":")[0].partition(".")[0]
    if package in sys.modules:
        return
    spec = None
    with suppress(ValueError):  # what runs as a script has no spec
        spec = find_spec(package)
    if spec is None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    elif spec and spec.origin:
        candidates = (folder / package / "__init__.py", folder / f"{package}.py")
        local = next(filter(Path.is_file, candidates), None)
        if local and local.resolve() != Path(spec.origin).resolve():
            raise ConfigError(
                f"{name!r} cannot be loaded as one of the {kind}: {package} is a file of this "
                f"folder, and installed too ({spec.origin}); rename the one, or uninstall the other"
            )


def _find_points(kind: str) -> dict[str, EntryPoint]:
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"swarm_bench.{kind}"):
        existing = points.setdefault(point.name, point)
        if existing.value != point.value:
            raise ConfigError(
                f"Two {kind} are called {point.name!r} ({existing.value} and {point.value}); "
                "uninstall one of their packages"
            )
    return points


def _import(kind: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except SwarmBenchError:
        raise
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything
        close = get_close_matches(module, _find_points(kind), n=1)
        spelling = "check the spelling and that its package is installed"
        advice = f"did you mean {close[0]!r}?" if close else spelling
        raise ConfigError(
            f"{target!r} cannot be loaded as one of the {kind}: {described(error)}; "
            f"{'fix it' if where_raised(error) else advice}"
        ) from error
