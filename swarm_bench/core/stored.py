"""The base of all that we write to disk and read back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import core_schema

from swarm_bench.core.figures import Amount, Count

Counts = list[Count]
"""A score of parts, such as tests or n-grams."""
StoredScore = bool | Count | Amount | str | None


def _as_utc(at: datetime) -> datetime:
    """Take a time without a zone as one in UTC. Raises `ValueError` for one that is near the ends
    of the calendar, where no other zone has it."""
    if not 1970 <= at.year <= 9000:
        raise ValueError("a year from 1970 to 9000 is expected")
    return at if at.tzinfo else at.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_as_utc)]
"""A time with its zone, which every zone can show and a timestamp can say."""


def _make_encodable(value: Any) -> Any:
    """Remove halves of surrogate pairs: JSON and file names can carry them, a file in UTF-8
    cannot."""
    if value is None:  # most are
        return value
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_make_encodable(key): _make_encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_make_encodable(item) for item in value)
    return value


_NOTHING: set[str] = set()


class Stored(BaseModel):
    """Base of what we write to disk and read back. What is built in code has no unknown keys; what
    is read may have some: a newer version wrote it, or another program."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def model_post_init(self, context: Any, /) -> None:
        """Forget which keys were set: they are not asked for, and took half of a record's
        memory."""
        object.__setattr__(self, "__pydantic_fields_set__", _NOTHING)

    @classmethod
    def from_json(cls, content: str | bytes) -> Self:
        """Read what was stored; unknown keys are ignored at every depth. Raises
        `ValidationError`."""
        return cls.model_validate_json(content, extra="ignore")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy it with other values. Raises `TypeError` for a key that it does not have."""
        unknown = sorted(set(update or ()) - set(type(self).model_fields))
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(unknown)}")
        return super().model_copy(update=update, deep=deep)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Make whole characters of what comes from code; JSON has no others."""
        schema = handler(source)
        cleaned = core_schema.no_info_before_validator_function(_make_encodable, schema)
        return core_schema.json_or_python_schema(schema, cleaned)
