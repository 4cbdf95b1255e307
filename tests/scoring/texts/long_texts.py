"""A program: prints the scores of texts of a megabyte, and by how many MB it grew."""

import json
import random
import sys

from swarm_bench.benchmarks.code_to_text.benchmark import detokenize
from swarm_bench.benchmarks.completion.rows import indel
from swarm_bench.scoring.texts.bleu import bleu_counts, corpus_bleu, docstring_bleu, sentence_bleu
from swarm_bench.scoring.texts.code_bleu import code_bleu
from tests.memory import peak

MB = 10**6
PARTS = ("(", "ab ", "-,", "+-", "<-", ".-,", "/*", "&amp;lt;-\n", "'\"", "\ud800")
ALPHABETS = ("ab(){};=.,'\"/* \n", "if(else)function class{}=>;,\n ab", "é中'&-\n1.", "([{")
LANGUAGES = ("javascript", "rust", "solidity")


def scores(guess: str, truth: str) -> list[float | None]:
    detokenize(guess.split())
    return [
        indel(guess, truth),
        docstring_bleu(guess, truth),
        corpus_bleu(bleu_counts(guess, truth)),
        sentence_bleu(guess.split(), truth.split(), (0.25,) * 4),
        *(code_bleu(guess, truth, language) for language in LANGUAGES),
    ]


if __name__ == "__main__":
    texts = [part * (MB // len(part)) for part in PARTS]
    texts += ["".join(random.Random(1).choices(alphabet, k=MB)) for alphabet in ALPHABETS]
    before = peak()
    every = [score for text in texts for score in scores(text, text[::-1])]
    json.dump({"scores": every, "mb": peak() - before}, sys.stdout)
