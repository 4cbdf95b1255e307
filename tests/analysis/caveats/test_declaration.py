"""What was named before the first trial, and whether the verdict is on that."""

import hashlib
import json
from typing import Any

from swarm_bench.core.report.report import Report
from swarm_bench.core.session.preregistration import Beforehand
from tests.builders.experiments import experiment
from tests.builders.golden import Sentences
from tests.builders.keyed import TASKS, trials_of
from tests.builders.reports import render, summarise
from tests.builders.sessions import make_session

RECALLS = {"baseline": (0.8, 1.0), "canopy": (0.9, 1.0)}


def named(**settings: Any) -> dict[str, Any]:
    """Name what a session is on, otherwise than by default where a setting is given."""
    values: dict[str, Any] = {
        "primary": "effective_tokens", "margin": 0.1, "quality": None, "quality_margin": 0.1,
        "modes": ("baseline", "canopy"), "tasks": ("a", "b"), "runs": 1,
    }  # fmt: skip
    content = Beforehand(**{**values, **settings})
    return {**content.model_dump(mode="json"), "sha256": content.digest}


def shown(source: str = "report", **settings: Any) -> Report:
    stored = {name: {"value": value, "source": source} for name, value in settings.items()}
    session = make_session(*trials_of(RECALLS), tasks=TASKS, beforehand=named(), settings=stored)
    return summarise(session)


def test_a_reader_can_recompute_the_checksum() -> None:
    stored = json.loads(experiment().preregister().model_dump_json())["beforehand"]
    checksum = stored.pop("sha256")
    text = json.dumps(stored, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == checksum


def test_what_was_named_stands_at_the_end_of_the_head(golden: Sentences) -> None:
    report = shown()
    last = report.head[-1][0]
    assert last.label == "Named beforehand"
    golden(last.value)
    assert report.banner is None
    assert not any("changed after" in warning for warning in report.warnings)


def test_settings_that_report_was_given_make_the_verdict_exploratory(golden: Sentences) -> None:
    report = shown(primary="cost", margin=0.2)
    assert report.banner
    golden(report.banner)
    assert not any("changed after" in warning for warning in report.warnings)
    assert render(report).index("Exploratory") < render(report).index("## Headline")


def test_settings_that_were_edited_are_named(golden: Sentences) -> None:
    report = shown("default", primary="cost")
    assert report.banner
    golden(report.warnings[0])


def test_a_checksum_that_does_not_fit_is_named(golden: Sentences) -> None:
    forged = {**named(), "primary": "cost"}
    settings = {"primary": {"value": "cost", "source": "default"}}
    session = make_session(*trials_of(RECALLS), tasks=TASKS, beforehand=forged, settings=settings)
    report = summarise(session)
    golden(report.warnings[0])


def test_a_session_that_grew_says_so(golden: Sentences) -> None:
    session = make_session(
        *trials_of(RECALLS), tasks=TASKS, runs=3, order=[["baseline", "canopy"]] * 3,
        beforehand=named(),
    )  # fmt: skip
    report = summarise(session)
    golden(*report.notes)
    assert report.gravest[0] in report.notes, "a terminal says it beside the verdict"


def test_a_control_that_was_added_is_no_second_look() -> None:
    modes = ("baseline", "canopy", "placebo")
    of_two = {**named(), "modes": ["baseline", "canopy"]}
    session = make_session(*trials_of(RECALLS), tasks=TASKS, modes=modes, beforehand=of_two)
    assert not [note for note in summarise(session).notes if "extended after it began" in note]


def test_an_older_session_has_nothing_to_compare_with() -> None:
    settings = {"primary": {"value": "cost", "source": "default"}}
    report = summarise(make_session(*trials_of(RECALLS), tasks=TASKS, settings=settings))
    assert report.banner is None
    assert report.head[-1][0].label != "Named beforehand"
