"""The summary of a session that compares models."""

from swarm_bench.analysis.cases.asked import asked_facts, asked_notes, unconfined
from swarm_bench.analysis.cases.made import made_section
from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.results import definition_section, result_section
from swarm_bench.analysis.cases.summary import Extras, case_document
from swarm_bench.core.report.document import Document


def model_document(session: ModelSession) -> Document:
    """Lay out what the session says: what each model came to, before how they compare."""
    made = made_section(session)
    extras = Extras(
        banner=unconfined(session),
        facts=[*asked_facts(session.experiment)],
        notes=[*asked_notes(session)],
        sections=[result_section(session), *([made] if made else ())],
        details=[definition_section(session)],
    )
    return case_document(session, extras)
