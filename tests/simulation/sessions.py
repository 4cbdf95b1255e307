"""Sessions whose truth is known, run by the installed command: real processes that play a script,
with noise, and print what they would have spent."""

import json
import math
import os
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.builders.answers import answer_lines
from tests.e2e import warm

COMMAND = Path(sys.executable).parent / "swarm-bench"
SPREAD = 0.3
"""The standard deviation of the logarithm of what a run spends."""
QUALITY_MARGIN = 0.35
"""The answers of two modes are equal in every task: what eight of them can show."""
TASK_SPREAD = 0.8
AGENT = "swarm_bench.agents.scripted:Scripted"
VERDICTS = {
    " helps": "helps",
    " hurts": "hurts",
    " is a trade-off": "trade-off",
    " spends less, answers unclear": "cheaper",
    " spends more, answers unclear": "dearer",
    " makes no difference": "equivalent",
    ": cannot tell yet": "inconclusive",
    " answers better, spending unknown": "inconclusive",
    " answers worse, perhaps by little": "inconclusive",
    ": no verdict": "no verdict",
}
"""What is claimed."""
_RANGE = r"(?:(\d+) % (fewer|more) to )?(\d+(?:\.\d+)?)(?: to (\d+(?:\.\d+)?))? % (fewer|more)"


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is true of a mode: how much it spends of what the reference does, and what it finds."""

    ratio: float = 1.0
    finds_less: bool = False
    always: Sequence[str] = ()
    """The files that it names whatever is asked."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """A comparison of these modes with a baseline."""

    modes: Mapping[str, Truth]
    tasks: int
    runs: int
    spread: float = SPREAD
    weights: Sequence[float] = (1.0,)
    """Of the tasks, in turn."""
    groups: Sequence[str] = ("",)
    """Of the tasks, in turn; empty for none."""
    until_clear: bool = False
    """Each task has one run then, and the session ends when its verdict stands."""
    places: int | None = None
    """How many of the tasks are about different files; `None` for all."""

    def prepare(self, folder: Path) -> None:
        """Write the repository, the tasks, the modes and the script."""
        numbers = range(self.tasks)
        (folder / "repo").mkdir(parents=True)
        for number in range(2 * self.tasks):
            text = f"def part_{number}():\n    return {number}\n"
            (folder / "repo" / f"part{number:02}.py").write_text(text)
        tasks = [
            {
                "id": f"t{number}",
                "title": f"Task {number}",
                "prompt": _prompt(number),
                "key": {"files": _files(number % (self.places or self.tasks))},
                "weight": self.weights[number % len(self.weights)],
                **({"group": group} if group else {}),
            }
            for number in numbers
            for group in [self.groups[number % len(self.groups)]]
        ]
        (folder / "tasks.yaml").write_text(json.dumps({"tasks": tasks}))  # JSON is YAML
        for mode in self.modes:
            file = {"mcpServers": {}, "swarmBench": {"instructions": f"Work like {mode}."}}
            (folder / f"{mode}.json").write_text(json.dumps(file))
        (folder / "script.json").write_text(json.dumps([*self._plays()]))

    def _plays(self) -> Iterator[dict[str, Any]]:
        """Give what a mode does with each task; the baseline's prompts have no instructions."""
        for mode, truth in {**self.modes, "": Truth()}.items():
            for number in range(self.tasks):
                asked = f"Work like {mode}.\n\n{_prompt(number)}" if mode else _prompt(number)
                figures = {"turns": 5, "cost": 0, "usage": _usage(number, truth.ratio)}
                text = _answer(number, number % (self.places or self.tasks), truth)
                answer = {"text": text, "spread": self.spread, **figures}
                yield {
                    "when": {"prompt": asked},
                    "steps": [{"init": {"tools": ["Read"]}}, {"answer": answer}],
                }

    def words(self, seed: int) -> list[str]:
        """Return the command line; `seed` decides what the agents spend."""
        modes = ["baseline", *(f"./{mode}.json" for mode in self.modes)]
        return [
            "compare", "--repo", "repo", "--modes", *modes, "--tasks", "./tasks.yaml",
            "--all-tasks", "--concurrency", str(2 if self.until_clear else self.tasks),
            *(["--until-clear", "--max-cost", "9"] if self.until_clear else []),
            "--runs", str(self.runs), "--agent", AGENT, "--model", "script.json",
            "--seed", str(seed),
            "--output", f"out-{seed}", "--quiet", "--quality-margin", str(QUALITY_MARGIN),
        ]  # fmt: skip

    @staticmethod
    def environment(folder: Path) -> dict[str, str]:
        """Return the variables of the command."""
        return {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder)}

    def run(self, folder: Path, seed: int) -> "Session":
        """Run the command."""
        argv = [str(COMMAND), *self.words(seed)]
        code, summary, errors = warm.call(argv, folder, self.environment(folder))
        if code:
            raise RuntimeError(f"exit code {code}: {errors}")
        details = (folder / f"out-{seed}" / "details.md").read_text()
        return Session(folder=folder / f"out-{seed}", summary=f"{summary}\n{details}")


