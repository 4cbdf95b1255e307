"""A plan as it stands in a terminal."""

from swarm_bench.core.report.document import Grid
from swarm_bench.core.report.plan import Entry, Plan
from swarm_bench.reports.plan_text import render_plan, render_plans

PLAN = Plan(
    title="Swarms of 2",
    entries=(
        Entry(label="Repository", texts=("/a\x1b[2J",)),
        Entry(label="", texts=("b", "c")),
        Entry(label="Mode", texts=("m",), parts=(Entry(label="server x", texts=("run y",)),)),
    ),
    trials=Grid(headers=("Run", "Mode"), labels=2, rows=(("1", "m\n"),)),
    omitted="and 3 more",
)
TEXT = """\
Swarms of 2
-----------
Repository: /a [2J
            b
            c
Mode:       m
            server x:     run y
  Run  Mode
-----  ------
    1  m
and 3 more
"""


def test_a_plan_lays_out_what_it_is_given() -> None:
    assert render_plan(PLAN) == TEXT


def test_several_plans_have_what_they_come_to_below_them() -> None:
    total = (Entry(label="All", texts=("6",)), Entry(label="Cost", texts=("none",)))
    assert render_plans([PLAN, PLAN], total) == f"{TEXT}\n{TEXT}\nAll:  6\nCost: none\n"


def test_a_terminal_gets_what_somebody_decides_by_last() -> None:
    rows = tuple((str(number), "m") for number in range(60))
    trials = Grid(headers=("Run", "Mode"), labels=2, rows=rows)
    long = "as many words as a narrow terminal has no room for in one line of it"
    entries = (
        Entry(label="Cost", texts=("6 paid trials",)),
        Entry(label="Repository", texts=("/a\x1b[2J",)),
        Entry(label="", texts=(long,)),
        Entry(label="Trials", texts=("6 to run",)),
        Entry(label="Mode", texts=("m",), parts=(Entry(label="server x", texts=("run y",)),)),
        Entry(label="Time", texts=("at most 4 h",)),
    )
    lines = render_plan(Plan(title="", entries=entries, trials=trials, omitted=""), 40).splitlines()
    assert lines[0].split() == ["Run", "Mode"]
    assert lines[-3:] == ["Cost:    6 paid trials", "Trials:  6 to run", "Time:    at most 4 h"]
    assert len(lines) < 24
    assert "gets more of them" in " ".join(lines)
    assert max(map(len, lines)) <= 40
    assert not {"many", "narrow", "terminal", "room", "line"} - set(" ".join(lines).split())
    assert any(line.split() == ["server", "x:", "run", "y"] for line in lines)
    assert "\x1b" not in "".join(lines)


def test_what_several_plans_come_to_is_the_last_line_of_a_terminal() -> None:
    total = (Entry(label="All sizes", texts=("6 trials",)),)
    shown = render_plans([PLAN, PLAN], total, 60)
    assert shown.splitlines()[-1] == "All sizes:  6 trials"
    assert shown.count("Swarms of 2") == 2
