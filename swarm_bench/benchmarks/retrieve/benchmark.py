"""The benchmark of retrieval alone: questions with known answers, put to the tools themselves."""

from pydantic import BaseModel

from swarm_bench.benchmarks.retrieve.metrics import METRICS
from swarm_bench.core.metric import Metrics
from swarm_bench.core.ports import Scorer
from swarm_bench.core.session.designs import RETRIEVE


class Properties(BaseModel, extra="forbid"):
    """What the options of its command are not."""


class RetrieveBenchmark:
    """Is run by the command `retrieve`."""

    name = RETRIEVE.name
    version = 1
    about = "Questions with known answers, put to a retrieval tool itself: retrieve."
    properties: type[BaseModel] = Properties

    def scorers(self) -> tuple[Scorer, ...]:
        """Return none: what was found is in the figures."""
        return ()

    def metrics(self) -> Metrics:
        """Return the figures of an answer."""
        return METRICS
