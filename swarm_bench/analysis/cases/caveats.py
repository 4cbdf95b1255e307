"""What stands against the figures of an arm in any benchmark of cases, and of a model. It is
decided once, for headline, gate, diff and exports."""

from collections.abc import Iterator, Sequence

from swarm_bench.analysis.cases.models import ModelSession
from swarm_bench.analysis.cases.session import ArmKind, CaseSession
from swarm_bench.analysis.caveats.declaration import (
    describe_growth,
    format_digits,
    make_edit_caveats,
    warn_checksum,
)
from swarm_bench.analysis.wording import join, lowercase, quantify
from swarm_bench.core.report.standing import Caveat, make_caveat
from swarm_bench.core.session.cases import LONGEST_ANSWER, CaseExperiment
from swarm_bench.core.session.experiment import REHEARSAL
from swarm_bench.core.session.models import ModelRecord
from swarm_bench.core.status import CONSEQUENCES, Cause, Status


def find_changed_records(session: CaseSession, _arm: str) -> Iterator[Caveat]:
    """Find records, or an experiment, that are not as they were written; warnings name them."""
    if session.changed:
        yield Caveat(qualification="records were changed after they were written", is_void=True)
    yield from make_edit_caveats(warn_edited(session.experiment))


def find_failed_trials(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find trials without an answer, by cause. An arm without a single one was not measured."""
    records = session.list_records(arm)
    failed = [record for record in records if record.status is not Status.COMPLETED]
    conclusive_causes = {record.cause for record in records if record.conclusive}
    for cause in dict.fromkeys(record.cause for record in failed):
        of_cause = [record for record in failed if record.cause is cause]
        detail = next((record.detail for record in of_cause if record.detail), None)
        count_text = f"{len(of_cause)} of {quantify(len(records), 'trial')}"
        clause = f"{count_text} {CONSEQUENCES[cause].of(len(of_cause))}"
        is_void = cause in conclusive_causes and Cause.FINISHED not in conclusive_causes
        remark = f". The first says: {detail}" if detail else "."
        yield make_caveat(arm, clause, remark, is_void=is_void)


def find_failed_scorers(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Find scorers that failed on answers of the arm."""
    failures = [
        record.score_failures for record in session.list_records(arm) if record.score_failures
    ]
    for name in dict.fromkeys(name for failure in failures for name in failure):
        reasons = [failure[name] for failure in failures if name in failure]
        clause = f"the scorer {name} failed on {quantify(len(reasons), 'answer')}"
        remark = f", whose scores are missing. The first says: {reasons[0]}"
        yield make_caveat(arm, clause, remark)


def find_not_run(session: CaseSession, arm: str) -> Iterator[Caveat]:
    """Count planned trials that have no record."""
    planned = len(session.experiment.cases) * session.experiment.count_runs(arm)
    if (absent := planned - len(session.list_records(arm))) > 0:
        count_text = f"{absent} of {quantify(planned, 'planned trial')}"
        yield Caveat(
            qualification=f"no record of {count_text}",
            warning=f"{arm}: there is no record of {count_text}; --continue runs them.",
        )


GRAVEST: tuple[ArmKind, ...] = (find_changed_records, find_failed_trials)
KINDS: tuple[ArmKind, ...] = (*GRAVEST, find_failed_scorers, find_not_run)
"""The gravest first."""


def describe_declaration(session: CaseSession) -> str:
    """Write what was named, and the first digits of its checksum; empty where nothing was."""
    declaration = session.experiment.beforehand
    if declaration is None:
        return ""
    primary = _name_primary(session, declaration.primary)
    return f"{primary}, margin {declaration.margin:g} ({format_digits(declaration)})"


def _name_primary(session: CaseSession, key: str | None) -> str:
    return "no metric" if key is None else lowercase(session.metrics.title_of(key))


def warn_exploratory(session: CaseSession) -> Iterator[str]:
    """Say that the verdict is on what was chosen after the fact."""
    experiment, declaration = session.experiment, session.experiment.beforehand
    if declaration and experiment.chosen_afterwards:
        current, declared = (
            f"{_name_primary(session, side.primary)} with a margin of {side.margin:g}"
            for side in (experiment, declaration)
        )
        yield (
            f"Exploratory: these verdicts are on {current}; named before the first trial: "
            f"{declared}. A verdict by settings that were chosen after the fact is a hypothesis "
            f"for the next session."
        )


def warn_edited(experiment: CaseExperiment) -> Iterator[str]:
    """Report that the file of the experiment was changed by hand."""
    if experiment.beforehand:
        yield from warn_checksum(experiment.beforehand)


def describe_extension(session: CaseSession) -> Iterator[str]:
    """Say what was added to a session after it began, less what its benchmark adds by itself."""
    experiment = session.experiment
    declaration = experiment.beforehand
    if declaration is None:
        return
    sizes = {
        "run": (declaration.runs, experiment.runs),
        "case": (len(declaration.cases), len(experiment.cases)),
        "arm": (len(declaration.arms), len(session.chosen_arms)),
    }
    yield from describe_growth(sizes)


REFERENCE = "reference"
"""The model that gives the answers of the data set."""


def find_answers_elsewhere(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers that are empty, since their text is elsewhere: in another field, or in thoughts
    without an end. An arm that has no others was not measured."""
    answers = session.list_answers(arm)
    empty = [record for record in answers if record.elsewhere]
    if not empty:
        return
    empty_clause = f"{_format_count(len(empty), answers)} {'was' if len(empty) == 1 else 'were'}"
    fields = join(sorted({str(record.elsewhere) for record in empty}))
    clause = f"{empty_clause} empty: the text is in {fields}"
    remark = "; see how it parses thoughts and calls, or allow more tokens."
    yield make_caveat(arm, clause, remark, is_void=len(empty) == len(answers))


def find_empty_answers(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers that are empty and count as they are: nothing shows that the model did not end
    them."""
    answers = session.list_answers(arm)
    empty = sum(is_empty(record) and not record.elsewhere for record in answers)
    if empty:
        clause = f"{_format_count(empty, answers)} {'was' if empty == 1 else 'were'} empty"
        yield make_caveat(arm, clause, ", and counted as they are.")


def find_unexplained_ends(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of which it is unknown whether they are whole. Those of a file are."""
    answers = session.list_answers(arm)
    if unsaid := sum(not (record.finish or record.whole) for record in answers):
        clause = f"its server did not say why the answer ended in {_format_count(unsaid, answers)}"
        yield make_caveat(arm, clause, ", which may be cut.")


def find_cut_answers(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of which only the beginning is stored and scored."""
    answers = session.list_answers(arm)
    long = sum(len(record.answer or "") >= LONGEST_ANSWER for record in answers)
    if long:
        clause = f"{_format_count(long, answers)} {'was' if long == 1 else 'were'} cut"
        remark = f": what follows {LONGEST_ANSWER:,} characters is not scored."
        yield make_caveat(arm, clause, remark)


def find_wrong_reference(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of the data set that do not pass: other figures show nothing of those cases."""
    if session.experiment.arm(arm).model != REFERENCE:
        return
    answers = session.list_answers(arm)
    wrong = [answer for answer in answers if answer.scores and answer.scores.get("passed") is False]
    if wrong:
        clause = (
            f"{_format_count(len(wrong), answers)} of the data set "
            f"{'does' if len(wrong) == 1 else 'do'} not pass"
        )
        remark = (
            ": rows or the environment are broken. Of tests that ran, their records have what was "
            "printed (scores, output)."
        )
        yield make_caveat(arm, clause, remark)


def find_rehearsal(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find an agent that asked no model: fixed rules answered, of whose answers nothing follows."""
    is_agent = session.experiment.arm(arm).model.startswith("agent:")
    if is_agent and any(record.model == REHEARSAL for record in session.list_answers(arm)):
        yield Caveat(qualification="it is a rehearsal, in which no model was asked", is_void=True)


def find_contaminated(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers of agents that have read those of the data set, as far as they show it."""
    records = session.list_records(arm)
    if contaminated_records := [record for record in records if record.answers_read]:
        counts = "counts" if len(contaminated_records) == 1 else "count"
        clause = (
            f"{len(contaminated_records)} of {quantify(len(records), 'trial')} contaminated, and "
            f"{counts} as wrong, since the agent named what holds the answers"
        )
        first = contaminated_records[0].answers_read[0]
        yield make_caveat(arm, clause, f". The first: {first}")


def find_earlier_versions(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find trials that the version which ran them counted as wrong answers, and that are none."""
    records = session.list_records(arm)
    if earlier := [record for record in records if record.earlier_cause is not None]:
        was = "was" if len(earlier) == 1 else "were"
        clause = (
            f"{len(earlier)} of {quantify(len(records), 'trial')} {was} counted as wrong when the "
            "session was run, and are missing now: the server failed, and not the model"
        )
        yield make_caveat(arm, clause, "; --continue runs them again.")


def find_other_rules(session: ModelSession, _arm: str) -> Iterator[Caveat]:
    """Find scores of an earlier version, whose rules are others. Together with those of this one
    they show nothing."""
    if session.rules <= {session.rules_now}:
        return
    has_several = len(session.rules) > 1
    subject = "some answers were" if has_several else "the answers were"
    clause = f"{subject} scored by the rules of another version of swarm-bench"
    yield Caveat(qualification=clause, is_void=has_several)


def find_unjudged(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers about which the judge did not want to say anything, or nothing that can be
    read. Those that it will be asked about again have ended so."""
    records = session.list_records(arm)
    judged_records = [record for record in records if record.judge_requests and record.conclusive]
    if failed := sum(bool(record.judge_failed) for record in judged_records):
        clause = f"the judge gave no answer about {_format_count(failed, judged_records)}"
        yield make_caveat(arm, clause)
    answered_records = [
        record for record in judged_records if record.scores and not record.judge_failed
    ]
    for metric in session.metrics:
        if metric.judged and metric.read:
            unread = sum(metric.read(record) is None for record in answered_records)
            if unread:
                clause = (
                    f"{lowercase(metric.title)} cannot be read in what the judge said about "
                    f"{_format_count(unread, answered_records)}"
                )
                yield make_caveat(arm, clause)


def find_equal_requests(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find arms that ask their model the same as the ones that they are held against, as a prompt
    does that is for none of the cases."""
    experiment, reference = session.experiment, session.references.get(arm)
    if reference is None:
        return
    requests = [
        {record.case: record.prompt_sha256 for record in session.list_records(name)}
        for name in (arm, reference)
    ]
    one_model = experiment.arm(arm).model == experiment.arm(reference).model
    if one_model and requests[0] == requests[1] and any(requests[0].values()):
        clause = f"its requests are those of {reference}, word for word"
        yield make_caveat(arm, clause)


def find_changed_requests(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find requests of which a provider refuses parts: an arm may differ in nothing else."""
    records = session.list_records(arm)
    if names := sorted({name for record in records for name in record.omitted}):
        number = sum(bool(record.omitted) for record in records)
        clause = (
            f"its provider refuses {', '.join(names)}, without which "
            f"{quantify(number, 'request')} of {len(records)} were sent"
        )
        yield make_caveat(arm, clause)


def find_understated(session: ModelSession, arm: str) -> Iterator[Caveat]:
    """Find answers whose server states fewer tokens than their text has."""
    records = session.list_records(arm)
    fewer = [record for record in records if record.understated]
    if fewer:
        names = join(sorted({name for record in fewer for name in record.understated}))
        clause = (
            f"its server states fewer {names} tokens than the text has in {len(fewer)} of "
            f"{quantify(len(records), 'trial')}, where they and the cost are missing"
        )
        yield make_caveat(arm, clause, "; --max-cost counts what the text can cost at most.")


MODEL_KINDS: tuple[ArmKind, ...] = (
    *GRAVEST,
    find_rehearsal,
    find_contaminated,
    find_earlier_versions,
    find_other_rules,
    find_wrong_reference,
    find_answers_elsewhere,
    find_empty_answers,
    find_cut_answers,
    find_unexplained_ends,
    find_failed_scorers,
    find_unjudged,
    find_equal_requests,
    find_changed_requests,
    find_understated,
    find_not_run,
)
"""The gravest first."""


def _format_count(number: int, answers: Sequence[ModelRecord]) -> str:
    """Say how many of the answers."""
    return f"{number} of {quantify(len(answers), 'answer')}"


def is_empty(record: ModelRecord) -> bool:
    """Tell whether the answer of a server is empty, wherever it put its text."""
    blank = record.answer is not None and not record.answer.strip()
    return bool(record.elsewhere) or (blank and not record.whole)
