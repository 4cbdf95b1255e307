"""A session of `retrieve`: questions put to the tools of modes."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.retrieve.summary import ComparedSearches
from swarm_bench.app.setup.retrieve import SearchFolder, check_quality, open_folder
from swarm_bench.app.stored.exported import Row, TrialBuilder, build_trial
from swarm_bench.app.stored.pairs import PairSession, read_session
from swarm_bench.app.stored.repeating import write_agent_command
from swarm_bench.benchmarks.retrieve.benchmark import METRICS
from swarm_bench.core.metric import Metrics
from swarm_bench.core.report.exported import ExportedTrial, Message
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.session.retrieving import RetrieveExperiment


class RetrieveSession(PairSession):
    """A session of `retrieve`."""

    settings = ("quality", "quality_margin")
    kind = "search"

    @cached_property
    def folder(self) -> SearchFolder:
        return open_folder(self.path)

    def read(self) -> ComparedSearches:
        return read_session(self.folder, METRICS, ComparedSearches)

    def make_builder(self, experiment: RetrieveExperiment) -> TrialBuilder:
        questions = {
            case.id: task.prompt if form == "sentence" else task.keywords
            for case, task, form in experiment.questions()
        }

        def build(row: Row, record: CaseRecord) -> ExportedTrial:
            question, tool = questions.get(record.case), experiment.retrieval.get(record.arm)
            return replace(
                build_trial(row, record),
                prompt=(Message(role="user", text=question),) if question else (),
                agent=tool.name if tool else None,
                agent_version=tool.version if tool else None,
            )

        return build

    def write_command(self, experiment: RetrieveExperiment) -> str:
        return write_agent_command(experiment)

    def name_data(self, experiment: RetrieveExperiment) -> str:
        return experiment.suite

    def build_changes(self, overrides: Mapping[str, Any], metrics: Metrics) -> Mapping[str, Any]:
        if "quality" in overrides:
            check_quality(overrides["quality"])
        names = {"quality": "primary", "quality_margin": "margin"}
        return {names[name]: value for name, value in overrides.items()}

    def read_compared_cases(self) -> CaseSession:
        self._refuse()
