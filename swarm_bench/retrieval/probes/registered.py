"""The probes by name: those of swarm-bench, of other packages, and of the user's own."""

import re
from collections.abc import Iterable, Mapping

from swarm_bench.core import registry
from swarm_bench.core.errors import ConfigError, SwarmBenchError, UnknownName, described
from swarm_bench.core.ports import Probe
from swarm_bench.core.session.experiment import Experiment, Mode
from swarm_bench.core.treatment.counters import Counters
from swarm_bench.retrieval.probes.feedback import FeedbackProbe
from swarm_bench.retrieval.probes.service_metrics import ServiceMetricsProbe

SHIPPED: Mapping[str, Probe] = {
    probe.name: probe for probe in (FeedbackProbe(), ServiceMetricsProbe())
}
"""A probe that comes with swarm-bench is a line here."""
_FILE = re.compile(r"[a-z][a-z0-9-]{0,60}-metrics")


def check_name(word: str) -> str:
    """Check that a mode file can name a probe so; no code is loaded. Raises `UnknownName`."""
    names = {*SHIPPED, *(plugin.name for plugin in registry.list_plugins("probes"))}
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
    factory = registry.load("probes", word)
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
    """Return what a probe counts, as the session says; `None` when nobody knows. Loads what is
    installed, and nothing that a session names besides."""
    if word in SHIPPED:
        return SHIPPED[word].counters
    if word in experiment.counters:
        return experiment.counters[word]
    try:
        return None if ":" in word else load(word).counters
    except SwarmBenchError:
        return None
