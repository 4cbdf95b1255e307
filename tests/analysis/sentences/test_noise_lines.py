"""The lines of a calibration in all cases, from what was measured of two identical arms."""

import math
import re
from dataclasses import dataclass

import pytest

from swarm_bench.analysis.noise import NoiseMeasurement, answer_no_floor, answer_noise
from swarm_bench.analysis.statistics.effects import Effect
from swarm_bench.analysis.statistics.formulas import compute_detectable, compute_difference_sd
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.report.calibration import Noise, Range
from swarm_bench.core.report.document import Answer
from tests.analysis.sentences.test_verdict_lines import MOST_NUMBERS, MOST_WORDS, written
from tests.builders.golden import Sentences
from tests.builders.sessions import make_experiment


@dataclass(frozen=True, kw_only=True)
class Case:
    """By how much a metric differs from run to run: 0 where it never does, `None` where it was not
    measured."""

    tokens: float | None = 0.2
    times: float | None = 0.3
    tasks: int = 36
    runs: int = 2
    groups: int | None = None
    apart: bool = False
    only_arms: bool = False
    """The arms differ in what never differs between runs."""

    @property
    def size(self) -> Effect:
        groups = tuple(n % self.groups for n in range(self.tasks)) if self.groups else ()
        return Effect(differences=(0.0,) * self.tasks, groups=groups)


CASES = {
    "little noise": Case(),
    "noise": Case(tasks=8),
    "much noise": Case(tokens=0.9, tasks=6),
    "boundless noise": Case(tokens=9, tasks=3),
    "groups": Case(groups=12),
    "too few tasks for a saving": Case(tasks=4),
    "tokens never vary": Case(tokens=0),
    "nothing varies": Case(tokens=0, times=0),
    "fixed rules": Case(tokens=None),
    "fixed rules, nothing varies": Case(tokens=None, times=0),
    "nothing is compared": Case(tokens=None, times=None),
    "one task": Case(tasks=1),
    "one run": Case(runs=1),
    "one task and one run": Case(tasks=1, runs=1),
    "arms are called different": Case(apart=True),
    "arms are not equal": Case(only_arms=True),
}


def row(key: str, deviation: float, case: Case) -> Noise:
    """Of a metric whose runs differ by so much on the scale of logarithms."""
    differs = deviation > 0 or case.only_arms
    sd = 0.0 if case.only_arms else deviation
    found = (
        compute_detectable(compute_difference_sd(sd, case.runs), case.tasks)
        if case.tasks > 1
        else None
    )
    planned = None if found is None else Range(low=math.exp(-found), high=math.exp(found))
    return Noise(
        metric=METRICS[key],
        relative=True,
        pairs=case.tasks * case.runs,
        identical=0 if differs else case.tasks * case.runs,
        missing=0,
        zeros=0,
        still=not differs,
        tasks=case.tasks,
        effect=1.0,
        interval=Range(low=1.1, high=1.3) if case.apart else Range(low=0.9, high=1.1),
        largest=1.5,
        spread=None if case.runs < 2 else math.exp(sd),
        spread_interval=None,
        planned=planned if case.runs > 1 else None,
        grid=(),
    )


def answers_of(case: Case, mode: str = "canopy", **settings: str) -> tuple[Answer, ...]:
    deviations = {"effective_tokens": case.tokens, "wall_seconds": case.times}
    return answer_noise(
        NoiseMeasurement(
            mode=mode,
            rows=[row(key, it, case) for key, it in deviations.items() if it is not None],
            tasks=case.size,
            runs=case.runs,
            experiment=make_experiment(
                (mode,),
                runs=case.runs,
                settings={
                    name: {"value": [value] if name == "modes" else value, "source": "command line"}
                    for name, value in settings.items()
                },
            ),
            fixed_rules=case.tokens is None,
        )
    )


def check(answer: Answer) -> None:
    line = f"{answer.subject}{answer.claim}. {answer.figures}"
    assert len([word for word in line.split() if re.search(r"\w", word)]) <= MOST_WORDS
    assert len(re.findall(r"\d[\d.,]*", line)) <= MOST_NUMBERS
    assert ";" not in line


@pytest.mark.parametrize("name", CASES)
def test_each_line_is_short_and_says_what_may_be_chance(name: str, golden: Sentences) -> None:
    answers = answers_of(CASES[name])
    golden(
        *(
            "\n".join([written(it), *(f"  {more}" for more in (it.evidence, *it.caveats) if more)])
            for it in answers
        )
    )
    for answer in answers:
        check(answer)
    assert answers[0].subject == "canopy against itself"


def test_what_compares_the_mode_names_all_that_was_typed() -> None:
    typed = {"repo": "/srv/shop", "tasks": "mine.yaml", "agent": "claude", "model": "m-1"}
    same = "--repo /srv/shop --tasks mine.yaml --agent claude --model m-1"
    still = Case(tokens=0, times=0)
    tool = answers_of(still, "canopy", modes="./mine.json", **typed)[0].next
    assert tool
    assert tool.command == f"swarm-bench compare --modes baseline ./mine.json {same}"
    none = answers_of(still, "baseline", modes="baseline", **typed)[0].next
    assert none
    assert none.command == f"swarm-bench compare {same}"


def test_without_a_floor_the_line_says_why(golden: Sentences) -> None:
    why = "canopy-again: only 0 of 4 trials were connected to the tool, and 90 % are needed."
    golden(written(answer_no_floor("canopy", why)))
    check(answer_no_floor("canopy", why))
