"""Time after which a server that is busy wants to be asked again."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds_until(header: str) -> float | None:
    """Read a `Retry-After`, which is seconds or a date; `None` for anything else."""
    try:
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", header.strip(), re.ASCII):
            return float(header)
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
