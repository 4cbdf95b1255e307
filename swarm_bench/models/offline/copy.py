"""The model `copy`: continues a text as the other answers of the data set do."""

import random
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from swarm_bench.core.roles.language_model import Around, Ask, Completion, Finish, Gap
from swarm_bench.core.session.experiment import Program
from swarm_bench.models.offline.reference import NOTHING_ASKED, Offline

ORDER = 8
"""Tokens that decide the next one, at most."""
MOST_LEARNED = 2_000_000
"""Bytes of text."""
_OWN_WEIGHT = 3
"""Number of times that the prompt's own text counts."""
_MOST_READ = 65_536
"""Characters of a prompt, from its end: each token of it takes a kilobyte."""
_MOST_TOKENS = 256
"""Most tokens of an answer, where the request has no limit."""
_TOKEN = re.compile(r"[ \t]+|\w+|[^\w\s]|\s")
_END = ""
"""The token behind a lesson."""
_NOT_BEGUN = -1
"""Value for a lesson that has not begun."""
_Counts = defaultdict[tuple[str, ...], Counter[str]]


@dataclass(frozen=True)
class CopySource(Offline):
    """No model, but counts of tokens: what a model must beat."""

    argument: str = ""
    about: ClassVar = (
        "copy: no language model: n-grams of the data set's other answers, as a floor."
    )

    def program(self, around: Around) -> Program:
        """Say that no model answers, and from how much it learns."""
        total, learned = (
            _count_bytes(around, numbers) for numbers in (None, _draw_lessons(around))
        )
        part = f"learned from {learned / 1e6:.2f} of {total / 1e6:.2f} MB, drawn by the seed"
        return Program(name="copy", note=part if learned < total else None)

    @asynccontextmanager
    async def opened(self, around: Around) -> AsyncIterator["Copy"]:
        """Read the answers."""
        yield Copy(around=around)


@dataclass(frozen=True, kw_only=True)
class Copy:
    """What follows what in the answers, of which those of the group that is asked do not count."""

    around: Around = field(repr=False)
    lessons: "_Lessons" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lessons = [
            (self._find_owner(at), self.around.lessons[at]) for at in _draw_lessons(self.around)
        ]
        object.__setattr__(self, "lessons", _Lessons(lessons))

    async def complete(self, ask: Ask) -> Completion:
        """Take the most frequent token after the longest context that is known, again and again."""
        prompt, owner = _tokens(_text(ask)[-_MOST_READ:]), self._find_owner(ask.number)
        added, answer = _count_contexts(prompt), list[str]()
        for _ in range(ask.sampling.max_tokens or _MOST_TOKENS):
            token = self._choose_next([*prompt[-ORDER:], *answer][-ORDER:], owner, added)
            if token is None:
                return _completion(answer, "stop")
            answer.append(token)
        return _completion(answer, "length")

    def _find_owner(self, number: int) -> Hashable:
        """Return the group of a case, or the case where it is one by itself."""
        group = self.around.groups[number] if number < len(self.around.groups) else None
        return number if group is None else group

    def _choose_next(self, context: Sequence[str], owner: Hashable, added: _Counts) -> str | None:
        ranges = self.lessons.find_ranges(context)
        for length in range(len(context), 0, -1):
            own_counts: Mapping[str, int] = added.get(tuple(context[-length:]), {})
            counts = Counter({token: _OWN_WEIGHT * number for token, number in own_counts.items()})
            if length <= len(ranges):
                counts.update(self.lessons.count_following(ranges[length - 1], owner, own_counts))
            if counts:
                return min(counts, key=lambda token: (-counts[token], token)) or None
        return None


