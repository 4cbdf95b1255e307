"""What the figures of the retrieval tools' own counters mean."""

FEEDBACK = (
    ("query_events", "events", "Queries that canopy recorded in .canopy/feedback.db."),
    ("expand_events", "events", "Expansions of a handle that it recorded."),
    ("auto_expand_events", "events", "Those that canopy made by itself with a query."),
    ("manual_expand_events", "events", "Those that an agent asked for."),
    ("sample_count", "events", "Queries that the following three are taken from."),
    ("handle_expand_accept_rate", "share", "Handles returned that were expanded."),
    ("avg_tokens_per_expand", "tokens", "Mean size of what was expanded."),
    ("glob_hit_rate_at_k", "share", "Predicted globs, the first 5 of a query, that were hit."),
)

SERVICE = (
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
