"""The model `copy`: continues a text as the other answers of the data set do."""

import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from swarm_bench.core.roles.language_model import Around, Ask, Completion, Finish, Gap, Way
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.offline.reference import NOTHING_ASKED

ORDER = 8
"""Tokens that decide the next one, at most."""
_OWN_WEIGHT = 3
"""How often the prompt's own text counts."""
_MOST_TOKENS = 256
"""Of an answer, where nobody says how many it may have."""
_TOKEN = re.compile(r"[ \t]+|\w+|[^\w\s]|\s")
_Counts = defaultdict[tuple[str, ...], Counter[str]]


@dataclass(frozen=True)
class CopySource:
    """No model, but counts of tokens: what a model must beat."""

    argument: str = ""
    about: ClassVar = (
        "copy: no language model: n-grams of the data set's other answers, as a floor."
    )
    ways: ClassVar[frozenset[Way]] = frozenset({"chat", "text", "gap"})
    keys: ClassVar[tuple[str, ...]] = ()
    address: ClassVar[None] = None
    free: ClassVar = True

    def program(self, around: Around) -> Program:
        """Say that no model answers."""
        return Program(name="copy")

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator["Copy"]:
        """Count the tokens of all answers."""
        yield Copy(lessons=tuple(map(_tokens, around.lessons)))


@dataclass(frozen=True, kw_only=True)
class Copy:
    """The counts, from which those of the case that is asked are taken away."""

    lessons: tuple[tuple[str, ...], ...]
    counts: _Counts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", _counted(_ended(self.lessons)))

    async def complete(self, ask: Ask) -> Completion:
        """Take the most frequent token after the longest context that is known, again and again."""
        prompt = _tokens(_text(ask))
        own = self.lessons[ask.number : ask.number + 1]
        removed, added = _counted(_ended(own)), _counted([prompt])
        answer = list[str]()
        for _ in range(ask.sampling.max_tokens or _MOST_TOKENS):
            token = self._next([*prompt[-ORDER:], *answer], removed, added)
            if token is None:
                return _completion(answer, "stop")
            answer.append(token)
        return _completion(answer, "length")

    def _next(self, context: Sequence[str], removed: _Counts, added: _Counts) -> str | None:
        for length in range(min(ORDER, len(context)), 0, -1):
            key = tuple(context[-length:])
            counts = Counter(self.counts.get(key, {}))
            counts.subtract(removed.get(key, {}))
            for token, number in added.get(key, {}).items():
                counts[token] += _OWN_WEIGHT * number
            best = min(counts, key=lambda token: (-counts[token], token), default=None)
            if best is not None and counts[best] > 0:
                return best or None
        return None


def _completion(tokens: Sequence[str], finish: Finish) -> Completion:
    return Completion(text="".join(tokens), finish=finish, usage=NOTHING_ASKED)


def _text(ask: Ask) -> str:
    if isinstance(ask.prompt, str):
        return ask.prompt
    return ask.prompt.prefix if isinstance(ask.prompt, Gap) else ask.prompt[-1].text


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(text))


def _ended(texts: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Put the empty token behind each text, which ends it."""
    return ([*text, ""] for text in texts)


def _counted(texts: Iterable[Sequence[str]]) -> _Counts:
    """Count what follows each context."""
    counts: _Counts = defaultdict(Counter)
    for text in texts:
        for at, token in enumerate(text):
            for length in range(1, min(ORDER, at) + 1):
                counts[tuple(text[at - length : at])][token] += 1
    return counts
