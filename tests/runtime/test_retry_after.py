from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from swarm_bench.runtime.retry_after import seconds_until


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("Mon, 1 Jan 2001 00:00:00 GMT", 0.0),
        ("Mon, 1 Jan 2001 00:00:00 -0000", 0.0),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("1e5", None),
        ("9" * 5_000, None),
        ("Mon, 1 Jan 99999999999 00:00:00 GMT", None),
        ("Mon, 1 Jan 2030 00:00:00 +99999999999999", None),
    ],
)
def test_seconds_and_dates_are_read(header: str, seconds: float | None) -> None:
    assert seconds_until(header) == seconds


def test_a_date_is_so_far_away() -> None:
    moment = datetime.now(UTC) + timedelta(seconds=90)
    assert 80 < (seconds_until(format_datetime(moment, usegmt=True)) or 0) <= 90
