"""Requests as they are stored, each once, and answers that are stored already."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion
from swarm_bench.core.session.cases import CaseEnded, CaseTrial
from swarm_bench.core.session.models import Answered, ModelRecord
from swarm_bench.core.status import Cause


def stored_request(ask: Ask) -> dict[str, Any]:
    """Return what of a request is the same in every run."""
    prompt = ask.prompt if isinstance(ask.prompt, str) else _plain(ask)
    return {"way": ask.way, "prompt": prompt, "sampling": asdict(ask.sampling)}


def digest(ask: Ask) -> str:
    """Return the checksum of a request, by which it is found in `prompts.jsonl`."""
    text = json.dumps(stored_request(ask), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(ask: Ask) -> Any:
    return asdict(ask)["prompt"]


def stored_answer(trial: CaseTrial, before: ModelRecord) -> tuple[Completion, CaseEnded]:
    """Return the answer that a record has, with what it took."""
    assert before.answer is not None
    usage = Usage(
        input=before.input_tokens,
        cache_read=before.cache_read,
        cache_create=before.cache_create,
        output=before.output_tokens,
    )
    completion = Completion(
        text=before.answer,
        finish=before.finish,
        usage=usage,
        whole=before.whole,
        answers_read=before.answers_read,
    )
    ended = CaseEnded(
        trial=trial,
        cause=Cause.FINISHED,
        started_at=before.started_at,
        ended_at=before.ended_at,
        wall_seconds=before.wall_seconds,
        answer=before.answer,
        usage=usage,
        cost=before.cost,
        own=Answered.model_validate(before.model_dump(include={*Answered.model_fields})),
    )
    return completion, ended
