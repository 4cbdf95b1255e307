"""Meaning of a server's refusal to answer: one table for all servers.

Only what is about this prompt is a result of the model: it does not fit, or is against a policy.
What lacks money, a key or the right address would fail every time, and ends a session. What may be
over a moment later is asked again. Whatever nobody knows is the provider's, and no result.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from swarm_bench.core import refusal_patterns
from swarm_bench.core.status import Cause

_LONGEST_READ = 4_000
"""Characters of its own words that are looked at."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What a server says instead of an answer."""

    state: int | None = None
    """Status of HTTP, or its equivalent within an answer; `None` where there is none."""
    codes: frozenset[str] = frozenset()
    """Codes of the error: `insufficient_quota`, `ThrottlingException`."""
    text: str = ""
    """Text of the refusal; empty where it has none."""
    fields: frozenset[str] = frozenset()
    """Parts of the request whose values it complains of."""
    wait: float = 0
    """Seconds after which it wants to be asked again; 0 where it names none."""
    is_page: bool = False
    """Whether the text is a page for people."""

    @property
    def passes(self) -> bool:
        """Whether another request may be answered."""
        return self._meaning.passes

    @property
    def cause(self) -> Cause:
        """Return the cause that the refusal gives a trial if there is no other request."""
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


def _is_short_of_money(refusal: Refusal) -> bool:
    if refusal.state == 402 or refusal.is_called(refusal_patterns.MONEY_CODES):
        return True
    if refusal.says(r"\blimit: 0\b"):  # of what Google gives for nothing
        return True
    if refusal.state == 404 or refusal.is_called(refusal_patterns.OVERFLOW_CODES) or refusal.wait:
        return False
    if refusal.says(refusal_patterns.UNCHECKED) or (refusal.state or 0) >= 500:
        return False
    if refusal.says(refusal_patterns.LIMIT) and not refusal.says(refusal_patterns.LONG):
        return False
    client = refusal.state in (None, 400, 403, 429)
    return refusal.says(refusal_patterns.MONEY) or (client and refusal.says(refusal_patterns.QUOTA))


def _may_be_of_the_prompt(refusal: Refusal) -> bool:
    if refusal.is_page and refusal.state != 413:  # whoever reads prompts writes no pages
        return False
    return not (
        refusal.is_of_another
        or refusal.says(refusal_patterns.ACCOUNT)
        or refusal.says(refusal_patterns.KEY)
    )


def _is_out(refusal: Refusal) -> bool:
    """Tell whether it is of something that is not there now."""
    is_named = refusal.is_called(
        rf"{refusal_patterns.OVERFLOW_CODES}|{refusal_patterns.POLICY_CODES}"
    ) or refusal.says(refusal_patterns.CONTEXT)
    return not is_named and _may_be_of_the_prompt(refusal) and refusal.says(refusal_patterns.OUTAGE)


def _is_too_long(refusal: Refusal) -> bool:
    if refusal.is_called(refusal_patterns.OVERFLOW_CODES):
        return True
    if refusal.is_called(
        rf"{refusal_patterns.LIMIT_CODES}|{refusal_patterns.KEY_CODES}"
    ) or not _may_be_of_the_prompt(refusal):
        return False
    if refusal.state == 431 or refusal.says(
        rf"{refusal_patterns.OTHER_PARTS}|{refusal_patterns.MEMORY}"
    ):
        return False
    if refusal.says(rf"{refusal_patterns.LIMIT}|{refusal_patterns.QUOTA}") or _is_out(refusal):
        return False
    if refusal.state is not None and refusal.state >= 500:
        return refusal.says(refusal_patterns.CONTEXT)
    return refusal.state == 413 or refusal.says(refusal_patterns.OVERFLOW)


def _is_against_a_policy(refusal: Refusal) -> bool:
    if not _may_be_of_the_prompt(refusal):
        return False
    if refusal.is_called(refusal_patterns.POLICY_CODES):
        return True
    if _is_out(refusal):
        return False
    return refusal.state in (None, 400, 403, 422, 451) and refusal.says(refusal_patterns.POLICY)


def _is_limited(refusal: Refusal) -> bool:
    if refusal.state == 429 or refusal.is_called(refusal_patterns.LIMIT_CODES):
        return True
    return refusal.state in (None, 400, 403, 413) and refusal.says(refusal_patterns.LIMIT)


def _lets_nobody_in(refusal: Refusal) -> bool:
    if refusal.state in (401, 403, 407):
        return True
    client = refusal.state is None or refusal.state < 500
    is_named = (
        refusal.is_called(refusal_patterns.KEY_CODES)
        or refusal.says(refusal_patterns.ACCOUNT)
        or refusal.says(refusal_patterns.KEY)
    )
    return client and refusal.state != 404 and is_named


def _has_no_such_model(refusal: Refusal) -> bool:
    if refusal.state in (404, 501) or refusal.says(refusal_patterns.UNABLE):
        return True
    client = refusal.state in (None, 400) and not refusal.says(refusal_patterns.OTHER_PARTS)
    is_named = refusal.is_called(refusal_patterns.MODEL_CODES) or (
        client and refusal.says(refusal_patterns.MODEL)
    )
    return (refusal.state is None or refusal.state < 500) and is_named


def _is_busy(refusal: Refusal) -> bool:
    if refusal.state is not None and (refusal.state >= 500 or refusal.state in _PASSING_STATES):
        return True
    return refusal.is_called(refusal_patterns.BUSY_CODES) or (
        refusal.state in (None, 400) and refusal.says(refusal_patterns.BUSY)
    )


_TABLE: tuple[tuple[Callable[[Refusal], bool], Meaning], ...] = (
    (lambda refusal: refusal.state in (405, 410) or 300 <= (refusal.state or 0) < 400, _ADDRESS),
    (lambda refusal: refusal.state == 400 and refusal.says(refusal_patterns.HTTPS), _ADDRESS),
    (lambda refusal: refusal.state == 400 and refusal.says(refusal_patterns.CUT), _CUT),
    (_is_too_long, _OVERFLOW),
    # It may say, too, what is charged for that.
    (lambda refusal: refusal.state == 403 and _is_against_a_policy(refusal), _POLICY),
    (_is_short_of_money, _MONEY),
    (_is_against_a_policy, _POLICY),
    (_is_limited, _LIMITED),
    (lambda refusal: refusal.state in (None, 400, 403, 422) and _is_out(refusal), _BUSY),
    # What stands before a server turns one request away, and lets the next one in.
    (
        lambda refusal: (
            refusal.state == 403 and refusal.is_page and not refusal.says(refusal_patterns.KEY)
        ),
        _UNKNOWN,
    ),
    (_lets_nobody_in, _KEY),
    (_has_no_such_model, _MODEL),
    (lambda refusal: refusal.state == 422 and bool(refusal.fields & _PROMPT_FIELDS), _PROMPT),
    (_is_busy, _BUSY),
    (lambda refusal: True, _UNKNOWN),
)
"""The first that holds."""
