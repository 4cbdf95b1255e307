"""What scorers may give, and where it stands in the record of a trial."""

import math
from collections.abc import Collection, Mapping

from pydantic import ValidationError

from swarm_bench.core.figures import LARGEST
from swarm_bench.core.ports import Missing, Score
from swarm_bench.core.session.base import StoredRecord
from swarm_bench.core.stored import Stored
from swarm_bench.core.validation import first_clause

LONGEST_LABEL = 200
"""Characters of a score that is a text, and of a key."""
_MAX_SHOWN = 40
"""Characters of a value that is none."""
MOST_KEYS = 100
"""Limit of the keys of one scorer."""


class OwnScores(Stored):
    """The scores that have keys of their own in the record: those of the shipped scorers."""

    result_lines: int | None = None
    references: int | None = None
    references_distinct: int | None = None
    references_existing: int | None = None
    answer_digest: str | None = None
    headings: int | None = None
    bullets: int | None = None
    fences: int | None = None
    grounded: bool | None = None
    structured: bool | None = None


class ScoreRefused(Exception):
    """A scorer stated or gave what is no score; a clause says why."""


def check_keys(
    keys: Collection[str], record: type[StoredRecord], other_keys: Collection[str] = ()
) -> None:
    """Raise `ScoreRefused` for keys that a scorer cannot state in such a record; others have those
    of `other_keys`."""
    if isinstance(keys, str) or not all(isinstance(key, str) for key in keys):
        raise ScoreRefused("its keys are not a tuple of names")
    if not 0 < len(keys) <= MOST_KEYS:
        raise ScoreRefused(f"it states {len(keys)} keys; it may have 1 to {MOST_KEYS}")
    for key in keys:
        if not 0 < len(key) <= LONGEST_LABEL:
            raise ScoreRefused(f"it states a key of {len(key):,} characters")
        if key in record.model_fields and key not in record.own_scores.model_fields:
            raise ScoreRefused(f"its key {key!r} is that of another figure of the record")
        if key in other_keys:
            raise ScoreRefused(f"its key {key!r} is that of another scorer")


def check_scores(
    scores: Mapping[str, Score | Missing], keys: Collection[str], record: type[StoredRecord]
) -> dict[str, Score]:
    """Return the scores by the keys that were stated; one that was not given, or is missing with
    its reason, is `None`. Raises `ScoreRefused` when a key was not stated, or a value is no score,
    or none for its key in such a record."""
    if not isinstance(scores, Mapping):
        raise ScoreRefused(f"it gave no mapping: {type(scores).__name__}")
    unknown = [repr(key) for key in scores if key not in keys]
    if unknown:
        raise ScoreRefused(f"it gave {', '.join(unknown[:3])}, which it does not state in its keys")
    values = {key: None if isinstance(score, Missing) else score for key, score in scores.items()}
    for key, value in values.items():
        if (reason := _describe_fault(value)) is not None:
            raise ScoreRefused(f"{key} {reason}")
    try:
        record.own_scores.model_validate(values, strict=True, extra="ignore")
    except ValidationError as error:
        raise ScoreRefused(first_clause(error)) from error
    return {key: values.get(key) for key in keys}


def collect_missing_reasons(scores: Mapping[str, Score | Missing]) -> dict[str, str]:
    """Return why scores are missing, by their keys, where the scorer says so."""
    return {key: score.why for key, score in scores.items() if isinstance(score, Missing)}


def describe_unstorable(scores: object) -> str | None:
    """Say in a clause why scores of a benchmark cannot be stored; `None` when they can. Such a
    score may also be a list of whole numbers, or a text of any length."""
    if not isinstance(scores, Mapping | None):
        return f"it gave no mapping: {type(scores).__name__}"
    for key, value in (scores or {}).items():
        if not isinstance(key, str):
            return f"the key {key!r} is no text"
        if isinstance(value, str):
            continue
        if (
            reason := _describe_list_fault(value)
            if isinstance(value, list)
            else _describe_fault(value)
        ) is not None:
            return f"{key} {reason}"
    return None


def _describe_list_fault(numbers: list[object]) -> str | None:
    for number in numbers:
        if not isinstance(number, int | float) or number % 1 != 0:
            return f"has {repr(number)[:_MAX_SHOWN]}, which is no whole number"
        if abs(number) > LARGEST:
            return "has a whole number of more than 53 bits"
    return None


def _describe_fault(value: object) -> str | None:
    """Say why it is no score, as a clause that follows the key."""
    match value:
        case int() if abs(value) > LARGEST:
            return "is a whole number of more than 53 bits"
        case float() if not math.isfinite(value):
            return "is not finite"
        case float() if abs(value) > LARGEST:
            return "is beyond 2 to the power of 53"
        case str() if len(value) > LONGEST_LABEL:
            return f"is a text of more than {LONGEST_LABEL} characters"
        case None | int() | float() | str():
            return None
        case _:
            return f"is a {type(value).__name__}, which is no number, text, True, False or None"
