"""BLEU (Papineni et al. 2002) in the three forms that benchmarks of code use."""

import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence

ORDERS = 4
LONGEST = 20_000
"""Characters of a text that are compared, from its beginning, by every measure of this folder:
texts of a megabyte take minutes."""
_SMOOTHED = 0.1
"""Number in the place of zero matches: NLTK's smoothing 1."""
_PUNCTUATION = {ord(mark): f" {mark} " for mark in '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'}
_AFTER_NO_DIGIT = re.compile(r"([^0-9])([.,])")
_BEFORE_NO_DIGIT = re.compile(r"([.,])([^0-9])")
_HYPHEN = re.compile(r"([0-9])(-)")
_SKIPPED = "<skipped>"
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_WORD_OR_MARK = re.compile(r"\w+|[^\s\w]")


def nist_tokens(text: str) -> list[str]:
    """Split a text by NIST's rules for Western languages, known as 13a; case is kept."""
    text = text[:LONGEST].replace(_SKIPPED, "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, mark in _ENTITIES:
            text = text.replace(entity, mark)
    text = f" {text} ".translate(_PUNCTUATION)
    text = _AFTER_NO_DIGIT.sub(r"\1 \2 ", text)
    text = _BEFORE_NO_DIGIT.sub(r" \1 \2", text)
    return _HYPHEN.sub(r"\1 \2 ", text).split()


def bleu_counts(prediction: str, reference: str) -> tuple[int, ...]:
    """Return what corpus BLEU sums: for orders 1 to 4 the n-grams of the prediction that the
    reference has too, for each order the n-grams of the prediction, and the tokens of both."""
    guess, truth = nist_tokens(prediction), nist_tokens(reference)
    orders = range(1, ORDERS + 1)
    return (
        *(_matches(guess, truth, order) for order in orders),
        *(max(0, len(guess) - order + 1) for order in orders),
        len(guess),
        len(truth),
    )


def corpus_bleu(counts: Sequence[float]) -> float | None:
    """Return BLEU of the sums of `bleu_counts`, with 1 added to matches and n-grams of every order;
    `None` where no reference has a token."""
    matches, ngrams = counts[:ORDERS], counts[ORDERS : 2 * ORDERS]
    guess, truth = counts[2 * ORDERS :]
    if truth <= 0:
        return None
    if guess <= 0:
        return 0.0
    precision = math.fsum(
        math.log((matched + 1) / (total + 1))
        for matched, total in zip(matches, ngrams, strict=True)
    )
    return math.exp(precision / ORDERS + min(0.0, 1 - truth / guess))


def sentence_bleu(guess: Sequence[str], truth: Sequence[str], weights: Sequence[float]) -> float:
    """Return BLEU of one pair of token lists, with a weight for each order from 1 and NLTK's
    smoothing 1; 0 where they share no token."""
    guess, truth, precisions = guess[:LONGEST], truth[:LONGEST], []
    for order in range(1, len(weights) + 1):
        matched = _matches(guess, truth, order)
        if order == 1 and not matched:
            return 0.0
        precisions.append((matched or _SMOOTHED) / max(1, len(guess) - order + 1))
    brevity = min(0.0, 1 - len(truth) / len(guess))
    logarithms = (
        weight * math.log(precision) for weight, precision in zip(weights, precisions, strict=True)
    )
    return math.exp(math.fsum(logarithms) + brevity)


def docstring_bleu(prediction: str, reference: str) -> float:
    """Return BLEU of one documentation as CodeXGLUE has it, in 0–1: lower case, up to the first
    tab, with 1 added to orders 2 to 4, and lengths that are one longer."""
    guess, truth = _docstring_tokens(prediction), _docstring_tokens(reference)
    logarithm = 0.0
    for order in range(1, ORDERS + 1):
        added = (order > 1) + sys.float_info.min
        matched, total = _matches(guess, truth, order), max(0, len(guess) - order + 1)
        logarithm += math.log(matched + added) - math.log(total + added)
    brevity = min(0.0, 1 - (len(truth) + 1) / (len(guess) + 1))
    return math.exp(logarithm / ORDERS + brevity)


def _docstring_tokens(text: str) -> list[str]:
    start = text.strip()[:LONGEST].partition("\t")[0].strip().lower()
    return nist_tokens(" ".join(_WORD_OR_MARK.findall(start)))


def _matches(guess: Sequence[str], truth: Sequence[str], order: int) -> int:
    """Count the n-grams of the guess that the truth has, each as often as it has it at most."""
    left_over = Counter(_ngrams(truth, order))
    matched = 0
    for ngram in _ngrams(guess, order):
        if left_over.get(ngram, 0) > 0:
            left_over[ngram] -= 1
            matched += 1
    return matched


def _ngrams(tokens: Sequence[str], order: int) -> Iterable[tuple[str, ...]]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)
