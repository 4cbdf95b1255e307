"""How what a copy omits is named: in a sentence for each kind, and path by path."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from swarm_bench.core.session.experiment import Repository

NAMED = 5
"""Names that a sentence has at most."""
LISTED = 1_000
"""Names that are stored at most."""


@dataclass(frozen=True, kw_only=True)
class Omissions:
    """What was not copied."""

    sentences: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Paths relative to the root, of all kinds that are named."""

    def __add__(self, other: "Omissions") -> "Omissions":
        return Omissions(
            sentences=(*self.sentences, *other.sentences),
            names=(*self.names, *other.names)[:LISTED],
        )


def omission(
    names: Sequence[bytes], what: str, how: str = "", *, was: str = "omitted"
) -> Omissions:
    """Describe the omission of files; `what` is one of them, `how` how to copy them anyway, `was`
    what became of them."""
    if not names:
        return Omissions()
    named = tuple(map(shown, names[:LISTED]))
    more = [f"and {len(names) - NAMED} more, see experiment.json"] if len(names) > NAMED else []
    listed = ", ".join([*named[:NAMED], *more])
    return Omissions(sentences=(f"{amount_of(names, what)} {was} ({listed}){how}",), names=named)


def sentences_on(repository: Repository) -> tuple[str, ...]:
    """Return a sentence on each kind of what is in no clone, answers first."""
    return (*sentences_on_answers(repository), *repository.left_out)


def sentences_on_answers(repository: Repository) -> tuple[str, ...]:
    """Say which files with answer keys are in no clone, if there are any."""
    names = [os.fsencode(name) for name in repository.answers or ()]
    return omission(names, "file with answer keys", was="in no clone").sentences


def amount_of(names: Sequence[bytes], what: str) -> str:
    """Write `1 file is`, or `3 files of that kind are`."""
    noun, _, rest = what.partition(" ")
    if len(names) == 1:
        return f"1 {what} is"
    plural = f"{noun}s {rest}" if noun in ("file", "place", "checkout") else f"{what}s"
    return f"{len(names)} {plural} are"


def shown(name: bytes) -> str:
    """Write a path as text that can be stored."""
    return os.fsdecode(name).encode("utf-8", "replace").decode()
