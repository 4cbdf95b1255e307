"""What it means when a server does not answer: one table for all servers.

Only what is about this prompt is a result of the model: it does not fit, or is against a policy.
What lacks money, a key or the right address would fail every time, and ends a session. What may be
over a moment later is asked again. Whatever nobody knows is the provider's, and no result.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from swarm_bench.core.refusals import clauses, codes
from swarm_bench.core.status import Cause

_LONGEST_READ = 4_000
"""Characters of its own words that are looked at."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What a server says instead of an answer."""

    state: int | None = None
    """Of HTTP, or what stands for it within an answer; `None` where nothing does."""
    codes: frozenset[str] = frozenset()
    """What it calls the error: `insufficient_quota`, `ThrottlingException`."""
    text: str = ""
    """Its own words; empty where it has none."""
    fields: frozenset[str] = frozenset()
    """Parts of the request whose values it complains of."""
    wait: float = 0
    """Seconds after which it wants to be asked again; 0 where it names none."""
    is_page: bool = False
    """It is a page for people."""

    @property
    def passes(self) -> bool:
        """Whether another request may be answered."""
        return self._meaning.passes

    @property
    def cause(self) -> Cause:
        """What it makes of a trial, if no other request is."""
        return self._meaning.cause

    @property
    def _meaning(self) -> "Meaning":
        return next(meaning for holds, meaning in _TABLE if holds(self))

    def is_called(self, pattern: str) -> bool:
        """Tell whether one of its codes has such letters and digits; other characters do not
        matter."""
        plain = (re.sub(r"[^a-z0-9]", "", code.lower()) for code in self.codes)
        return any(re.search(pattern, code) for code in plain)

    def says(self, pattern: str) -> bool:
        """Tell whether its words have such a clause."""
        return bool(re.search(pattern, self.text[:_LONGEST_READ], re.IGNORECASE))

    @property
    def is_of_another(self) -> bool:
        """Whether the state alone says that it is not of this prompt."""
        return self.state in (401, 404, 407, 429)


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What follows from a refusal."""

    cause: Cause
    passes: bool = False


_ADDRESS = Meaning(cause=Cause.WRONG_ADDRESS)
_MONEY = Meaning(cause=Cause.NO_CREDIT)
_KEY = Meaning(cause=Cause.NOT_AUTHORIZED)
_MODEL = Meaning(cause=Cause.UNKNOWN_MODEL)
_OVERFLOW = Meaning(cause=Cause.CONTEXT_OVERFLOW)
_POLICY = Meaning(cause=Cause.REFUSED)
_CUT = Meaning(cause=Cause.ANSWER_CUT)
_PROMPT = Meaning(cause=Cause.ERROR_RESULT)
_LIMITED = Meaning(cause=Cause.RATE_LIMITED, passes=True)
_BUSY = Meaning(cause=Cause.PROVIDER_FAILED, passes=True)
_UNKNOWN = Meaning(cause=Cause.PROVIDER_FAILED)

_PASSING_STATES = (408, 409, 421, 423, 424, 425, 498, 499)
_PROMPT_FIELDS = frozenset({"prompt", "messages", "content", "input", "inputs", "text", "suffix"})


def _is_short_of_money(it: Refusal) -> bool:
    if it.state == 402 or it.is_called(codes.MONEY):
        return True
    if it.says(r"\blimit: 0\b"):  # of what Google gives for nothing
        return True
    if it.state == 404 or it.is_called(codes.OVERFLOW) or it.wait:
        return False
    if it.says(clauses.UNCHECKED) or (it.state or 0) >= 500:
        return False
    if it.says(clauses.LIMIT) and not it.says(clauses.LONG):
        return False
    client = it.state in (None, 400, 403, 429)
    return it.says(clauses.MONEY) or (client and it.says(clauses.QUOTA))


def _may_be_of_the_prompt(it: Refusal) -> bool:
    if it.is_page and it.state != 413:  # whoever reads prompts writes no pages
        return False
    return not (it.is_of_another or it.says(clauses.ACCOUNT) or it.says(clauses.KEY))


def _is_out(it: Refusal) -> bool:
    """Tell whether it is of something that is not there now."""
    named = it.is_called(rf"{codes.OVERFLOW}|{codes.POLICY}") or it.says(clauses.CONTEXT)
    return not named and _may_be_of_the_prompt(it) and it.says(clauses.OUTAGE)


def _is_too_long(it: Refusal) -> bool:
    if it.is_called(codes.OVERFLOW):
        return True
    if it.is_called(rf"{codes.LIMIT}|{codes.KEY}") or not _may_be_of_the_prompt(it):
        return False
    if it.state == 431 or it.says(rf"{clauses.OTHER_PARTS}|{clauses.MEMORY}"):
        return False
    if it.says(rf"{clauses.LIMIT}|{clauses.QUOTA}") or _is_out(it):
        return False
    if it.state is not None and it.state >= 500:
        return it.says(clauses.CONTEXT)
    return it.state == 413 or it.says(clauses.OVERFLOW)


def _is_against_a_policy(it: Refusal) -> bool:
    if not _may_be_of_the_prompt(it):
        return False
    if it.is_called(codes.POLICY):
        return True
    if _is_out(it):
        return False
    return it.state in (None, 400, 403, 422, 451) and it.says(clauses.POLICY)


def _is_limited(it: Refusal) -> bool:
    if it.state == 429 or it.is_called(codes.LIMIT):
        return True
    return it.state in (None, 400, 403, 413) and it.says(clauses.LIMIT)


def _lets_nobody_in(it: Refusal) -> bool:
    if it.state in (401, 403, 407):
        return True
    client = it.state is None or it.state < 500
    named = it.is_called(codes.KEY) or it.says(clauses.ACCOUNT) or it.says(clauses.KEY)
    return client and it.state != 404 and named


def _has_no_such_model(it: Refusal) -> bool:
    if it.state in (404, 501) or it.says(clauses.UNABLE):
        return True
    client = it.state in (None, 400) and not it.says(clauses.OTHER_PARTS)
    named = it.is_called(codes.MODEL) or (client and it.says(clauses.MODEL))
    return (it.state is None or it.state < 500) and named


def _is_busy(it: Refusal) -> bool:
    if it.state is not None and (it.state >= 500 or it.state in _PASSING_STATES):
        return True
    return it.is_called(codes.BUSY) or (it.state in (None, 400) and it.says(clauses.BUSY))


_TABLE: tuple[tuple[Callable[[Refusal], bool], Meaning], ...] = (
    (lambda it: it.state in (405, 410) or 300 <= (it.state or 0) < 400, _ADDRESS),
    (lambda it: it.state == 400 and it.says(clauses.HTTPS), _ADDRESS),
    (lambda it: it.state == 400 and it.says(clauses.CUT), _CUT),
    (_is_too_long, _OVERFLOW),
    # It may say, too, what is charged for that.
    (lambda it: it.state == 403 and _is_against_a_policy(it), _POLICY),
    (_is_short_of_money, _MONEY),
    (_is_against_a_policy, _POLICY),
    (_is_limited, _LIMITED),
    (lambda it: it.state in (None, 400, 403, 422) and _is_out(it), _BUSY),
    # What stands before a server turns one request away, and lets the next one in.
    (lambda it: it.state == 403 and it.is_page and not it.says(clauses.KEY), _UNKNOWN),
    (_lets_nobody_in, _KEY),
    (_has_no_such_model, _MODEL),
    (lambda it: it.state == 422 and bool(it.fields & _PROMPT_FIELDS), _PROMPT),
    (_is_busy, _BUSY),
    (lambda it: True, _UNKNOWN),
)
"""The first that holds."""
