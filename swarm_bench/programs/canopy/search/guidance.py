"""The advice at the end of an evidence pack: continue searching, or read and answer."""

from dataclasses import dataclass
from typing import Any

STOP_CONFIDENCE = 0.55


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The basis of the advice. Scores are those of the selected handles, best first."""

    scores: list[float]
    files: int
    matches: int
    truncated: bool
    max_handles: int

    @property
    def confidence(self) -> float:
        """From 0 to 1."""
        if not self.scores:
            return 0.0
        top = self.scores[:3]
        coverage = min(self.files, 3) / 3
        fill = min(len(self.scores) / self.max_handles, 1.0)
        signal = 0.0 if self.matches == 0 else 0.4 if self.matches < 3 else 1.0
        penalty = 0.10 if self.truncated else 0.0
        mean = sum(top) / len(top)
        value = 0.55 * mean + 0.20 * coverage + 0.15 * fill + 0.10 * signal - penalty
        return max(0.0, min(value, 1.0))

    @property
    def is_enough(self) -> bool:
        """Whether to stop querying."""
        has_several = len(self.scores) >= 4 and self.files >= 2
        return bool(self.scores) and (self.confidence >= STOP_CONFIDENCE or has_several)

    @property
    def band(self) -> str:
        if self.confidence < 0.35:
            return "low"
        return "medium" if self.confidence < 0.70 else "high"

    @property
    def expand_count(self) -> int:
        target = 2 if self.confidence >= 0.75 else 3 if self.confidence >= 0.50 else 4
        return max(1, min(len(self.scores), target))


def guidance(evidence: Evidence) -> dict[str, Any]:
    """Build the `guidance` object of a pack."""
    if not evidence.scores:
        return {
            "confidence": 0.0,
            "confidence_band": "low",
            "stop_querying": False,
            "recommended_action": "refine_query",
            "suggested_expand_count": 0,
            "max_additional_queries": 2,
            "rationale": "Nothing was found for this query.",
            "next_step": "Query again with a symbol name or with fewer and more specific words.",
        }
    count = evidence.expand_count
    stop = evidence.is_enough
    return {
        "confidence": evidence.confidence,
        "confidence_band": evidence.band,
        "stop_querying": stop,
        "recommended_action": "expand_then_answer" if stop else "refine_query",
        "suggested_expand_count": count,
        "max_additional_queries": 0 if stop else 1,
        "rationale": (
            f"{len(evidence.scores)} handles in {evidence.files} files,"
            f" confidence {evidence.confidence:.2f}."
        ),
        "next_step": (
            f"Expand the first {count} suggested handles, then answer."
            if stop
            else f"Query once more with more specific words, then expand {count} handles."
        ),
    }
