"""Trials as a page shows them, cut to what it has room for."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from typing import Any

from swarm_bench.analysis.cases.session import CaseSession
from swarm_bench.analysis.documents.matrix import MAX_ROWS, list_case_trials
from swarm_bench.analysis.documents.shown_trials import (
    describe_end,
    list_case_figures,
    list_missing_scores,
    list_remarks,
    name_case_trial,
)
from swarm_bench.app.stored.exported import TrialBuilder
from swarm_bench.core.report.exported import ExportedTrial, TranscriptState
from swarm_bench.core.report.page import ShownTask, ShownTrial
from swarm_bench.core.session.cases import CaseRecord
from swarm_bench.core.treatment.conversation import Conversation, ShownCall

_TEXT = 20_000
"""Characters of one text."""
_TRIAL = 200_000
"""Characters of all calls of a trial; from there on each text is cut to its beginning."""
_BEGINNING = 500
_MOST_CALLS = 1_000
"""Calls of a trial, and requests with a text or a figure: a browser has to draw them."""
_CHECKSUM = 12
"""Characters that tell texts apart which are equal as far as they are shown."""
_FACT = 200
"""Characters of a score that stands among the figures."""
_OMISSION = "This page has no room for the last {:,} calls."
_REMARKS: Mapping[TranscriptState, str] = {
    "missing": "The output of this trial is not in the session's folder.",
    "too-large": "This page has no room for the transcript; the session's folder has it.",
    "unreadable": "The transcript cannot be read.",
    "not-shown": "The calls of this agent cannot be read here.",
}


def show_trial(trial: ExportedTrial, view: ShownTrial) -> ShownTrial:
    """Add to a view what was called and answered."""
    conversation = trial.conversation and _cut_conversation(trial.conversation)
    omitted = max(0, len(trial.conversation.calls) - _MOST_CALLS) if trial.conversation else 0
    return replace(
        view,
        turns=tuple(usage.effective for usage in trial.turns[:_MOST_CALLS]),
        conversation=conversation,
        spans=tuple(_list_spans(trial.conversation)) if trial.conversation else (),
        last=_find_last_text(conversation) if conversation and trial.answer is None else None,
        answer=_cut_text(trial.answer),
        scored=_cut_text(trial.scored),
        remarks=(
            *view.remarks,
            *((_REMARKS[trial.transcript],) if trial.transcript in _REMARKS else ()),
            *((_OMISSION.format(omitted),) if omitted else ()),
        ),
    )


def _list_spans(conversation: Conversation) -> Iterator[tuple[float, float]]:
    return (call.span for call in conversation.calls if call.span)


def _find_last_text(conversation: Conversation) -> str | None:
    """Return what was said after the last call."""
    last = max((call.turn or 0 for call in conversation.calls), default=0)
    texts = [text for turn, text in sorted(conversation.texts.items()) if turn > last]
    return "\n\n".join(texts) or None


def read_case_tasks(session: CaseSession, build: TrialBuilder) -> Iterator[ShownTask]:
    """Yield the cases that have a row in the matrix, with what was asked and answered."""
    titles = {case.id: case.title for case in session.experiment.cases}
    for case, records in islice(list_case_trials(session).items(), MAX_ROWS):
        trials = [build({}, record) for record in records]
        asked = {message.text: None for trial in trials for message in trial.prompt}
        yield ShownTask(
            title=titles[case],
            prompt=_cut_text("\n\n".join(asked)) or "",
            trials=tuple(
                show_trial(trial, _view_record(session, record))
                for trial, record in zip(trials, records, strict=True)
            ),
        )


def _view_record(session: CaseSession, record: CaseRecord) -> ShownTrial:
    facts = [*session.list_facts(record)]
    return ShownTrial(
        name=name_case_trial(record),
        arm=record.arm,
        run=record.run,
        outcome=describe_end(record),
        figures=(
            *(fact for fact in facts if not _is_long(fact[1])),
            *list_case_figures(session, record),
        ),
        key=tuple(session.check_key(record)),
        is_markdown=session.writes_markdown(record),
        notes=tuple((label, _cut_text(text) or "") for label, text in facts if _is_long(text)),
        remarks=(*list_remarks(record), *list_missing_scores(record, session.metrics)),
    )


def _is_long(text: str) -> bool:
    return len(text) > _FACT or "\n" in text


def _cut_text(text: str | None, limit: int = _TEXT) -> str | None:
    """Cut a text, and say how much more there is."""
    if text is None or len(text) <= limit:
        return text
    checksum = sha256(text.encode("utf-8", "replace")).hexdigest()[:_CHECKSUM]
    return f"{text[:limit]}\n… {len(text) - limit:,} characters more (sha256 {checksum})"


def _cut_conversation(conversation: Conversation) -> Conversation:
    return Conversation(
        calls=tuple(_cut_calls(conversation)), texts=dict(_cut_texts(conversation.texts))
    )


def _cut_texts(texts: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    room = _TRIAL
    for turn, text in islice(texts.items(), _MOST_CALLS):
        cut = _cut_text(text, _TEXT if room > 0 else _BEGINNING) or ""
        room -= len(cut)
        yield turn, cut


def _cut_calls(conversation: Conversation) -> Iterator[ShownCall]:
    """Cut long texts, and with all the more of them each one."""
    room = _TRIAL
    for call in conversation.calls[:_MOST_CALLS]:
        limit = _TEXT if room > 0 else _BEGINNING
        arguments = _cut_text(_write_arguments(call.arguments), limit)
        result = _cut_text(call.result, limit)
        room -= len(arguments or "") + len(result or "")
        yield replace(call, arguments=arguments, result=result)


def _write_arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
