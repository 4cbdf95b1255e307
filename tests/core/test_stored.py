"""What we build has no unknown keys; what we read may have some."""

from datetime import UTC, datetime
from typing import get_args

import pytest
from pydantic import ValidationError

from swarm_bench.core.session.experiment import Task
from swarm_bench.core.session.records import Evidence, TrialRecord
from tests.stored_kinds import every_kind

NEWER = (
    b'{"mode":"canopy","agent":1,"task":"t","from_2030":1,'
    b'"tool_answers":{"x":{"answers":2,"from_2030":{"deep":[1]}}},'
    b'"evidence":{"offered":3,"from_2030":null}}'
)
"""A line of a newer version, with keys that nobody knows yet at every depth."""


def test_a_line_of_a_newer_version_can_be_read() -> None:
    record = TrialRecord.from_json(NEWER)
    assert record.evidence == Evidence(offered=3)
    assert record.tool_answers is not None
    assert record.tool_answers["x"].answers == 2


def test_a_key_that_is_misspelt_in_code_is_an_error() -> None:
    with pytest.raises(ValidationError, match="referenzes"):
        TrialRecord(mode="m", agent=1, task="t", referenzes=1)  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match=r"evidence\.foreing"):
        TrialRecord.model_validate(
            {"mode": "m", "agent": 1, "task": "t", "evidence": {"foreing": ()}}
        )


def test_a_copy_gets_no_key_that_there_is_not() -> None:
    task = Task(id="t", title="t", prompt="p")
    assert task.model_copy(update={"title": "u"}).title == "u"
    with pytest.raises(TypeError, match="Task has no titel"):
        task.model_copy(update={"titel": "u"})


def test_every_stored_type_forbids_them() -> None:
    assert len(every_kind()) > 15
    assert [kind for kind in every_kind() if kind.model_config.get("extra") != "forbid"] == []


def test_half_a_character_is_stored_as_a_question_mark_at_every_depth() -> None:
    record = TrialRecord(
        mode="m",
        agent=1,
        task="a\ud800",
        tool_calls={"\udcff": 1},
        evidence=Evidence(why=("\udc00",)),
    )
    again = TrialRecord.from_json(record.model_dump_json())
    assert again == record
    assert (again.task, again.tool_calls) == ("a?", {"?": 1})


def test_it_does_not_keep_in_memory_which_keys_were_given() -> None:
    record = TrialRecord.from_json(b'{"mode":"m","agent":1,"task":"t","evidence":{"calls":1}}')
    copy = record.model_copy(update={"agent": 2})
    assert record.evidence
    assert not record.model_fields_set | record.evidence.model_fields_set
    assert (copy.agent, record.agent, record.model_fields_set) == (2, 1, set())


@pytest.mark.parametrize("key", ["wall_seconds", "cost", "effective_tokens"])
@pytest.mark.parametrize("figure", ["1e308", "-1e300", "1" + "0" * 400])
def test_a_figure_that_nothing_can_be_computed_with_is_no_figure(key: str, figure: str) -> None:
    with pytest.raises(ValidationError):
        TrialRecord.from_json(f'{{"mode":"m","agent":1,"task":"t","{key}":{figure}}}')
    with pytest.raises(ValidationError):
        TrialRecord.from_json(f'{{"mode":"m","agent":1,"task":"t","scores":{{"x":{figure}}}}}')


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00", "9001-01-01"]
)
def test_a_date_that_no_clock_has_here_is_refused(at: str) -> None:
    with pytest.raises(ValidationError, match="started_at"):
        TrialRecord.from_json(f'{{"mode":"m","agent":1,"task":"t","started_at":"{at}"}}')


def test_a_date_without_a_zone_is_in_utc() -> None:
    line = '{"mode":"m","agent":1,"task":"t","started_at":"2026-11-26T15:54:08"}'
    assert TrialRecord.from_json(line).started_at == datetime(2026, 11, 26, 15, 54, 8, tzinfo=UTC)


def test_every_stored_date_is_such_a_one() -> None:
    fields = {
        f"{kind.__name__}.{name}": field
        for kind in every_kind()
        for name, field in kind.model_fields.items()
    }
    plain = [
        name
        for name, field in fields.items()
        if (field.annotation is datetime and not field.metadata)
        or datetime in get_args(field.annotation)
    ]
    assert plain == []
