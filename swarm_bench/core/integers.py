"""Whole numbers of any length: Python refuses those of more than 4,300 digits in texts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def allow_any_length() -> Iterator[None]:
    """Read and write whole numbers of any length in the block, as rows of a data set have them.
    What servers and programs say stays limited: to read such a number takes long."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)