class _Lessons:
    """Tokens of texts, in the order of the tokens before them, the nearest one first: those that
    follow the same context lie together. It takes 40 bytes a token."""

    def __init__(self, lessons: Iterable[tuple[Hashable, str]]) -> None:
        import numpy as np

        ids, tokens, owned = dict[str, int](), array("i"), array("i")
        self._owners = dict[Hashable, int]()
        for owner, text in lessons:
            number = self._owners.setdefault(owner, len(self._owners))
            token_ids: list[int] = [
                ids.setdefault(token, len(ids)) for token in (*_tokens(text), _END)
            ]
            tokens.extend([_NOT_BEGUN] * ORDER + token_ids)
            owned.extend([number] * len(token_ids))
        self._names = sorted(ids)
        self._ids = {token: number for number, token in enumerate(self._names)}
        ranks = np.array([*(self._ids[token] for token in ids), _NOT_BEGUN], dtype=np.int32)
        ranked = ranks[np.array(tokens, dtype=np.int32)]  # the last one stands for `_NOT_BEGUN`
        at = np.flatnonzero(ranked != _NOT_BEGUN)
        columns = [ranked[at - length] for length in range(1, ORDER + 1)]
        order = np.lexsort(columns[::-1])
        columns.reverse()  # each is let go once it is sorted
        self._before = [columns.pop()[order] for _ in range(ORDER)]
        self._token, self._owner = ranked[at][order], np.array(owned, dtype=np.int32)[order]

    def find_ranges(self, context: Sequence[str]) -> list[tuple[int, int]]:
        """Return where the last token of a context lies, the last two, and so on, while they do."""
        import numpy as np

        begin, end, ranges = 0, len(self._token), list[tuple[int, int]]()
        for token, column in zip(reversed(context), self._before, strict=False):
            number = self._ids.get(token)
            if number is None:
                break
            within = column[begin:end]
            exact = np.int32(number)  # of another type, the whole column would be converted
            first = int(within.searchsorted(exact))
            begin, end = begin + first, begin + int(within.searchsorted(exact, "right"))
            if begin == end:
                break
            ranges.append((begin, end))
        return ranges

    def count_following(
        self, bounds: tuple[int, int], owner: Hashable, tokens: Iterable[str]
    ) -> dict[str, int]:
        """Count what follows most often, and how often some tokens do, but in the lessons of an
        owner."""
        import numpy as np

        following = self._token[slice(*bounds)]
        owner_number = self._owners.get(owner)
        if owner_number is not None:
            following = following[self._owner[slice(*bounds)] != owner_number]
        if not len(following):
            return {}
        counts = np.bincount(following)
        numbers = {
            int(counts.argmax()),
            *(self._ids[token] for token in tokens if token in self._ids),
        }
        return {
            self._names[number]: int(counts[number])
            for number in numbers
            if number < len(counts) and counts[number]
        }


def _draw_lessons(around: Around) -> list[int]:
    """Return the numbers of the lessons that it learns from: all, or as many as the seed draws."""
    numbers = [number for number, lesson in enumerate(around.lessons) if lesson]
    if _count_bytes(around, numbers) <= MOST_LEARNED:
        return numbers
    random.Random(around.seed).shuffle(numbers)
    selected, size = list[int](), 0
    for number in numbers:
        size += _count_bytes(around, [number])
        if size > MOST_LEARNED:
            break
        selected.append(number)
    return sorted(selected)


def _count_bytes(around: Around, numbers: Iterable[int] | None) -> int:
    lessons = around.lessons if numbers is None else (around.lessons[number] for number in numbers)
    return sum(len(lesson.encode(errors="replace")) for lesson in lessons)


def _completion(tokens: Sequence[str], finish: Finish) -> Completion:
    return Completion(text="".join(tokens), finish=finish, usage=NOTHING_ASKED)


def _text(ask: Ask) -> str:
    if isinstance(ask.prompt, str):
        return ask.prompt
    return ask.prompt.prefix if isinstance(ask.prompt, Gap) else ask.prompt[-1].text


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(text))


def _count_contexts(text: Sequence[str]) -> _Counts:
    """Count what follows each context."""
    counts: _Counts = defaultdict(Counter)
    for at, token in enumerate(text):
        for length in range(1, min(ORDER, at) + 1):
            counts[tuple(text[at - length : at])][token] += 1
    return counts
