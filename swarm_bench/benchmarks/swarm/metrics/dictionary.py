"""What every key of the stored records means; `docs/metrics.md` is made from it.

A key alone is that of a metric, which says the rest.
"""

from collections.abc import Iterable
from dataclasses import replace

from swarm_bench.analysis.comparison.compared import RATIOS as COMPARED
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.benchmarks.swarm.metrics.dictionary_counters import FEEDBACK, SERVICE
from swarm_bench.benchmarks.swarm.metrics.swarm_dictionary import SWARM
from swarm_bench.core.metric import Metric
from swarm_bench.core.report.key import Key

_TRIAL = (
    ("mode", "name", "The retrieval set-up that the agent had."),
    ("agent", "number", "Number of the agent in its swarm, from 1."),
    ("task", "text", "The task as it stands in the prompt, without the mode's instructions."),
    ("duration_ms", "milliseconds", "Time as the agent itself measures it."),
    "duration_s",
    "num_turns",
    "input_tokens",
    "cache_read",
    ("cache_create", "tokens", "Sent and written to the prompt cache."),
    "output_tokens",
    "total_tokens",
    "effective_tokens",
    "cost",
    "result_lines",
    "compacted",
    ("schema_version", "number", "Version of this list of keys."),
    ("session", "name", "The session that the trial belongs to."),
    ("trial", "id", "Stable: the same mode, task, agent and run have it in every session."),
    ("attempt", "number", "1 for the first try; higher when --continue ran the trial again."),
    ("run", "number", "The repetition of the plan, from 1."),
    ("task_id", "id", "The task's id in its suite."),
    (
        "status",
        "label",
        "completed, budget-reached, agent-failed, provider-limited, harness-failed or cancelled; "
        "see below.",
    ),
    ("cause", "label", "The precise reason for the status; see below."),
    ("detail", "text", "One sentence on a failure, from the agent's own words where it has any."),
    ("exit_code", "number", "Exit code of the agent's process; negative for a signal."),
    ("program", "name", "The agent program."),
    ("program_version", "version", "Its version, as it says itself."),
    ("model", "name", "The model, as the agent names it."),
    (
        "fixed_rules",
        "true or false",
        "true: fixed rules and no language model decided what the agent did.",
    ),
    ("started_at", "time, UTC", "When the agent's process was started."),
    ("ended_at", "time, UTC", "When the last process of its tree had ended."),
    "wall_seconds",
    "api_seconds",
    "peak_memory_bytes",
    "cpu_seconds",
    ("tool_calls", "calls by name", "Calls of each tool, under the name the agent gives it."),
    ("tool_failures", "calls by name", "Those of them that came back with an error."),
    (
        "tool_unanswered",
        "calls by name",
        "Those of them that have no result in the transcript; null when the agent does not show "
        "its calls, or none before its result.",
    ),
    (
        "tool_seconds",
        "seconds by name",
        "By tool, the time in which at least one of its calls was open, from the call to its "
        "result: calls made together share their time. A tool is missing when one of its calls "
        "has no time.",
    ),
    (
        "tool_result_tokens",
        "tokens by name",
        "What the results of each tool put before the model, counted by us (utf8-bytes/4).",
    ),
    (
        "tool_answers",
        "object by name",
        "What each tool of an MCP server answered without an error: answers, empty, errors (in "
        "words), hidden (no text) and the images among them, bytes, and digests of different "
        "questions and answers (16 at most).",
    ),
    (
        "unusable_tools",
        "names",
        "Tools of the mode's servers that the agent says it had no way to use.",
    ),
    (
        "names_cut",
        "names",
        "Names of tools and servers that were shortened to 200 characters, or left out beyond the "
        "first 500 of a kind; (others) has the figures of those.",
    ),
    ("permission_denials", "calls by name", "Calls that the agent's program refused to make."),
    "retries",
    "compactions",
    ("subagents", "count", "Sub-agents that the agent started."),
    "all_in_tokens",
    (
        "turn_usage",
        "list",
        "Per request of the main conversation input, cache_read, cache_create and output, where "
        "the program gives them right.",
    ),
    "requests",
    (
        "turns_counted",
        "true or false",
        "true: the program keeps no turn budget, so swarm-bench counted its turns.",
    ),
    "mcp_calls",
    ("mcp_servers", "status by name", "MCP servers that the agent saw when it started."),
    (
        "retrieval",
        "label",
        "used, unused, not-connected, contaminated, not-given or unknown (swarm-bench docs "
        "evidence).",
    ),
    ("evidence", "object", "What the witnesses say, from which the label follows: see below."),
    (
        "backend",
        "name",
        "The retrieval program of the mode, with its version; null when the mode gives no tool.",
    ),
    ("cost_estimated", "true or false", "true: from a price table, and from no bill."),
    (
        "cost_unreliable",
        "true or false",
        "true: the program gave a price for a model of which it knows no price.",
    ),
    ("price_table", "name", "That price table."),
    ("token_counter", "name", "What counted the tokens, when it was not the provider."),
    ("rehearsal", "true or false", "true: the rehearsal server answered; no model was asked."),
    "rehearsal_requests",
    "rehearsal_faults",
    "rehearsal_request_tokens",
    "rehearsal_tool_tokens",
    "rehearsal_mcp_tokens",
    ("rehearsal_tools", "names", "The tools that were offered, as the model sees their names."),
    ("replayed", "id", "The session whose recording was played again."),
    "references",
    ("references_distinct", "count", "Different mentions of files, existing or not."),
    "references_existing",
    (
        "answer_digest",
        "digest",
        "Of the answer's text (SHA-256, the first 16 digits): equal for equal answers.",
    ),
    ("headings", "count", "Lines that are headings, outside of code fences."),
    ("bullets", "count", "Lines that begin a bullet (- or *), outside of code fences."),
    ("fences", "count", "Code fences."),
    "grounded",
    "structured",
    (
        "unscored_characters",
        "characters",
        "The end of an answer of more than 1,048,576 characters, which references, headings, "
        "bullets and fences leave out; null when there is none.",
    ),
    (
        "scores",
        "values by name",
        "By all other scorers, under the names that they state; null where a scorer failed or gave "
        "none. A line without any lacks this key.",
    ),
    (
        "missing_scores",
        "text by name",
        "Why a score is null, by its key. A line without any lacks this key.",
    ),
    (
        "score_failures",
        "text by name",
        "By scorer, why its scores are missing. A line without any lacks this key.",
    ),
)

