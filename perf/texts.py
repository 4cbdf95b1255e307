"""Processor time of the text measures, in one process.

    python perf/texts.py

A score of a hole is Indel, BLEU and CodeBLEU of one line of Solidity; goal: 1,500 in a second. A
pair of BLEU is one line of Python with the sums for a corpus; goal: 10,000 in 3 s.
"""

import random
import time

from swarm_bench.benchmarks.completion.rows import indel
from swarm_bench.scoring.texts.bleu import bleu_counts, corpus_bleu, docstring_bleu, sentence_bleu
from swarm_bench.scoring.texts.code_bleu import code_bleu

HOLES, PAIRS = 3_000, 10_000
LINES = (
    "        uint256 fee = (amount * rate) / PRECISION;",
    "        emit Transfer(msg.sender, recipient, amount - fee);",
    "    function balanceOf(address account) external view returns (uint256) {",
    "result = sorted((key, value) for key, value in counts.items() if value > 1)",
    "df.groupby(['a', 'b'])['c'].apply(lambda rows: rows.sum() / len(rows)).reset_index()",
)


def varied(chance: random.Random, line: str) -> str:
    """Change a few characters of a line."""
    at = chance.randrange(len(line))
    return line[:at] + chance.choice("ab(). ") + line[at + chance.randrange(4) :]


def main() -> None:
    """Print what was measured."""
    chance = random.Random(29)
    pairs = [(varied(chance, line), line) for line in chance.choices(LINES, k=PAIRS)]
    start = time.process_time()
    for guess, truth in pairs[:HOLES]:
        indel(guess, truth)
        sentence_bleu(guess.split(), truth.split(), (1.0,))
        code_bleu(guess, truth, "solidity")
    print(f"{HOLES / (time.process_time() - start):,.0f} scores of holes a processor second")
    start = time.process_time()
    corpus_bleu([sum(column) for column in zip(*(bleu_counts(*it) for it in pairs), strict=True)])
    print(f"{PAIRS:,} pairs of BLEU: {time.process_time() - start:.2f} processor seconds")
    start = time.process_time()
    for guess, truth in pairs:
        docstring_bleu(guess, truth)
    print(f"{PAIRS:,} docstrings of BLEU: {time.process_time() - start:.2f} processor seconds")


if __name__ == "__main__":
    main()
