"""How the sessions so far are listed."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swarm_bench.app.stored.past import PastSession
from swarm_bench.cli.commands import app
from swarm_bench.cli.sessions.listing import _lay_out

PAST = [
    PastSession(
        name="swarm-20261126-115808", id="15c24326", created_at=datetime(2026, 11, 26, tzinfo=UTC),
        command="compare", state="finished", ended=108, planned=108, cost=5.25, unpriced=1,
        verdict="canopy: helps; canopy-service: cannot tell",
    ),
    PastSession(name="damaged", id=None, state="unreadable", problem="no JSON; restore it"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("width", "headers"),
    [
        (None, "session id started command state trials cost verdict"),
        (160, "session id started command state trials cost verdict"),
        (100, "session command state trials cost verdict"),
        (60, "session state verdict"),
        (40, "session"),
    ],
)
def test_columns_go_by_priority(width: int | None, headers: str) -> None:
    rows = _lay_out(PAST, width)
    assert rows[0].split() == [*headers.split(), *(["verdict"] if width == 40 else [])]
    assert all(len(row) <= (width or 200) for row in rows)
    assert rows[1].startswith("swarm-20261126-115808  ")
    assert ("cannot tell" in rows[1]) == (width in (None, 160))


def test_an_address_that_all_arms_share_is_left_out() -> None:
    at = "http://127.0.0.1:8941/v1#"
    verdict = f"{at}v2: helps; {at}large: unclear"
    (_, row) = _lay_out([replace(PAST[0], verdict=verdict, shared=at)], 100)
    assert row.endswith("v2: helps; large: unclear")


def test_a_pipe_gets_plain_columns_or_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    absent = CliRunner().invoke(app, ["list"])
    assert absent.exit_code != 0
    (tmp_path / "results").mkdir()
    empty = CliRunner().invoke(app, ["list"])
    assert (empty.exit_code, empty.stdout) == (0, "")
    damaged = tmp_path / "results" / "damaged" / "experiment.json"
    damaged.parent.mkdir()
    damaged.write_text("{")
    plain = CliRunner().invoke(app, ["list"]).stdout.splitlines()
    assert plain[0].split() == ["session", "id", "started", "command", "state", "trials", "verdict"]
    assert plain[1].split()[:5] == ["damaged", "-", "-", "-", "unreadable"]
    (session,) = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
    assert (session["name"], session["state"]) == ("damaged", "unreadable")
