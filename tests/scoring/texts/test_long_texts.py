"""No text makes a measure raise, hang or take 200 MB."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
MOST_MB = 200


def test_texts_of_a_megabyte() -> None:
    command = [sys.executable, "-m", "tests.scoring.texts.long_texts"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    result = json.loads(done.stdout)
    assert result["mb"] < MOST_MB
    scores = [score for score in result["scores"] if score is not None]
    assert len(scores) > len(result["scores"]) / 2
    assert all(0 <= score <= 1 for score in scores)
