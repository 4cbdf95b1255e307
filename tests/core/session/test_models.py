"""Records of models that earlier versions wrote: what servers said means what it does today."""

import json
from typing import Any

import pytest

from swarm_bench.core.session.models import ModelRecord
from swarm_bench.core.status import CONSEQUENCES, Cause, Status


def line(detail: str | None, **changes: Any) -> bytes:
    record = ModelRecord(
        arm="m", case="c", number=1, run=1, session="s", trial="t" * 12, attempt=1,
        status=Status.AGENT_FAILED, cause=Cause.ERROR_RESULT, detail=detail,
    ).model_copy(update=changes)  # fmt: skip
    return record.model_dump_json().encode()


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ('402 ("Insufficient credits.")', Cause.NO_CREDIT),
        ('400 ("Your credit balance is too low, says', Cause.NO_CREDIT),
        ("307", Cause.WRONG_ADDRESS),
        ("405", Cause.WRONG_ADDRESS),
        ("522", Cause.PROVIDER_FAILED),
        ("400", Cause.PROVIDER_FAILED),
    ],
)
def test_what_was_the_servers_is_missing(state: str, cause: Cause) -> None:
    record = ModelRecord.from_json(line(f"m at http://a.example/v1 answers with HTTP {state}"))
    assert (record.cause, record.status) == (cause, CONSEQUENCES[cause].status)
    assert record.earlier_cause is Cause.ERROR_RESULT
    assert not record.conclusive
    assert "earlier_cause" not in json.loads(record.model_dump_json())


@pytest.mark.parametrize(
    "detail",
    [
        None,
        "The data set has no answer to this case",
        'm at http://a.example/v1 answers with HTTP 422 ("not so")',
        "m at http://a.example/v1 answers with HTTP 413",
        'm at http://a.example/v1 answers with HTTP 400 ("flagged by the content filter")',
    ],
)
def test_what_was_of_the_prompt_stays(detail: str | None) -> None:
    record = ModelRecord.from_json(line(detail))
    assert (record.cause, record.conclusive) == (Cause.ERROR_RESULT, True)
    assert record.earlier_cause is None


def test_other_causes_stay() -> None:
    finished = line("x answers with HTTP 402", cause=Cause.FINISHED, status=Status.COMPLETED)
    assert ModelRecord.from_json(finished).cause is Cause.FINISHED
