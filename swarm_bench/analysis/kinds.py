"""The kinds of sessions whose trials are pairs of an arm and a case."""

from swarm_bench.analysis.cases import answered, caveats
from swarm_bench.analysis.cases.model_summary import make_model_document
from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.cases.summary import make_case_document
from swarm_bench.analysis.cases.verdicts import answer_cases
from swarm_bench.analysis.retrieve import caveats as of_searches
from swarm_bench.analysis.retrieve.figures import Answers
from swarm_bench.analysis.retrieve.headline import make_headline
from swarm_bench.analysis.retrieve.summary import make_document
from swarm_bench.core.report.document import Answer, Document


class ComparedArms(CaseSession):
    """A session of any other benchmark."""

    kinds = caveats.KINDS

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(answer_cases(self))

    @property
    def document(self) -> Document:
        return make_case_document(self)


class ComparedModels(ModelSession):
    """A session that compares models."""

    kinds = answered.KINDS

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(answer_cases(self))

    @property
    def document(self) -> Document:
        return make_model_document(self)


class ComparedSearches(Answers):
    """A session of `retrieve`."""

    kinds = of_searches.KINDS

    @property
    def answers(self) -> tuple[Answer, ...]:
        return tuple(make_headline(self))

    @property
    def document(self) -> Document:
        return make_document(self)
