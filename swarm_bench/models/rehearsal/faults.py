"""What providers do to programs, to be played on request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from swarm_bench.core.errors import UnknownName, UsageError

Stop = Literal["end", "tools", "refusal", "length"]
"""Reason why an answer ended."""
ErrorKind = Literal[
    "rate_limit",
    "server_error",
    "overloaded",
    "unauthorized",
    "context_overflow",
    "bad_request",
    "too_large",
    "not_found",
]

SLOW_SECONDS = 5.0
"""Silence before the first byte of a slow answer."""
RETRY_SECONDS = 1


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error instead of an answer."""

    status: int
    """Status in the APIs that have no other (`Api.statuses`)."""
    kind: ErrorKind
    retry_seconds: int | None = None
    """Seconds after which to retry; each API has its own way to say so."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something that is wrong with an answer."""

    stop: Stop | None = None
    """The reason that is given for its end, if it is not the real one."""
    is_empty: bool = False
    is_broken: bool = False
    """Whether the connection is closed in the middle of it."""
    silence: float = 0
    """Seconds before its first byte."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """A fault as the server plays it."""

    description: str
    """Description of what the server does, as a clause."""
    effect: Failure | Change


FAULTS: Mapping[str, Played] = {
    "rate-limit": Played(
        description="answers 429 without saying when to come back",
        effect=Failure(status=429, kind="rate_limit"),
    ),
    "rate-limit-retry-after": Played(
        description="answers 429 and says to come back in 1 s: with `retry-after`, in the Gemini "
        "API with a `RetryInfo`",
        effect=Failure(status=429, kind="rate_limit", retry_seconds=RETRY_SECONDS),
    ),
    "server-error": Played(
        description="answers 500", effect=Failure(status=500, kind="server_error")
    ),
    "overloaded": Played(
        description="answers 529, or 503 in the APIs that do not have it",
        effect=Failure(status=503, kind="overloaded"),
    ),
    "unauthorized": Played(
        description="answers 401, in the Gemini API 400, as for a wrong key",
        effect=Failure(status=401, kind="unauthorized"),
    ),
    "broken-stream": Played(
        description="breaks off in the middle of the answer", effect=Change(is_broken=True)
    ),
    "refusal": Played(
        description="has the model refuse", effect=Change(stop="refusal", is_empty=True)
    ),
    "empty-answer": Played(
        description="gives an answer with nothing in it", effect=Change(is_empty=True)
    ),
    "cut-off": Played(
        description="cuts the answer off, as at the limit of what a model may write",
        effect=Change(stop="length"),
    ),
    "slow-first-token": Played(
        description=f"is silent for {SLOW_SECONDS:g} s before it answers",
        effect=Change(silence=SLOW_SECONDS),
    ),
    "context-overflow": Played(
        description="says that the prompt is too long",
        effect=Failure(status=400, kind="context_overflow"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault, and which requests of each trial it befalls; the first one is number 1."""

    name: str
    first: int = 1
    last: int | None = None
    """`None` for all from the first on."""

    @classmethod
    def parse(cls, spec: str) -> "Fault":
        """Read `NAME`, `NAME:N` or `NAME:N-M`. Raises `UsageError`."""
        name, has_numbers, numbers = spec.partition(":")
        if name not in FAULTS:
            raise UnknownName("fault", name, sorted(FAULTS))
        if not has_numbers:
            return cls(name=name)
        first, is_range, last = numbers.partition("-")
        bounds = (first, last if is_range else first)
        if not all(end.isascii() and end.isdecimal() and len(end) < 10 for end in bounds):
            raise _not_requests(spec)
        fault = cls(name=name, first=int(bounds[0]), last=int(bounds[1]))
        if not 1 <= fault.first <= int(bounds[1]):
            raise _not_requests(spec)
        return fault

    def befalls(self, request: int) -> bool:
        """Tell whether it happens to the request of that number."""
        return self.first <= request and (self.last is None or request <= self.last)


def parse_faults(specs: Sequence[str]) -> tuple[Fault, ...]:
    """Read faults in their order. Raises `UsageError` for one that does not exist."""
    return tuple(Fault.parse(spec) for spec in specs)


def fault_of(faults: Sequence[Fault], request: int) -> str | None:
    """Name the first fault that befalls the request of that number; `None` when none does."""
    return next((fault.name for fault in faults if fault.befalls(request)), None)


def _not_requests(spec: str) -> UsageError:
    return UsageError(
        f"The fault {spec!r} does not say which requests; write NAME, NAME:N or NAME:N-M, "
        "counting from 1"
    )
