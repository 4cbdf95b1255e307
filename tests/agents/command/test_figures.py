"""Figures that programs print for people."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarm_bench.agents.command.figures import Printed, read_count, read_dollars, read_milliseconds
from swarm_bench.agents.reading.json_lines import as_count
from tests.agents.command.command_files import agent, read


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("7", 7), ("1234", 1234), ("1e3", 1000), ("12.0", 12), ("1234.000", 1234), ("1,234", 1234),
        ("1,234,567", 1234567), ("1.234.567", 1234567), ("1 234", 1234), ("12\u202f345", 12345),
        ("1\u00a0234\u00a0567", 1234567), ("1_234", 1234), ("1'234", 1234), ("12.000", None),
        ("1.234", None), ("1,23", None), ("0,123", None), ("1.2k", None), ("12k", None),
        ("1.5M", None), ("1_2", None), ("12,34,567", None), ("1,234.567.890", None), ("~12", None),
        ("-3", None), ("", None), ("nan", None), ("inf", None), ("0x1f", None), ("2.5", None),
    ],
)  # fmt: skip
def test_a_count(text: str, count: float | None) -> None:
    assert as_count(read_count(Printed(value=text))) == count


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("0.04", 0.04), ("$0.04", 0.04), ("US$ 0.04", 0.04), ("0.04 USD", 0.04), ("$0,04", 0.04),
        ("0,123", 0.123), ("1.234,56", 1234.56), ("$1,234.56", 1234.56), ("4e-05", 4e-05),
        (".5", 0.5), ("1,234", None), ("€0.04", None), ("0,04 €", None), ("4 ¢", None),
        ("CA$1.00", None), ("$1.2k", None), ("-$0.04", None),
    ],
)  # fmt: skip
def test_a_cost(text: str, cost: float | None) -> None:
    assert read_dollars(Printed(value=text)) == cost


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("3", 3), ("3 ms", 3), ("2.5 s", 2500), ("2,5s", 2500), ("4m12s", 252_000),
        ("1h 2m 3s", 3_723_000), ("1 min 5 sec", 65_000), ("800µs", 0.8), ("5s 4m", None),
        ("3 parsecs", None), ("4:12", None), ("3s?", None),
    ],
)  # fmt: skip
def test_a_time(text: str, milliseconds: float | None) -> None:
    time = read_milliseconds(Printed(value=text))
    assert time == (None if milliseconds is None else pytest.approx(milliseconds))


TEXT = """Tokens: 12.000 in, 1.2k out; cached 1 234 567; turn 3/10; table 1500 300
Spent: €0,04 today, $0,07 in all, $1.5k a year, 2 cents
Took 4m12s, then 2.5 s, then 950 ms; 1e3 more; version 1.2.3
usage 120,456
"""


@pytest.mark.parametrize(
    ("key", "pattern", "figure"),
    [
        ("turns", r"Tokens: (\d+)", None),
        ("turns", r"(\d+) in", None),
        ("turns", r"([\d.]+) in", None),
        ("turns", r"([\d.]+)k? out", None),
        ("turns", r"(\d+)k out", None),
        ("turns", r"cached (\d+)", None),
        ("turns", r"(\d+); turn", None),
        ("turns", r"cached ([\d ]+)", 1234567),
        ("turns", r"turn (\d+)", 3),
        ("turns", r"table (\d+)", 1500),
        ("turns", r"(\d)e3 more", None),
        ("turns", r"version (\d+)", None),
        ("turns", r"usage (\d+),(\d+)", 120),
        ("turns", r"usage (\d+)", None),
        ("cost", r"Spent: .(\S+)", None),
        ("cost", r"\$(\d+) in", None),
        ("cost", r"\$([\d.]+).* in all", None),
        ("cost", r"\$([\d,]+) in all", 0.07),
        ("cost", r"\$([\d.]+)k? a year", None),
        ("cost", r"(\d) cents", None),
        ("duration_ms", r"Took (\d+)", None),
        ("duration_ms", r"(\d+)s,", None),
        ("duration_ms", r"Took (\S+),", 252_000),
        ("duration_ms", r"then ([\d.]+) s", 2500),
        ("duration_ms", r"(\d+) ms", 950),
    ],
)
def test_a_part_of_a_figure_is_none(
    tmp_path: Path, key: str, pattern: str, figure: float | None
) -> None:
    output: dict[str, Any] = {"format": "text", "answer": {"pattern": "^Tokens: .*$"}}
    output[key] = {"pattern": pattern}
    seen = read(tmp_path, agent(tmp_path, output=output), TEXT)
    assert getattr(seen, key) == figure


@pytest.mark.parametrize(
    ("key", "pattern", "text", "figure"),
    [
        ("duration_ms", r"Time: (\d+)", "Time: 45 segundos", None),
        ("duration_ms", r"Time: (\d+)", "Time: 45 分", None),
        ("duration_ms", r"Time: (\d+)", "Time: 3 weeks", None),
        ("duration_ms", r"Time: (\d+)", 'Time: 45"', None),
        ("duration_ms", r"Time: (\d+)", "Time: 2′10″", None),
        ("duration_ms", r"Time: (\S+)", "Time: 2m 10s", None),
        ("duration_ms", r"Time: (\d+)", "Time: 2 minutes and 10 seconds", None),
        ("duration_ms", r"Time: (\d+)", "Time: 2 minutes", 120_000),
        ("duration_ms", r"Time: (\d+)", "Time: 45", 45),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: 0.07 kr", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: 7 credits", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: ₿0.07", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: 0.07 USD cents", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: <$0.07", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: ~ $0.07", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: -$0.07", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: $0.07–$0.09", None),
        ("cost", r"\$([\d.]+)", "Cost: $0.07-0.09", None),
        ("cost", r"Cost: \D*(\d+)", "Cost: $.07", None),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: $0.07 so far", 0.07),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: 0.07 dollars", 0.07),
        ("cost", r"Cost: \D*([\d.]+)", "Cost: 0.07", 0.07),
        ("turns", r"Turns: (\d+)", "Turns: 0x2A", None),
        ("turns", r"Turns: (\d+)", "Turns: 12ktok", None),
        ("turns", r"Turns: (\d+)", "Turns: 1٬234", None),
        ("turns", r"Turns: (\d+)", "Turns: 3 lakh", None),
        ("turns", r"Turns: (\d+)", "Turns: 12 tokens", 12),
    ],
)
def test_a_unit_that_nobody_knows_makes_a_figure_none(
    tmp_path: Path, key: str, pattern: str, text: str, figure: float | None
) -> None:
    output: dict[str, Any] = {"format": "text", "answer": {"pattern": "."}}
    output[key] = {"pattern": pattern}
    seen = read(tmp_path, agent(tmp_path, output=output), text + "\n")
    assert getattr(seen, key) == figure


@given(
    st.integers(min_value=0, max_value=10**12),
    st.sampled_from([",", "_", " ", "\u202f", "\u00a0", "'", "."]),
)
def test_a_number_in_groups_is_read_right_or_not_at_all(number: int, separator: str) -> None:
    printed = f"{number:,}".replace(",", separator)
    assert read_count(Printed(value=printed)) in (number, None)
    assert read_count(Printed(value=str(number))) == number


@given(st.decimals(min_value=0, max_value=10**6, places=2), st.sampled_from([".", ","]))
def test_a_fraction_is_read_right(number: Any, point: str) -> None:
    assert read_dollars(Printed(value=str(number).replace(".", point))) == float(number)
