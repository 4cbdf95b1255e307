"""What providers do to programs, to be played on request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from swarm_bench.core.errors import UsageError

SLOW_SECONDS = 5.0
"""Silence before the first byte of a slow answer."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error in the place of an answer."""

    status: int
    kind: str
    """As `Api.error` has it, which words it."""
    headers: Mapping[str, str] = field(default_factory=dict)


FAILURES = {
    "rate-limit": Failure(status=429, kind="rate_limit"),
    "rate-limit-retry-after": Failure(status=429, kind="rate_limit", headers={"retry-after": "1"}),
    "server-error": Failure(status=500, kind="server_error"),
    "overloaded": Failure(status=503, kind="overloaded"),
    "unauthorized": Failure(status=401, kind="unauthorized"),
    "context-overflow": Failure(status=400, kind="context_overflow"),
}
CHANGES = ("broken-stream", "refusal", "empty-answer", "slow-first-token")
"""Faults of an answer that is given."""
ABOUT = {
    "rate-limit": "answers 429 without saying when to come back",
    "rate-limit-retry-after": "answers 429 with `retry-after: 1`",
    "server-error": "answers 500",
    "overloaded": "answers 529, or 503 in the APIs that do not have it",
    "unauthorized": "answers 401, as for a wrong key",
    "broken-stream": "breaks off in the middle of the answer",
    "refusal": "has the model refuse",
    "empty-answer": "gives an answer with nothing in it",
    "slow-first-token": f"is silent for {SLOW_SECONDS:g} s before it answers",
    "context-overflow": "says that the prompt is too long",
}
"""What the server does, as a clause."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault, and which requests of each trial it befalls; the first one is number 1."""

    name: str
    first: int = 1
    last: int | None = None
    """`None` for all from the first on."""

    @classmethod
    def parse(cls, spec: str) -> "Fault":
        """Reads `NAME`, `NAME:N` or `NAME:N-M`. Raises `UsageError`."""
        name, has_numbers, numbers = spec.partition(":")
        if name not in FAILURES and name not in CHANGES:
            known = ", ".join(sorted((*FAILURES, *CHANGES)))
            raise UsageError(f"There is no fault called {name!r}; give one of {known}")
        if not has_numbers:
            return cls(name=name)
        first, is_range, last = numbers.partition("-")
        ends = (first, last if is_range else first)
        if not all(end.isascii() and end.isdecimal() for end in ends):
            raise _not_requests(spec)
        fault = cls(name=name, first=int(ends[0]), last=int(ends[1]))
        if not 1 <= fault.first <= int(ends[1]):
            raise _not_requests(spec)
        return fault

    def befalls(self, request: int) -> bool:
        """Whether it happens to the request of that number."""
        return self.first <= request and (self.last is None or request <= self.last)


def parse_faults(specs: Sequence[str]) -> tuple[Fault, ...]:
    """The faults in the order given. Raises `UsageError` for one that is not a fault."""
    return tuple(Fault.parse(spec) for spec in specs)


def fault_of(faults: Sequence[Fault], request: int) -> str | None:
    """Name of the first fault that befalls the request of that number; `None` when none does."""
    return next((fault.name for fault in faults if fault.befalls(request)), None)


def _not_requests(spec: str) -> UsageError:
    return UsageError(
        f"The fault {spec!r} does not say which requests; write NAME, NAME:N or NAME:N-M, "
        "counting from 1"
    )
