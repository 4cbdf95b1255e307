"""What is refused before anything is copied or started."""

from pathlib import Path

import pytest

from swarm_bench.app.running import agents
from swarm_bench.app.setup.resolving import resolve
from swarm_bench.core.errors import UsageError
from swarm_bench.core.session.designs import CALIBRATE, COMPARE


def test_one_mode_can_have_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").touch()
    given = {"modes": ["baseline"], "require_verdict": True}
    with pytest.raises(UsageError, match="nothing is compared; give two modes"):
        agents.plan_session(resolve(given, COMPARE, None), COMPARE)
    agents.plan_session(resolve(given, CALIBRATE, None), CALIBRATE)


def test_a_plan_refuses_what_its_options_rule_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recording.json").write_text('{"mcpServers": {"x": {"command": "true"}}}')
    given = {"modes": ["baseline", "./recording.json"], "record": True}
    with pytest.raises(UsageError, match="which is the folder of the mode 'recording'"):
        agents.plan_session(resolve(given, COMPARE, None), COMPARE)
