"""Tables for the page that documents the figures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tabulate import tabulate

from swarm_bench.core.metric import Metric
from swarm_bench.core.ports import Abilities


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key of a stored file, for the page that documents it."""

    key: str
    unit: str
    definition: str


def key_table(keys: Iterable[Key]) -> str:
    """List the keys of a stored file."""
    return _table(["Key", "Unit"], [(f"`{key.key}`", key.unit, key.definition) for key in keys])


def metric_table(metrics: Iterable[Metric]) -> str:
    """List the rows of a table of the summary, each with the key by which it can be named, if it
    is of trials."""
    rows = [
        (
            metric.title,
            f"`{metric.key}`" if metric.is_of_trials else "",
            metric.unit,
            metric.definition,
        )
        for metric in metrics
    ]
    return _table(["Row", "Key", "Unit"], rows)


def cause_table(causes: Iterable[tuple[str, str, str, str, bool]]) -> str:
    """List cause, status, label, meaning, and whether the trial is run again."""
    rows = [
        (f"`{cause}`", f"`{status}`", label, meaning, "run again" if rerun else "a result")
        for cause, status, label, meaning, rerun in causes
    ]
    return tabulate(
        rows, headers=["Cause", "Status", "Shown as", "The trials ...", ""], tablefmt="github"
    )


def abilities_table(agents: Mapping[str, Abilities]) -> str:
    """Show what each adapter gives, by the name of the agent."""
    rows = [
        [
            f"`{name}`",
            abilities.tested_version,
            *(ability or "-" for ability in _list_abilities(abilities)),
        ]
        for name, abilities in agents.items()
    ]
    headers = ["Agent", "Verified with", "Turn limit", "Cost", "Cache tokens", "Tool calls"]
    headers += ["Compactions", "Isolation"]
    return tabulate(rows, headers=headers, tablefmt="github", disable_numparse=True)


def fault_table(faults: Mapping[str, str]) -> str:
    """List the faults that the rehearsal server can play, by name."""
    rows = [(f"`{name}`", description) for name, description in faults.items()]
    return tabulate(rows, headers=["Fault", "What the server does"], tablefmt="github")


def limits_list(agents: Mapping[str, Abilities]) -> str:
    """List what each program cannot do, or does unlike the others."""
    parts = [
        "\n".join([f"**{name}**", "", *(f"- {limit}" for limit in abilities.limits)])
        for name, abilities in agents.items()
        if abilities.limits
    ]
    return "\n\n".join(parts)


def _list_abilities(abilities: Abilities) -> tuple[str | None, ...]:
    return (
        abilities.turn_limit,
        abilities.cost,
        abilities.cache_tokens,
        abilities.tool_calls,
        abilities.compactions,
        abilities.isolation,
    )


def _table(headers: list[str], rows: Iterable[tuple[str, ...]]) -> str:
    return tabulate([*rows], headers=[*headers, "Definition"], tablefmt="github")
