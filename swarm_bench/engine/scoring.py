"""Scores of an answer, by all scorers, none of which can spoil those of another."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from swarm_bench.core.errors import ConfigError, described
from swarm_bench.core.ports import Score, ScoreContext, Scorer
from swarm_bench.core.session.base import StoredRecord
from swarm_bench.core.session.scores import (
    ScoreRefused,
    check_keys,
    check_scores,
    collect_missing_reasons,
)
from swarm_bench.core.stored import Stored
from swarm_bench.engine.caps import OTHER_NAMES, shorten
from swarm_bench.runtime.sink import clean_text, clean_value

MOST_FAILURES = 20
"""Scorers that are named in a record."""
LONGEST_FAILURE = 300
"""Characters."""


@dataclass(frozen=True, kw_only=True)
class ScoringResult:
    """What the scorers gave."""

    own_scores: Stored = Stored()
    """Scores with keys of their own in the record."""
    unscored_characters: int | None = None
    """Number of characters of the answer that no scorer looked at; `None` when there are none."""
    scores: dict[str, Score] | None = None
    """Scores by all other keys."""
    missing: dict[str, str] | None = None
    """Reasons why scores could not be computed, by the key of the score."""
    failures: dict[str, str] | None = None
    """Reasons why the scores of a scorer are missing, by its name."""

    @property
    def troubles(self) -> tuple[str, ...]:
        """One sentence for each scorer that failed."""
        failures = self.failures or {}
        return tuple(f"The scorer {name} failed: {reason}" for name, reason in failures.items())


def check_scorers(scorers: Iterable[object]) -> tuple[Scorer, ...]:
    """Return the scorers. Raises `ConfigError` when one lacks what a scorer has, or two have one
    name."""
    checked_scorers: list[Scorer] = []
    for scorer in scorers:
        kind = f"The scorer {type(scorer).__module__}:{type(scorer).__qualname__}"
        if not isinstance(scorer, Scorer):
            raise ConfigError(
                f"{kind} lacks what a scorer has (core/ports.py: name, version, keys, score); "
                "fix its package, or uninstall it"
            )
        if not isinstance(scorer.name, str) or not scorer.name:
            raise ConfigError(f"{kind} has no name; fix its package, or uninstall it")
        checked_scorers.append(scorer)
    for name, count in Counter(scorer.name for scorer in checked_scorers).items():
        if count > 1:
            raise ConfigError(f"{count} scorers are called {name!r}; uninstall one of the packages")
    return tuple(checked_scorers)


def score(
    scorers: Sequence[Scorer],
    context: ScoreContext,
    secrets: Collection[str],
    record: type[StoredRecord],
) -> ScoringResult:
    """Have every scorer look at the answer, and say how much of it none looked at. The scores go
    into such a record."""
    values: dict[str, Score] = {}
    missing: dict[str, str] = {}
    failures: dict[str, str] = {}
    for scorer in scorers:
        keys: tuple[str, ...] = ()
        try:
            check_keys(scorer.keys, record, other_keys=values)
            keys = scorer.keys
            scores = scorer.score(context)
            values |= check_scores(scores, keys, record)
            missing |= collect_missing_reasons(scores)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # others must score, whatever it is
            values |= dict.fromkeys(keys)
            failures[shorten(scorer.name)] = _describe_error(error, secrets)
    own_scores = record.own_scores.model_validate(values, extra="ignore")
    other_scores = {
        key: value for key, value in values.items() if key not in type(own_scores).model_fields
    }
    unscored = len(context.text) - len(context.beginning)
    return ScoringResult(
        own_scores=own_scores,
        unscored_characters=unscored if unscored > 0 else None,
        scores=clean_value(other_scores, secrets) or None,
        missing={key: _shorten_line(reason, secrets) for key, reason in missing.items()} or None,
        failures=_limit_failures(failures) or None,
    )


def _describe_error(error: BaseException, secrets: Collection[str]) -> str:
    """Describe an error in one line. Secrets are removed first: a cut could split one."""
    text = str(error) if isinstance(error, ScoreRefused) else described(error)
    return _shorten_line(text, secrets)


def _shorten_line(text: str, secrets: Collection[str]) -> str:
    return shorten(" ".join(clean_text(text, secrets).split()), LONGEST_FAILURE)


def _limit_failures(failures: dict[str, str]) -> dict[str, str]:
    limited = dict(islice(failures.items(), MOST_FAILURES))
    if len(limited) < len(failures):
        limited[OTHER_NAMES] = f"{len(failures) - len(limited)} more scorers failed"
    return limited
