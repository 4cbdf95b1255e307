"""`docs/metrics.md` lists what the code stores and prints.

`make golden` writes its tables anew.
"""

import os
import re
from pathlib import Path

import pytest

from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.metrics.tool_use import OVERHEAD, TOOLS
from swarm_bench.core.session.records import Evidence, SwarmRecord, TrialRecord
from swarm_bench.core.status import CONSEQUENCES
from swarm_bench.core.treatment.overhead import Overhead
from tests.builders.dictionary import (
    EVIDENCE_KEYS,
    FEEDBACK_KEYS,
    OVERHEAD_KEYS,
    RATIOS,
    SERVICE_KEYS,
    SWARM_KEYS,
    TRIAL_KEYS,
)
from tests.builders.reference import cause_table, key_table, metric_table

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"

EXPECTED = {
    "metrics.jsonl": key_table(TRIAL_KEYS),
    "evidence": key_table(EVIDENCE_KEYS),
    "causes": cause_table(
        (cause, one.status, one.label, one.meaning, one.rerun)
        for cause, one in CONSEQUENCES.items()
    ),
    "retrieval.jsonl": key_table(SWARM_KEYS),
    "overhead.jsonl": key_table(OVERHEAD_KEYS),
    "feedback": key_table(FEEDBACK_KEYS),
    "service": key_table(SERVICE_KEYS),
    **{title: metric_table(metrics) for title, metrics in METRICS.tables.items()},
    "Ratios": metric_table(RATIOS),
    "Tools": metric_table(TOOLS),
    "Fixed overhead": metric_table(OVERHEAD),
}


def between(name: str) -> re.Pattern[str]:
    mark = re.escape(name)
    return re.compile(f"(?<=<!-- begin {mark} -->\n)(.*?)(?=<!-- end {mark} -->)", re.DOTALL)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_page_has_the_table(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if "RENEW" in os.environ:
        page = between(name).sub(lambda _: f"\n{EXPECTED[name]}\n\n", page)
        PAGE.write_text(page, encoding="utf-8")
    found = between(name).search(page)
    assert found is not None
    assert found[0].strip() == EXPECTED[name]


def test_every_key_of_the_records_is_documented_in_its_order() -> None:
    assert [one.key for one in TRIAL_KEYS] == list(TrialRecord.model_fields)
    assert [one.key for one in EVIDENCE_KEYS] == list(Evidence.model_fields)
    assert [one.key for one in SWARM_KEYS] == list(SwarmRecord.model_fields)
    assert [one.key for one in OVERHEAD_KEYS] == list(Overhead.model_fields)
