"""Similarity of two texts by insertions and deletions of characters."""

from swarm_bench.scoring.texts.bleu import LONGEST


def indel(guess: str, truth: str) -> float:
    """Return twice the length of the longest common subsequence over the sum of both lengths; 1 for
    two empty texts. Blanks count."""
    from rapidfuzz.distance import Indel

    return Indel.normalized_similarity(guess[:LONGEST], truth[:LONGEST])
