"""What every key of the stored records means; `docs/metrics.md` is made from it.

Of the others, a figure of agents has its meaning where it is declared, and a metric its own.
"""

from collections.abc import Iterable
from dataclasses import replace

from swarm_bench.analysis.comparison.headline_metrics import RATIOS as COMPARED
from swarm_bench.benchmarks.swarm.metrics.catalogue import METRICS
from swarm_bench.core.figures import Meaning
from swarm_bench.core.metric import Metric
from swarm_bench.core.session.records import SwarmRecord, TrialRecord
from swarm_bench.core.stored import Stored
from swarm_bench.core.treatment.evidence import Evidence
from swarm_bench.core.treatment.overhead import Overhead
from tests.builders.reference import Key

_TRIAL = (
    ("mode", "name", "The retrieval set-up that the agent had."),
    ("agent", "number", "Number of the agent in its swarm, from 1."),
    ("task", "text", "The task as it stands in the prompt, without the mode's instructions."),
    ("cache_create", "tokens", "Sent and written to the prompt cache."),
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
    ("exit_code", "number", "Exit code of the agent's process; negative for a signal."),
    ("program", "name", "The agent program."),
    ("started_at", "time, UTC", "When the agent's process was started."),
    ("ended_at", "time, UTC", "When the last process of its tree had ended."),
    (
        "tool_answers",
        "object by name",
        "What each tool of an MCP server answered without an error: answers, empty, errors (in "
        "words), hidden (no text) and the images among them, bytes, and digests of different "
        "questions and answers (16 at most).",
    ),
    (
        "turn_usage",
        "list",
        "Per request of the main conversation input, cache_read, cache_create and output, where "
        "the program gives them right.",
    ),
    (
        "turns_counted",
        "true or false",
        "true: the program keeps no turn budget, so swarm-bench counted its turns.",
    ),
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
    ("rehearsal", "true or false", "true: the rehearsal server answered; no model was asked."),
    ("rehearsal_tools", "names", "The tools that were offered, as the model sees their names."),
    ("replayed", "id", "The session whose recording was played again."),
    ("references_distinct", "count", "Different mentions of files, existing or not."),
    (
        "answer_digest",
        "digest",
        "Of the answer's text (SHA-256, the first 16 digits): equal for equal answers.",
    ),
    ("headings", "count", "Lines that are headings, outside of code fences."),
    ("bullets", "count", "Lines that begin a bullet (- or *), outside of code fences."),
    ("fences", "count", "Code fences."),
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
    ("node", "name", "Machine that it ran on; without this key that of the session."),
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


_SWARM = (
    ("schema_version", "number", "Version of this list of keys."),
    ("session", "name", "The session that the swarm belongs to."),
    ("swarm", "id", "Stable, like that of a trial."),
    ("mode", "name", "The mode of its agents."),
    ("run", "number", "The repetition of the plan, from 1."),
    ("attempt", "number", "1 for the first try; higher after --continue."),
    ("agents", "numbers", "The agents that ran in it."),
    ("started_at", "time, UTC", "When its workspace was begun."),
    ("ended_at", "time, UTC", "When everything of it had ended."),
    ("workspace_seconds", "seconds", "To make the workspace."),
    ("service_seconds", "seconds", "From starting the services until they answered."),
    (
        "index_bytes",
        "bytes",
        "What the clone and the home of the servers had more when the agents started than before, "
        "if an index was built meanwhile.",
    ),
    (
        "index_copied",
        "true, false",
        "Whether the preparation was copied from an earlier clone; index_seconds are of then.",
    ),
    ("warm_up_seconds", "seconds", "What the mode's warm_up took before the agents started."),
    (
        "brought",
        "paths",
        "Folders that the mode's may_create names and the repository itself has; at most 20.",
    ),
    (
        "unexpected",
        "paths",
        "What appeared, changed or disappeared in the clone before the agents started, and the "
        "mode's may_create does not say; at most 20.",
    ),
    ("unexpected_count", "number", "How many such paths there are; missing if nobody looked."),
    (
        "instructions_changed",
        "paths",
        "Which of CLAUDE.md, AGENTS.md, .mcp.json, git's hooks and the like appeared, changed or "
        "disappeared while the agents ran; at most 20.",
    ),
    ("teardown_failure", "text", "Why the mode's teardown failed."),
    ("backend", "name", "The retrieval program; a service that names itself, by that name."),
    ("before", "counters by probe", "The tool's counters before the agents started."),
    ("after", "counters by probe", "The same after they had ended."),
    ("difference", "counters by probe", "What the swarm added: see below."),
    (
        "counters",
        "label",
        "agree, explained (a known rule of the counters makes the difference) or contradict: how "
        "the counters fit the transcripts; null when nothing can tell.",
    ),
    ("counters_why", "sentences", "One for each contradiction or explained difference."),
    ("service_healthy", "true or false", "false when the service died; null without a service."),
    ("failure", "text", "Why the swarm could not run or broke off."),
    ("node", "name", "Machine that it ran on; without this key that of the session."),
)

_FEEDBACK = (
    ("query_events", "events", "Queries that canopy recorded in .canopy/feedback.db."),
    ("expand_events", "events", "Expansions of a handle that it recorded."),
    ("auto_expand_events", "events", "Those that canopy made by itself with a query."),
    ("manual_expand_events", "events", "Those that an agent asked for."),
    ("sample_count", "events", "Queries that the following three are taken from."),
    ("handle_expand_accept_rate", "share", "Handles returned that were expanded."),
    ("avg_tokens_per_expand", "tokens", "Mean size of what was expanded."),
    ("glob_hit_rate_at_k", "share", "Predicted globs, the first 5 of a query, that were hit."),
)

_SERVICE = (
    ("queries", "requests", "Queries and evidence packs together."),
    ("query_cache_hits", "searches", "Searches answered from the service's cache."),
    ("query_cache_misses", "searches", "Searches that were not; a pack can make several."),
    ("query_cache_hit_rate", "share", "Hits of hits and misses."),
    ("expands", "requests", "Requests to expand, each for one or more handles."),
    ("index_cache_hits", "openings", "Uses of an index that was open."),
    ("index_cache_misses", "openings", "Uses that had to open it."),
    ("reindexes", "requests", "Requests to index that were accepted."),
    ("avg_query_ms", "milliseconds", "Mean time of a query, without decimals."),
    ("avg_expand_ms", "milliseconds", "Mean time of a request to expand, without decimals."),
    ("evidence_packs", "requests", "Evidence packs; only the embedded canopy counts them."),
)


Entries = Iterable[tuple[str, str, str]]


def _make_keys(entries: Entries) -> tuple[Key, ...]:
    return tuple(Key(key=key, unit=unit, definition=text) for key, unit, text in entries)


def _list_keys(kind: type[Stored], entries: Entries) -> tuple[Key, ...]:
    """Return those of a line, in its order."""
    meanings = {entry.key: entry for entry in _make_keys(entries)}
    keys = []
    for key, field in kind.model_fields.items():
        declared = next((note for note in field.metadata if isinstance(note, Meaning)), None)
        meaning = declared or meanings.get(key) or METRICS[key]
        keys.append(Key(key=key, unit=meaning.unit, definition=meaning.definition))
    return tuple(keys)


TRIAL_KEYS = _list_keys(TrialRecord, _TRIAL)
EVIDENCE_KEYS = _list_keys(Evidence, _EVIDENCE)
SWARM_KEYS = _list_keys(SwarmRecord, _SWARM)
OVERHEAD_KEYS = _list_keys(Overhead, _OVERHEAD)
FEEDBACK_KEYS = _make_keys(_FEEDBACK)
SERVICE_KEYS = _make_keys(_SERVICE)
RATIOS: tuple[Metric, ...] = tuple(
    replace(metric, unit="ratio") for metric in METRICS.named(COMPARED)
)
"""The rows of the headline."""