_EVIDENCE = (
    (
        "connected",
        "names",
        "Servers of the mode that the agent's start event shows connected; null when it shows no "
        "server.",
    ),
    ("offered", "tools", "Tools of the mode's servers that were offered at the start."),
    ("foreign", "names", "Servers and tools that were seen and that the mode does not give."),
    (
        "calls",
        "calls",
        "Calls of the mode's tools in the transcript; null when it shows no calls.",
    ),
    ("failed", "calls", "Those of them that came back with an error."),
    (
        "unanswered",
        "calls",
        "Those of them that have no result; null when the transcript cannot show them.",
    ),
    (
        "retrieved",
        "calls",
        "Of them, the answered ones of tools that search or read; null when the transcript shows "
        "no calls.",
    ),
    (
        "unclear",
        "names",
        "Tools of the mode that answered and whose purpose is unclear.",
    ),
    (
        "others",
        "names",
        "Tools of the mode that answered and do not retrieve: status, index, help, changes.",
    ),
    (
        "start",
        "label",
        "agree, explained or contradict: how the start event fits the answered calls of the "
        "transcript; null when one of the two shows nothing.",
    ),
    (
        "counters",
        "label",
        "agree, explained or contradict: how the tool's counters fit the transcripts of the "
        "trial's swarm; null when there are none, or they were not read.",
    ),
    (
        "outside",
        "sentences",
        "Ways in which it seems to have reached a tool that its mode does not give; at most 20.",
    ),
    ("answers", "sentences", "Where a keyed task's agent may have read the answer, if anywhere."),
    ("why", "sentences", "One for each contradiction, and for each difference with a known rule."),
)

_OVERHEAD = (
    ("schema_version", "number", "Version of this list of keys."),
    ("session", "name", "The session that the measurement belongs to."),
    ("mode", "name", "The mode that was measured."),
    (
        "server_seconds",
        "seconds by name",
        "From the start of each server until it had answered initialize and tools/list.",
    ),
    ("tools", "tools", "Tools of all servers of the mode."),
    ("tool_tokens", "tokens", "Names, descriptions and schemas of these tools, counted by us."),
    (
        "server_instruction_tokens",
        "tokens",
        "What the servers tell a model about themselves, counted by us.",
    ),
    (
        "mode_instruction_tokens",
        "tokens",
        "The mode's instructions, which stand before every task, counted by us.",
    ),
    (
        "prompt_tokens",
        "tokens",
        "All input of the one request that an empty task makes, as the agent reports it.",
    ),
    ("prompt_cost", "US dollars", "What this request cost."),
    (
        "unexpected",
        "paths",
        "What its servers changed in the clone where they were greeted, and the mode's may_create "
        "does not say; at most 20.",
    ),
    ("problem", "text", "What could not be measured, and why."),
)


def _keys(entries: Iterable[str | tuple[str, str, str]]) -> tuple[Key, ...]:
    return tuple(_key(*([entry] if isinstance(entry, str) else entry)) for entry in entries)


def _key(key: str, unit: str = "", definition: str = "") -> Key:
    metric = None if definition else METRICS[key]
    return Key(
        key=key,
        unit=metric.unit if metric else unit,
        definition=metric.definition if metric else definition,
    )


TRIAL_KEYS = _keys(_TRIAL)
EVIDENCE_KEYS = _keys(_EVIDENCE)
SWARM_KEYS = _keys(SWARM)
OVERHEAD_KEYS = _keys(_OVERHEAD)
FEEDBACK_KEYS = _keys(FEEDBACK)
SERVICE_KEYS = _keys(SERVICE)
RATIOS: tuple[Metric, ...] = tuple(
    replace(metric, unit="ratio", definition=f"{metric.key} of a trial.")
    for metric in METRICS.named(COMPARED)
)
"""The rows of the headline."""
