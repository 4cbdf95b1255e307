"""A session of a benchmark that asks models the rows of a data set."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from swarm_bench.analysis.cases.model_summary import ComparedModels
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.app.models.files import write_results
from swarm_bench.app.stored.pairs import PairSession, read_session
from swarm_bench.app.stored.session import RescoreRequest
from swarm_bench.benchmarks.cases.benchmark import RowBenchmark
from swarm_bench.benchmarks.cases.folder import ModelFolder, open_model_folder
from swarm_bench.core.errors import UsageError
from swarm_bench.core.report.document import RenderedDocument
from swarm_bench.runtime.files import hold_lock

if TYPE_CHECKING:
    from swarm_bench.app.judging import Answers


class ModelSession(PairSession):
    """A session of models."""

    @cached_property
    def folder(self) -> ModelFolder:
        return open_model_folder(self.path)

    @property
    def benchmark(self) -> RowBenchmark:
        benchmark = super().benchmark
        assert isinstance(benchmark, RowBenchmark)
        return benchmark

    def read(self) -> ComparedModels:
        session = read_session(self.folder, self.benchmark.metrics(), ComparedModels)
        rules = self.benchmark.kind.rules
        return replace(session, folder=str(self.folder.path), rules_now=rules)

    def write_extra_files(self, session: CaseSession) -> None:
        """Write the figures, the answers and the tests in the forms of other harnesses."""
        write_results(session, self.benchmark, self.folder)

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
