"""What every key of the record of a swarm means."""

SWARM = (
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
    "index_seconds",
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
)
