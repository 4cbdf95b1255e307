"""What a model said of two answers to the same task."""

from typing import Literal

from pydantic import Field

from swarm_bench.core.session.base import SCHEMA_VERSION, SchemaVersion
from swarm_bench.core.stored import Moment, Stored

JUDGE = "judge.jsonl"
"""The file of them in the folder of a session."""
Side = Literal["mode", "reference"]
Choice = Literal["A", "B", "tie"]


class Verdict(Stored):
    """One line of `judge.jsonl`: a pair of answers, shown in one order. In a session of models an
    arm is the mode, the number of a case the agent, and its id that of the task."""

    schema_version: SchemaVersion = SCHEMA_VERSION
    mode: str
    reference: str
    """The mode of the other answer."""
    run: int
    agent: int
    task_id: str | None
    trial: str | None
    attempt: int
    reference_trial: str | None
    reference_attempt: int
    first: Side
    """Side whose answer was called A."""
    model: str
    url: str
    """Address of its server, without logins and keys."""
    prompt: str
    """SHA-256 of what it was asked."""
    verdict: Choice | None
    """`None` where its reply does not end with one."""
    reply: str = ""
    """The end of what it wrote."""
    requests: int = Field(ge=0)
    """Number of requests; 0 where both answers are the same text, so that no judge was asked."""
    input_tokens: int | None = Field(ge=0)
    """Tokens without those that were read from a cache."""
    cache_read: int | None = Field(ge=0)
    output_tokens: int | None = Field(ge=0)
    cost: float | None = Field(ge=0)
    """US dollars, by the price table; `None` where it does not have the model."""
    price_table: str | None
    seconds: float
    asked_at: Moment

    @property
    def judge(self) -> tuple[str, str]:
        """Who judged: the model, and its server."""
        return self.model, self.url

    @property
    def winner(self) -> Side | Literal["tie"] | None:
        """Return the side whose answer was better."""
        if self.verdict is None or self.verdict == "tie":
            return self.verdict
        second: Side = "reference" if self.first == "mode" else "mode"
        return self.first if self.verdict == "A" else second
