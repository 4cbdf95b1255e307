"""How near a completion comes to what stood there: Indel, BLEU, CodeBLEU, exact match."""

from collections.abc import Iterator

from swarm_bench.benchmarks.cases.passing import of_answer
from swarm_bench.core.metric import Better, Column, Metric, Style
from swarm_bench.scoring.texts.bleu import sentence_bleu
from swarm_bench.scoring.texts.code_bleu import code_bleu
from swarm_bench.scoring.texts.indel import indel

_WEIGHTS = {
    1: (1.0,),
    2: (0.5, 0.5),
    3: (0.33, 0.33, 0.33, 0.0),
    4: (0.25, 0.25, 0.25, 0.25),
}
"""Of n-grams, by the lines of what is compared."""
_TITLES = {
    "indel": ("Indel", "Share of characters that need neither be inserted nor deleted"),
    "bleu": ("BLEU", "Sentence BLEU of what is between blanks, smoothed (method 1)"),
    "code_bleu": ("CodeBLEU", "Half n-grams, half subtrees of the syntax"),
    "exact": ("Exact", "Share of completions that are equal, character by character"),
}
_PUBLISHED = ("indel", "bleu", "code_bleu")


def select_compared(middle: str, guess: str, lines: int) -> tuple[str, str]:
    """Return what is compared of both: their first lines, or with 0 as many lines of the guess as
    the other has. Blanks count, and the last line end does not."""
    middles, guesses = middle.splitlines(), guess.splitlines()
    if lines:
        middles = middles[:lines]
    return "\n".join(middles), "\n".join(guesses[: lines or len(middles)])


def compute_scores(middle: str, guess: str, language: str | None) -> dict[str, float | None]:
    """Score what is compared; CodeBLEU is missing for a language that has no grammar here."""
    lines = len(middle.splitlines())
    weights = _WEIGHTS[min(max(lines, 1), 4)]
    return {
        "indel": indel(guess, middle),
        "bleu": sentence_bleu(guess.split(), middle.split(), weights),
        "code_bleu": None if language is None else code_bleu(guess, middle, language),
        "exact": float(guess == middle),
    }


def make_metrics() -> Iterator[Metric]:
    """Declare each score as the mean over files, and those that are published also as the sum."""
    for key, (title, definition) in _TITLES.items():
        yield Metric(
            key=key,
            title=title,
            unit="0 to 1",
            style=Style.FRACTION,
            better=Better.HIGHER,
            definition=f"{definition}. The mean over files of the mean over the holes of each.",
            read=of_answer(key),
            relative=False,
            of_groups="mean",
            compared=key == "indel",
            column=Column(title=title),
        )
    for key in _PUBLISHED:
        title, _ = _TITLES[key]
        yield Metric(
            key=f"{key}_sum",
            title=f"{title}, summed",
            unit="shares",
            style=Style.FRACTION,
            better=Better.HIGHER,
            definition=f"{title}: the sum over files of the mean over the holes of each, as it was "
            "published. The number of files is the most.",
            read=of_answer(key),
            relative=False,
            of_groups="sum",
        )
