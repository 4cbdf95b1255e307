"""The probes by name: those of swarm-bench, of other packages, and of the user's own. As their code
may be somebody else's, what is read from one is checked, and a failure is a missing reading."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from swarm_bench.core import entry_points
from swarm_bench.core.errors import ConfigError, SwarmBenchError, UnknownName, described
from swarm_bench.core.ports import Probe, ProbeContext
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.core.treatment.counting import Expected, Transcripts
from swarm_bench.retrieval.probes.feedback import FeedbackProbe
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe

SHIPPED: Mapping[str, Probe] = {
    probe.name: probe for probe in (FeedbackProbe(), ServiceMetricsProbe())
}
"""A probe that comes with swarm-bench is a line here."""
_FILE = re.compile(r"[a-z][a-z0-9-]{0,60}-metrics")


def check_name(word: str) -> str:
    """Check that a mode file can name a probe so; no code is loaded. Raises `UnknownName`."""
    names = {*SHIPPED, *(plugin.name for plugin in entry_points.list_plugins("probes"))}
    if ":" not in word and word not in names:
        raise UnknownName("probe", word, names)
    return word


def load_probes(modes: Iterable[Mode]) -> dict[str, Probe]:
    """Load the probes of a session by their names in mode files: those of all its modes, and the
    shipped probes. Raises `UsageError`."""
    other_words = {word for mode in modes for word in mode.probes} - set(SHIPPED)
    probes = {**SHIPPED, **{word: load(word) for word in sorted(other_words)}}
    files = dict[str, str]()
    for word, probe in probes.items():
        if (first_word := files.setdefault(probe.file, word)) != word:
            raise ConfigError(
                f"The probes {first_word!r} and {word!r} write the same file, {probe.file}.json; "
                "rename one of them"
            )
    return probes


def load(word: str) -> Probe:
    """Load the probe that a word stands for. Raises `UnknownName`, and `ConfigError` for what is
    no probe."""
    factory = entry_points.load("probes", word)
    try:
        probe = factory()
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything
        raise ConfigError(
            f"{word!r} cannot be made into a probe: {described(error)}; fix it"
        ) from error
    if not isinstance(probe, Probe) or not isinstance(probe.counters, Counters):
        raise ConfigError(
            f"{word!r} is no probe: it needs all that the role in swarm_bench/core/ports.py has"
        )
    if not _FILE.fullmatch(str(probe.file)):
        raise ConfigError(f"{word!r}: {probe.file!r} cannot be its file; end it with -metrics")
    return probe


def list_stored_counters(probes: Mapping[str, Probe]) -> dict[str, Counters]:
    """Return what a session stores of its probes; the shipped ones are not stored."""
    return {name: probe.counters for name, probe in probes.items() if name not in SHIPPED}


def find_counters(experiment: Experiment, word: str) -> Counters | None:
    """Return what a probe counts, as the session says; `None` when that is unknown. Loads what is
    installed, and nothing that a session names besides."""
    if word in SHIPPED:
        return SHIPPED[word].counters
    if word in experiment.counters:
        return experiment.counters[word]
    try:
        return None if ":" in word else load(word).counters
    except SwarmBenchError:
        return None


Reading = dict[str, Any] | None
FAILED: Reading = {}
"""A reading that failed. `None` is that of a tool that has made no counters yet."""
READING_SECONDS = 10
"""How long a probe may take, also one whose service sends its answer byte by byte."""


@dataclass(frozen=True, kw_only=True)
class ProbeReading:
    """What a probe read."""

    is_there: bool
    """Whether there was something to read."""
    reading: Reading = None
    problem: str = ""
    """Reason why there is no reading, where that is a failure."""


async def read_probe(probe: Probe, context: ProbeContext) -> ProbeReading:
    """Read the counters now."""
    try:
        if not probe.reads(context):
            return ProbeReading(is_there=False)
        with anyio.move_on_after(READING_SECONDS):
            reading = await probe.snapshot(context)
            return ProbeReading(
                is_there=True, reading=None if reading is None else _convert(reading)
            )
        return ProbeReading(is_there=True, problem=f"no answer within {READING_SECONDS} s")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # somebody else's code may raise anything
        return ProbeReading(is_there=True, problem=described(error))


def compute_figures(probe: Probe, old: Reading, new: Reading) -> Reading:
    """Compute what happened between two readings; what is no figure is missing."""
    if FAILED in (old, new):
        return None
    try:
        change = probe.difference(old, new)
        return None if change is None else {str(key): _check_figure(change[key]) for key in change}
    except (Exception, SystemExit):  # noqa: BLE001  # somebody else's code may raise anything
        return None


def make_content(probe: Probe, old: Reading, new: Reading, change: Reading) -> Reading:
    """Make the content of its file; `None` without figures, or when it cannot be written."""
    try:
        return None if change is None else _convert(probe.content(old, new, change))
    except (Exception, SystemExit):  # noqa: BLE001  # somebody else's code may raise anything
        return None


def expect_counts(probe: Probe, transcripts: Transcripts) -> Mapping[str, Expected]:
    """Ask what its counters may show for the calls; nothing, and no comparison, if it fails."""
    try:
        return probe.expected(transcripts)
    except (Exception, SystemExit):  # noqa: BLE001  # somebody else's code may raise anything
        return {}


def _convert(reading: Any) -> dict[str, Any]:
    """Convert it to what can be stored. Raises `ValueError` and `TypeError`."""
    converted = json.loads(json.dumps(reading, allow_nan=False))
    if not isinstance(converted, dict):
        raise TypeError("a reading has names")
    return converted


def _check_figure(value: object) -> int | float | None:
    sound = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if sound and isinstance(value, int | float) else None
