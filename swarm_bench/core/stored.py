"""The base of all that we write to disk and read back."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator


class Stored(BaseModel):
    """Base of what we write to disk and read back."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _can_be_written(cls, values: Any) -> Any:
        return _encodable(values)


def _encodable(value: Any) -> Any:
    """The value without halves of surrogate pairs: JSON and file names can carry them, and a file
    in UTF-8 cannot."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_encodable(item) for item in value)
    return value
