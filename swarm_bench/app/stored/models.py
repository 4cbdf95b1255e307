"""A session of a benchmark that asks models the rows of a data set."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.app.benchmarks import check_runnable, describe_lost_models, find_model_benchmark
from swarm_bench.app.models.files import write_results
from swarm_bench.app.stored.exported import Row, TrialBuilder, build_trial, read_prompts
from swarm_bench.app.stored.pairs import PairSession, find_loaded_name, read_session
from swarm_bench.app.stored.repeating import write_model_command
from swarm_bench.app.stored.session import RescoreRequest
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.folder import PROMPTS, ModelFolder
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.core.report.exported import ExportedTrial
from swarm_bench.core.session.models import ModelExperiment, ModelRecord
from swarm_bench.reports.markdown import write_files
from swarm_bench.runtime.files import hold_lock

if TYPE_CHECKING:
    from swarm_bench.app.judging import Answers

_AGENT = "agent:"
"""Beginning of the word of an agent program that is asked like a model."""
_STORED = ("way", "finish", "cost_estimated", "price_table", "retries", "num_turns")
"""Figures of a record that the table of trials lacks."""


class ModelSession(PairSession):
    """A session of models."""

    kind = "model"

    _benchmark: RowBenchmark | None

    def __init__(self, path: Path, benchmark: RowBenchmark | None = None) -> None:
        super().__init__(path, benchmark)

    @cached_property
    def folder(self) -> ModelFolder:
        return ModelFolder(self.path)

    @property
    def benchmark(self) -> RowBenchmark:
        if self._benchmark is not None:
            return self._benchmark
        name = find_loaded_name(self.folder.path, self.folder.read_experiment())
        refusal = describe_lost_models(self.folder.path, name)
        benchmark = find_model_benchmark(name, refusal)
        check_runnable(name, benchmark)
        return benchmark

    def read(self) -> ComparedModels:
        session = read_session(self.folder, self.benchmark.metrics(), ComparedModels)
        rules = self.benchmark.kind.rules
        return replace(session, folder=str(self.folder.path), rules_now=rules)

    def make_builder(self, experiment: ModelExperiment) -> TrialBuilder:
        prompts = read_prompts(self.folder.path / PROMPTS)

        def build(row: Row, record: ModelRecord) -> ExportedTrial:
            word = experiment.arm(record.arm).model
            program = experiment.programs.get(word)
            trial = build_trial(row, record)
            of_model = {name: getattr(record, name) for name in _STORED}
            is_agent = word.startswith(_AGENT)
            return replace(
                trial,
                prompt=prompts.get(record.prompt_sha256 or "", ()),
                agent=program.name if program and is_agent else None,
                agent_version=program.version if program and is_agent else None,
                scored=record.prediction,
                model=record.model,
                requested_model=word,
                extra={**trial.extra, **of_model},
            )

        return build

    def write_command(self, experiment: ModelExperiment) -> str:
        return write_model_command(experiment)

    def list_models(self, experiment: ModelExperiment) -> Mapping[str, str]:
        return {arm.name: arm.model for arm in experiment.models}

    def name_data(self, experiment: ModelExperiment) -> str:
        return experiment.data.name

    def report(self) -> RenderedDocument:
        session = self._reported = self.read()
        summary = write_files(session.document.add_notice(self.notice))
        self.folder.write_summary(summary)
        write_results(session, self.benchmark, self.folder.path)
        return summary

    def rescore(self, request: RescoreRequest) -> RenderedDocument:
        from swarm_bench.app.models.rescoring import rescore_models

        options = {"--repo": request.repo, "--tasks": request.tasks}
        if names := [name for name, value in options.items() if value is not None]:
            raise UsageError(
                f"{names[0]}: models were asked in this session, and no agents on a repository; "
                "omit it"
            )
        with hold_lock(self.folder.lock):
            rescore_models(self, request)
            return self.report()

    def read_answers(self) -> "Answers":
        from swarm_bench.app.judging import read_model_answers

        return read_model_answers(self)
