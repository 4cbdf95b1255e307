"""What is refused before anything is copied or started."""

from pathlib import Path

import pytest

from swarm_bench.app import session
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import CALIBRATE, COMPARE


def test_one_mode_can_have_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").touch()
    given = {"modes": ["baseline"], "require_verdict": True}
    with pytest.raises(UsageError, match="nothing is compared; give two modes"):
        session.planned(resolve(given, COMPARE, None), COMPARE)
    session.planned(resolve(given, CALIBRATE, None), CALIBRATE)
