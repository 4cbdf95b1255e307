"""A session that compares models, as it is analysed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import Any

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.losses import Part
from swarm_bench.analysis.wording import quantify
from swarm_bench.core.session.experiment import REHEARSAL
from swarm_bench.core.session.models import Data, ModelExperiment, ModelRecord
from swarm_bench.core.status import Cause


@dataclass(frozen=True, eq=False)
class ModelSession(CaseSession):
    """A session whose arms are models, with properties of their own."""

    experiment: ModelExperiment
    records: Sequence[ModelRecord]

    def list_records(self, arm: str) -> list[ModelRecord]:
        return [record for record in self.records if record.arm == arm]

    def list_answers(self, arm: str) -> list[ModelRecord]:
        """Return the trials of an arm in which its model answered."""
        return [record for record in self.list_records(arm) if record.cause is Cause.FINISHED]

    def writes_markdown(self, record: ModelRecord) -> bool:
        return record.way == "chat"

    @property
    def chosen_arms(self) -> tuple[str, ...]:
        return tuple(arm.name for arm in self.experiment.models if not arm.follows)

    @property
    def data(self) -> Data:
        return self.experiment.data

    @property
    def permission(self) -> str:
        return " --allow-code-execution" if self.experiment.environment else ""

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "Code": self.experiment.confinement,
            "Requests at once": self.experiment.requests_at_once,
            "Time for a request": self.experiment.request_timeout,
            "Turns of an agent": self.experiment.max_turns,
        }

    def read_settings(self, arm: str) -> Mapping[str, Any]:
        models = sorted({record.model for record in self.list_records(arm) if record.model})
        properties = self.experiment.arm(arm).properties
        return {
            f"Model of {arm}": tuple(models),
            f"Properties of {arm}": tuple(f"{name}={value}" for name, value in properties.items()),
        }

    @property
    def faults(self) -> Iterator[str]:
        yield from self.experiment.data_faults
        scored = [record.scored_by for record in self.records if record.scored_by is not None]
        if other_count := sum(number != self.rules_now for number in scored):
            yield (
                f"{other_count} of {quantify(len(scored), 'answer')} "
                f"{'was' if other_count == 1 else 'were'} scored by the rules of another version "
                f"of swarm-bench; swarm-bench rescore {quote(self.folder)} scores all of them by "
                f"those of this one."
            )

    def is_rehearsed(self, arm: str) -> bool:
        return self.experiment.arm(arm).model.endswith(f":{REHEARSAL}")

    def count_unanswered(self, arm: str) -> Part:
        records = self.list_records(arm)
        return sum(record.cause is Cause.TIMEOUT for record in records), len(records)

    @cached_property
    def parts_by_case(self) -> Mapping[str, str]:
        read = {record.case: record.part for record in self.records}
        parts = {case.id: case.part or read.get(case.id) for case in self.experiment.cases}
        return {case: part for case, part in parts.items() if part is not None}

    @cached_property
    def rules(self) -> set[int]:
        return {record.scored_by for record in self.records if record.scored_by is not None}

    @cached_property
    def references(self) -> dict[str, str]:
        first, *_ = self.arms
        sides = {arm.name: arm.against or first for arm in self.experiment.models}
        return {arm: reference for arm, reference in sides.items() if arm != reference}
