"""Requests as they are stored, each once, and answers that are stored already."""

import hashlib
import json
from dataclasses import asdict
from typing import Any

from swarm_bench.core.outcome import Usage
from swarm_bench.core.roles.language_model import Ask, Completion
from swarm_bench.core.session.cases import CaseEnded, CaseTrial
from swarm_bench.core.session.models import AnswerFields, ModelRecord
from swarm_bench.core.status import Cause


def make_stored_request(ask: Ask) -> dict[str, Any]:
    """Return what of a request is the same in every run."""
    prompt = ask.prompt if isinstance(ask.prompt, str) else _convert_prompt(ask)
    return {"way": ask.way, "prompt": prompt, "sampling": asdict(ask.sampling)}


def digest(ask: Ask) -> str:
    """Return the checksum of a request, by which it is found in `prompts.jsonl`."""
    text = json.dumps(make_stored_request(ask), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _convert_prompt(ask: Ask) -> Any:
    return asdict(ask)["prompt"]


def read_stored_answer(trial: CaseTrial, earlier: ModelRecord) -> tuple[Completion, CaseEnded]:
    """Return the answer that a record has, with what it took."""
    assert earlier.answer is not None
    usage = Usage(
        input=earlier.input_tokens,
        cache_read=earlier.cache_read,
        cache_create=earlier.cache_create,
        output=earlier.output_tokens,
    )
    completion = Completion(
        text=earlier.answer,
        finish=earlier.finish,
        usage=usage,
        whole=earlier.whole,
        answers_read=earlier.answers_read,
    )
    result = CaseEnded(
        trial=trial,
        cause=Cause.FINISHED,
        started_at=earlier.started_at,
        ended_at=earlier.ended_at,
        wall_seconds=earlier.wall_seconds,
        answer=earlier.answer,
        usage=usage,
        cost=earlier.cost,
        own=AnswerFields.model_validate(earlier.model_dump(include={*AnswerFields.model_fields})),
    )
    return completion, result
