"""What a model made of the answers, as data."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class JudgedMode:
    """What a judge made of a mode's answers beside those of the reference. The numbers are pairs of
    answers to a task in a run; a pair is in one of them."""

    mode: str
    judge: str
    wins: int
    ties: int
    losses: int
    unreadable: int
    """A reply did not end with a verdict."""
    unjudged: int
    """Not asked in both orders yet, or not of these answers."""
    unpaired: int
    """One of the agents gave no answer that counts."""
    same: int
    """Ties because both answers are the same text, so that nobody was asked."""
    agreeing: int
    """Pairs whose two orders led to the same verdict."""

    @property
    def pairs(self) -> int:
        """Those with a verdict."""
        return self.wins + self.ties + self.losses

    @property
    def agreement(self) -> float | None:
        """The share of the pairs whose two orders led to the same verdict; `None` without any."""
        count = self.pairs - self.same
        return self.agreeing / count if count else None


@dataclass(frozen=True, kw_only=True)
class JudgeSpending:
    """What a judge took. No figure of a trial has it."""

    judge: str
    requests: int
    input_tokens: float | None
    """Tokens of the verdicts that state them, as in the two fields below."""
    cache_read: float | None
    output_tokens: float | None
    cost: float | None
    without_tokens: int
    """Verdicts whose tokens are not known."""
    without_cost: int


@dataclass(frozen=True, kw_only=True)
class Judging:
    """The comparisons of a session by all its judges."""

    reference: str | None
    """`None` where each names its own."""
    modes: tuple[JudgedMode, ...]
    spending: tuple[JudgeSpending, ...]
