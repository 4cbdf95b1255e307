"""The parts of a prompt that a provider's cache would have.

One rule: the parts that a request has in common with the beginning of any earlier request of the
same trial to the same model are read from the cache, all that follows is written to it, and
nothing is left as plain input. `AgentRequest.parts` has the parts: the tools, the system prompt,
and each message on its own.
`swarm_bench.models.tokens` counts scout in the same way; there every request begins with the one
before, here a program may change its prompt, and pays for what follows the change.

Three things differ from a provider: no minimum length, no limit to the age of what is in the
cache, and no marks needed that say what to cache.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from swarm_bench.core.outcome import Usage
from swarm_bench.models.tokens import count


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a prompt without its text: prompts are long and many."""

    digest: bytes
    tokens: int


def measure_parts(parts: Iterable[str]) -> tuple[Part, ...]:
    """Measure parts; this reads every letter, so it is not for the event loop."""
    return tuple(
        Part(
            digest=blake2b(part.encode("utf-8", "replace"), digest_size=16).digest(),
            tokens=count(part),
        )
        for part in parts
    )


class _Continuations(dict[bytes, "_Continuations"]):
    """Digest of a part -> what followed it."""


class PromptCache:
    """The cache as one trial sees it."""

    def __init__(self) -> None:
        self._models: dict[str, _Continuations] = {}

    def request(self, model: str, parts: Sequence[Part]) -> Usage:
        """Count the usage of a request, without its output. Its parts are in the cache from now
        on."""
        following = self._models.setdefault(model, _Continuations())
        read = created = 0
        for part in parts:
            if part.digest in following:
                read += part.tokens
            else:
                created += part.tokens
                following[part.digest] = _Continuations()
            following = following[part.digest]
        return Usage(input=0, cache_read=read, cache_create=created)
