"""Whether the real canopy took part: without it, the other tests here say nothing of it."""

import pytest

from tests.programs.canopy.protocol.conftest import PROGRAMS, real


def test_the_real_canopy_is_named() -> None:
    if real() is None:
        pytest.skip(f"the real canopy is left out: {' and '.join(PROGRAMS)} do not name it")
