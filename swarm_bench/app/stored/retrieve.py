"""A session of `retrieve`: questions put to the tools of modes."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.retrieve.summary import ComparedSearches
from swarm_bench.app.setup.retrieve import SearchFolder, check_quality, open_folder
from swarm_bench.app.stored.pairs import PairSession, read_session
from swarm_bench.benchmarks.retrieve.benchmark import METRICS
from swarm_bench.core.metric import Metrics


class RetrieveSession(PairSession):
    """A session of `retrieve`."""

    settings = ("quality", "quality_margin")

    @cached_property
    def folder(self) -> SearchFolder:
        return open_folder(self.path)

    def read(self) -> ComparedSearches:
        return read_session(self.folder, METRICS, ComparedSearches)

    def build_changes(self, overrides: Mapping[str, Any], metrics: Metrics) -> Mapping[str, Any]:
        if "quality" in overrides:
            check_quality(overrides["quality"])
        names = {"quality": "primary", "quality_margin": "margin"}
        return {names[name]: value for name, value in overrides.items()}

    def read_compared_cases(self) -> CaseSession:
        self._refuse()
