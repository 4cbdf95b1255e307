"""What today's scorers and benchmark make of an answer that was given before."""

from swarm_bench.core.ports import Score
from swarm_bench.core.session.audit import Key
from swarm_bench.core.session.base import SCHEMA_VERSION, SchemaVersion
from swarm_bench.core.session.cases import R
from swarm_bench.core.session.records import TrialRecord
from swarm_bench.core.session.scores import OwnScores
from swarm_bench.core.stored import Counts, Moment, Stored, StoredScore


class RescoredAnswer(OwnScores):
    """One line of `rescored.jsonl`; of several of a trial the last one counts."""

    schema_version: SchemaVersion = SCHEMA_VERSION
    mode: str
    trial: str | None
    attempt: int
    rescored_at: Moment
    swarm_bench: str
    """The version whose scorers these are."""
    unscored_characters: int | None = None
    scores: dict[str, Score] | None = None
    missing_scores: dict[str, str] | None = None
    score_failures: dict[str, str] | None = None
    unread: str | None = None
    """Reason why the answer could not be read again, as a clause."""

    @property
    def key(self) -> Key:
        """Return the trial and the attempt that the answer is of."""
        return self.trial, self.attempt

    def apply_to(self, record: TrialRecord) -> TrialRecord:
        """Return the record with these scores."""
        meta_keys = ("schema_version", "mode", "trial", "attempt", "rescored_at", "swarm_bench")
        scores = {key: value for key, value in self if key not in (*meta_keys, "unread")}
        return record.model_copy(update=scores)


class ReparsedAnswer(Stored):
    """One line of `rescored.jsonl` in a session of models; of several of a trial the last one
    counts."""

    schema_version: SchemaVersion = SCHEMA_VERSION
    arm: str
    case: str
    trial: str
    attempt: int
    rescored_at: Moment
    swarm_bench: str
    """The version that scored."""
    environment: str | None
    """Environment that confined the code, in a clause; `None` where none was run."""
    confines: bool | None = None
    """Whether anything did."""
    scoring_rules: int | None = None
    """The number of those by which it was scored."""
    prediction: str | None
    """Text that was scored; `None` when it is the answer itself."""
    scores: dict[str, StoredScore | Counts]

    @property
    def key(self) -> Key:
        """Return the trial and the attempt that the answer is of."""
        return self.trial, self.attempt

    def apply_to(self, record: R) -> R:
        """Return the record with these scores."""
        scores = {
            "prediction": self.prediction,
            "scores": self.scores,
            "scoring_rules": self.scoring_rules,
        }
        return record.model_copy(update=scores)
