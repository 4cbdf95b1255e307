"""How what a copy omits is named: in a sentence for each kind, and path by path."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from swarm_bench.core.session.experiment import Repository

MAX_NAMED = 5
"""Names that a sentence has at most."""
MAX_STORED = 1_000
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
            names=(*self.names, *other.names)[:MAX_STORED],
        )


def describe_omission(
    names: Sequence[bytes], noun: str, how: str = "", *, was: str = "omitted"
) -> Omissions:
    """Describe the omission of files; `noun` is one of them, `how` how to copy them anyway, `was`
    what became of them."""
    if not names:
        return Omissions()
    stored = tuple(map(decode_path, names[:MAX_STORED]))
    remaining = (
        [f"and {len(names) - MAX_NAMED} more, see experiment.json"]
        if len(names) > MAX_NAMED
        else []
    )
    clause = ", ".join([*stored[:MAX_NAMED], *remaining])
    return Omissions(
        sentences=(f"{describe_amount(names, noun)} {was} ({clause}){how}",), names=stored
    )


def sentences_on(repository: Repository) -> tuple[str, ...]:
    """Return a sentence on each kind of what is in no clone, answers first."""
    return (*sentences_on_answers(repository), *repository.left_out)


def sentences_on_answers(repository: Repository) -> tuple[str, ...]:
    """Say which files with answer keys are in no clone, if there are any."""
    names = [os.fsencode(name) for name in repository.answers or ()]
    return describe_omission(names, "file with answer keys", was="in no clone").sentences


def describe_amount(names: Sequence[bytes], noun_phrase: str) -> str:
    """Write `1 file is`, or `3 files of that kind are`."""
    noun, _, suffix = noun_phrase.partition(" ")
    if len(names) == 1:
        return f"1 {noun_phrase} is"
    plural = f"{noun}s {suffix}" if noun in ("file", "place", "checkout") else f"{noun_phrase}s"
    return f"{len(names)} {plural} are"


def decode_path(name: bytes) -> str:
    """Write a path as text that can be stored."""
    return os.fsdecode(name).encode("utf-8", "replace").decode()
