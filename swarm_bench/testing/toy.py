"""A toy benchmark: two prompts as arms, three rows as cases, a child process for each trial."""

import sys
from datetime import UTC, datetime

import anyio
from pydantic import BaseModel, Field

from swarm_bench.core.metric import Better, Column, How, Metric, Metrics, ReadTrial, Row, Style
from swarm_bench.core.outcome import Usage
from swarm_bench.core.ports import Score, ScoreContext
from swarm_bench.core.session.cases import (
    Case,
    CaseEnded,
    CaseJob,
    CaseStarted,
    CaseTrial,
    Deliver,
)  # fmt: skip
from swarm_bench.core.status import Cause

PROMPTS = {"plain": "Say {0}", "polite": "Please be so kind as to say {0}"}
SAY = "import sys, time; time.sleep(float(sys.argv[1])); print(sys.argv[2].split()[-1])"


class Properties(BaseModel, extra="forbid"):
    seconds: float = Field(default=0.0, ge=0, description="How long each answer takes.")


class Sulking:
    name, version, keys = "sulking", 1, ("mood",)

    def score(self, context: ScoreContext) -> dict[str, Score]:
        raise RuntimeError(f"not today, {context.text}")


def _metric(key: str, read: ReadTrial, definition: str) -> Metric:
    return Metric(key=key, title=key.capitalize(), unit=key, style=Style.AVERAGE, read=read,
                  definition=definition, better=Better.LOWER, compared=True,
                  row=Row(table="Answers", how=How.MEAN), column=Column(title=key))  # fmt: skip


METRICS = Metrics((
    _metric("words", lambda record: record.input_tokens, "words of the prompt."),
    _metric("letters", lambda record: record.figures.get("letters"),
            "letters of the answer, which only polite ones count."),
))  # fmt: skip


class Toy:
    name, version, groups_at_once = "toy", 1, 2
    about = "Two prompts, three words; for tests."
    properties: type[BaseModel] = Properties

    def arms(self, properties: Properties) -> tuple[str, ...]:
        return tuple(PROMPTS)

    def cases(self, properties: Properties) -> tuple[Case, ...]:
        return tuple(Case(id=row, title=f"say {row}") for row in ("yes", "no", "perhaps"))

    def scorers(self) -> tuple[Sulking, ...]:
        return (Sulking(),)

    def metrics(self) -> Metrics:
        return METRICS

    async def run(self, job: CaseJob, deliver: Deliver) -> None:
        for trial in job.group.trials:
            await deliver(CaseStarted(trial=trial))
            await deliver(await _end_trial(trial, job.properties["seconds"]))


async def _end_trial(trial: CaseTrial, seconds: float) -> CaseEnded:
    prompt, start = PROMPTS[trial.arm].format(trial.case.id), datetime.now(UTC)
    process = await anyio.run_process([sys.executable, "-c", SAY, str(seconds), prompt])
    answer = process.stdout.decode().strip()
    letters = {"letters": float(len(answer))} if trial.arm == "polite" else {}
    usage = Usage(input=len(prompt.split()), cache_read=0, cache_create=0, output=1)
    return CaseEnded(trial=trial, cause=Cause.FINISHED, started_at=start, answer=answer,
                     ended_at=datetime.now(UTC), usage=usage, figures=letters)  # fmt: skip
