"""Prices that a user adds: `prices.toml` in the working folder, and in the configuration folder."""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import date as Day
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from swarm_bench.config.text_file import read_text, read_toml
from swarm_bench.core.errors import WrongFile
from swarm_bench.core.session.prices import HIGHEST, KINDS, Price, Prices
from swarm_bench.core.validation import MAX_PROBLEMS, describe_problem, format_value
from swarm_bench.models.prices import read_shipped
from swarm_bench.runtime.environment import home_folder

FILE = "prices.toml"
_KIND = "price table"
_OF_ALL = ("currency", "date")
"""Keys before the first model, which hold for all that have none of their own."""
_SHOWN_LETTERS = 100
"""Most characters of a name that are shown in an error."""
_Amount = Annotated[float, Field(strict=True, ge=0, le=HIGHEST, allow_inf_nan=False)]


class _Entry(BaseModel):
    """What stands in the file of a model."""

    model_config = ConfigDict(extra="forbid")

    input: _Amount
    cache_write: _Amount
    cache_read: _Amount
    output: _Amount
    currency: Literal["USD"] = "USD"
    date: Day | None = None


def read_prices(environment: Mapping[str, str] = os.environ) -> Prices:
    """Read all prices: those of the working folder win, then those of the user's configuration
    folder, then the shipped ones. Raises `ConfigError`."""
    folder = configuration_folder(environment)
    of_user = _read_prices(folder / FILE, f"user's {FILE}") if folder else {}
    return {**read_shipped(), **of_user, **_read_prices(Path(FILE), FILE)}


def configuration_folder(environment: Mapping[str, str]) -> Path | None:
    """Return where the user's settings of this program are; `None` for a user without a home."""
    folder, home = Path(environment.get("XDG_CONFIG_HOME", "")), home_folder()
    if not folder.is_absolute():
        if home is None:
            return None
        folder = home / ".config"
    return folder / "swarm-bench"


def _read_prices(path: Path, name: str) -> Prices:
    """Read a file, if it is there; `name` is what records call it."""
    if not os.path.lexists(path):
        return {}
    content = read_toml(path, _KIND)
    of_all = {key: content.pop(key) for key in _OF_ALL if key in content}
    prices = dict[str, Price]()
    problems = list[str]()
    for model, entry in content.items():
        try:
            price_entry = _Entry.model_validate(
                {**of_all, **entry} if isinstance(entry, dict) else entry
            )
        except ValidationError as error:
            its_own = entry if isinstance(entry, dict) else {}
            problems += [_clause(path, model, its_own, detail) for detail in error.errors()]
            continue
        dated = f"{name} ({price_entry.date})" if price_entry.date else name
        amounts = {kind: getattr(price_entry, kind) for kind in KINDS}
        prices[model] = Price(**amounts, table=dated)
    problems = list(dict.fromkeys(problems))
    if problems:
        omitted = (
            [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
        )
        raise WrongFile([*problems[:MAX_PROBLEMS], *omitted])
    return prices


def _clause(path: Path, model: str, entry: Mapping[str, Any], error: ErrorDetails) -> str:
    """Say what is wrong in the entry of a model, and where."""
    keys = [model, *map(str, error["loc"])]
    if keys[-1] in _OF_ALL and keys[-1] not in entry:
        keys = keys[-1:]
    line = _find_line(path, keys)
    location = f"{path}:{line}" if line else str(path)
    name = ".".join(keys)[:_SHOWN_LETTERS]
    return f"{location}: {name!r} {_problem(error)}"


def _problem(error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden" and isinstance(error["input"], dict):
        return 'is not a key that is known here; quote the id of a model, as ["gpt-4.1"]'
    if error["type"] == "extra_forbidden":
        return f"is no price; a model has {', '.join((*KINDS, *_OF_ALL))}"
    if error["type"] == "literal_error":
        return (
            f"cannot be {_format_value(error['input'])}: costs are in US dollars, so convert the "
            f"prices"
        )
    if error["type"].startswith("model_"):
        return 'must be a table, as ["gpt-4.1"] with its prices below'
    return describe_problem(error)


def _format_value(value: Any) -> str:
    return format_value(value)[:_SHOWN_LETTERS]


def _find_line(path: Path, keys: Sequence[str]) -> int:
    """Return the line of a key, or of the table that it should stand in, from 1; 0 if neither is
    found as a person writes it."""
    model, key = re.escape(keys[0]), re.escape(keys[1]) if len(keys) > 1 else None
    header = re.compile(rf"""[ \t]*\[?[ \t]*(["']?){model}\1[ \t]*[\].=]""")
    key_pattern = re.compile(rf"""[ \t]*(["']?){key}\1[ \t]*=""") if key else None
    table_line = 0
    for number, line in enumerate(read_text(path, _KIND).split("\n"), 1):
        if header.match(line):
            table_line = table_line or number
        elif table_line and line.lstrip().startswith("["):
            break
        if table_line and key_pattern and key_pattern.match(line):
            return number
    return table_line
