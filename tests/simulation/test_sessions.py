"""What the command concludes, over real sessions whose truth is known; `make simulate-sessions`
takes two hundred of each."""

import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from scipy import stats

from tests.builders.recomputing import recompute
from tests.simulation.sessions import Design, Session, Truth

SESSIONS = int(os.environ.get("SESSIONS", "2"))
FALSE = stats.binom(SESSIONS, 0.05)
"""How many of so many sessions are wrong by chance, where the method holds what it promises."""
ENDS = ("helps", "hurts", "trade-off")
RIGHT = ("equivalent", "inconclusive")
"""Where the modes are identical."""
pytestmark = [pytest.mark.slow, pytest.mark.timeout(60 + 60 * SESSIONS)]


def sessions(design: Design, folder: Path) -> Iterator[tuple[Session, dict[str, Any]]]:
    """Run so many, with the seeds 1, 2, 3 …, each with its figures as numpy computes them."""
    design.prepare(folder)
    (mode,) = design.modes
    for seed in range(1, SESSIONS + 1):
        session = design.run(folder, seed)
        figures = recompute(session.folder)
        assert session.interval(mode) == pytest.approx(figures["ratio interval"], abs=0.00501)
        yield session, figures


def test_identical_modes_are_rarely_called_different(tmp_path: Path) -> None:
    design = Design(modes={"idle": Truth()}, tasks=8, runs=3)
    every = Counter(session.verdict("idle") for session, _ in sessions(design, tmp_path))
    print(f"{SESSIONS} sessions of identical modes, 8x3:", dict(every))  # noqa: T201  # with -s
    assert every.total() - sum(every[name] for name in RIGHT) <= FALSE.ppf(0.975)


def test_the_printed_interval_covers_a_true_saving(tmp_path: Path) -> None:
    design = Design(modes={"frugal": Truth(ratio=0.8)}, tasks=12, runs=3)
    every, missed = Counter[str](), Counter[str]()
    for session, figures in sessions(design, tmp_path):
        every[session.verdict("frugal")] += 1
        for name, (low, high) in {
            "as printed": session.interval("frugal"),
            "exactly": figures["ratio interval"],
        }.items():
            missed[name] += not low <= 0.8 <= high
    print(f"{SESSIONS} sessions of a true 0.8, 12x3:", dict(every))  # noqa: T201  # with -s
    print("intervals that miss it:", dict(missed))  # noqa: T201  # with -s
    assert FALSE.ppf(0.005) <= missed["as printed"] <= FALSE.ppf(0.995)


@pytest.mark.parametrize("ratio", [1.0, 0.6])
def test_sessions_end_when_their_verdict_stands(tmp_path: Path, ratio: float) -> None:
    design = Design(modes={"mode": Truth(ratio=ratio)}, tasks=30, runs=1, until_clear=True)
    design.prepare(tmp_path)
    every, taken = Counter[str](), []
    for seed in range(1, SESSIONS + 1):
        session = design.run(tmp_path, seed)
        every[session.verdict("mode")] += 1
        bounds = recompute(session.folder)["ratio interval"]
        assert session.interval("mode") == pytest.approx(bounds, abs=0.00501)
        looks = json.loads((session.folder / "experiment.json").read_text())["looks"]
        assert looks[-1]["stands"] is (session.verdict("mode") in (*ENDS, "equivalent"))
        assert not any(look["stands"] for look in looks[:-1])
        taken.append(looks[-1]["tasks"])
    print(f"{SESSIONS} sessions of {ratio} until clear:", dict(every), fmean(taken))  # noqa: T201
    wrong = sum(every[name] for name in ENDS) if ratio == 1 else every["hurts"]
    assert wrong <= FALSE.ppf(0.975)
    if ratio < 1:
        assert every["helps"] >= 0.8 * SESSIONS
        assert fmean(taken) < 25


def test_a_list_that_is_the_same_for_every_question_is_no_evidence(tmp_path: Path) -> None:
    listing = [f"part{number:02}.py" for number in range(4)]
    design = Design(
        modes={"list": Truth(ratio=0.6, always=listing)},
        tasks=12,
        runs=1,
        spread=0.05,
        places=3,
        groups=[f"g{number}" for number in range(12)],
    )
    design.prepare(tmp_path)
    session = design.run(tmp_path, seed=1)
    lines = (session.folder / "metrics.jsonl").read_text().splitlines()
    trials = [json.loads(line) for line in lines]
    elsewhere = {
        mode: fmean(it["scores"]["file_recall_elsewhere"] for it in trials if it["mode"] == mode)
        for mode in ("baseline", "list")
    }
    assert elsewhere == {"baseline": 0, "list": pytest.approx(2 / 3)}
    assert session.row("Recall of a constant answer")["list"] == "1.00"
    assert session.sentence("list").startswith(": no verdict")


MODES = {
    "frugal": Truth(ratio=0.8),
    "same": Truth(),
    "lavish": Truth(ratio=1.25),
    "careless": Truth(ratio=0.8, finds_less=True),
    "sloppy": Truth(finds_less=True),
}


@pytest.fixture(scope="module")
def little_noise(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session of modes that are cheaper, the same, dearer, and that look less far, on tasks of
    different weight, of which two share a group."""
    folder = tmp_path_factory.mktemp("session")
    groups = ("", "", "", "shared", "", "")
    design = Design(modes=MODES, tasks=12, runs=3, spread=0.05, weights=(1, 2, 3), groups=groups)
    design.prepare(folder)
    return design.run(folder, seed=1)


def test_the_rule(little_noise: Session) -> None:
    assert {mode: little_noise.verdict(mode) for mode in MODES} == {
        "frugal": "helps",
        "same": "equivalent",
        "lavish": "hurts",
        "careless": "trade-off",
        "sloppy": "hurts",
    }


@pytest.mark.parametrize("mode", MODES)
def test_numpy_recomputes_the_summary(little_noise: Session, mode: str) -> None:
    """The script of the docs gives what the sentence and the tables say."""
    figures = recompute(little_noise.folder, mode)
    sentence, row = little_noise.sentence(mode), little_noise.detail(mode, "Effective tokens")
    own, reference = figures["typical"]
    assert f" 12 tasks, worth {math.floor(10 * figures['worth']) / 10:g}, × 3 runs." in sentence
    means = f"It used {own:,.0f} tokens per task, the baseline {reference:,.0f} ("
    own, reference = figures["recall"]
    recall = f"found {own * 100:.0f} % of the files, the baseline {reference * 100:.0f} % ("
    assert means in sentence or recall in sentence
    assert ("Recall (files): no difference" in sentence) is (round(own - reference, 9) == 0)
    assert row["Hodges-Lehmann"] == f"{figures['Hodges-Lehmann ratio']:.2f}×"
    counts = [int(row[name]) for name in ("Less", "Equal", "More")]
    assert counts == figures["less, equal, more"]
    assert row["p"] == f"{figures['sign-flip p']:.2g}"
    spent = little_noise.row("Effective tokens per right answer")[mode]
    per_right, _ = figures["effective_tokens per right answer"]
    assert spent == ("no right answer" if per_right is None else f"{per_right:,.0f}")