@dataclass(frozen=True, kw_only=True)
class Session:
    """What the command left and printed."""

    folder: Path
    summary: str

    def sentence(self, mode: str) -> str:
        """Return what is answered for a mode: the claim, and what stands below it."""
        return answer_lines(self.summary, mode).removeprefix(f"- **{mode}")

    def verdict(self, mode: str) -> str:
        """Return its verdict."""
        return VERDICTS[self.sentence(mode).partition(".**")[0]]

    def interval(self, mode: str) -> tuple[float, float]:
        """Return the interval of its ratio, as it is printed: in whole percents."""
        printed = self.sentence(mode).partition("95 % interval")[2].partition("sign-flip")[0]
        match = re.search(_RANGE, printed)
        if match is None:
            raise ValueError(f"{printed}: no interval")
        if match[1]:
            changes = [(match[1], match[2]), (match[3], match[5])]
        else:
            changes = [(match[3], match[5]), (match[4] or match[3], match[5])]
        low, high = sorted(
            1 + float(size) / 100 * (1 if way == "more" else -1) for size, way in changes
        )
        return low, high

    def row(self, metric: str) -> dict[str, str]:
        """Return the cells of the first row on a metric, by mode."""
        return next(row for row in self._rows() if row.get("Metric") == metric)

    def detail(self, mode: str, metric: str) -> dict[str, str]:
        """Return the row of a mode and a metric among the details, by the titles of its columns."""
        about = {"Mode": mode, "Metric": metric}.items()
        return next(row for row in self._rows() if about <= row.items())

    def _rows(self) -> Iterator[dict[str, str]]:
        """Read the tables of the summary."""
        titles: list[str] = []
        for line in self.summary.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")] if "|" in line else []
            if len(cells) == len(titles):
                yield dict(zip(titles, cells, strict=True))
            else:
                titles = cells


def _prompt(number: int) -> str:
    return f"Where is thing number {number:02} made?"


def _files(number: int) -> list[str]:
    return [f"part{2 * number + place:02}.py" for place in range(2)]


def _answer(number: int, place: int, truth: Truth) -> str:
    """Name the files of every second task, and one of two of the others; one less where a mode
    finds less."""
    named = truth.always or _files(place)[: 2 - number % 2 - truth.finds_less]
    return "\n".join([f"Thing {number} is made here:", *(f"- `{path}:1`" for path in named)])


def _usage(number: int, ratio: float) -> dict[str, int]:
    spent = ratio * math.exp(random.Random(f"task {number}").gauss(11, TASK_SPREAD))
    shares = {"input": 0.3, "cache_read": 0.5, "cache_create": 0.1, "output": 0.1}
    return {name: round(share * spent) for name, share in shares.items()}
