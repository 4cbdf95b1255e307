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
