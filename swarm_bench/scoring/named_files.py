"""Which of the right files the answer names."""

from collections.abc import Mapping
from dataclasses import dataclass

from swarm_bench.core.ports import Missing, Score, ScoreContext
from swarm_bench.source.key_measures import compute_measures, keys_of
from swarm_bench.source.naming import files_named


@dataclass(frozen=True, kw_only=True)
class NamedFiles:
    """`file_recall`, `file_precision`, `file_f1`, `files_all_found`, `file_first_rank` and
    `file_ndcg`: the files that the answer names, in the order of their first mention, compared with
    those of the key. Of the order the first count, as many as the key has and a few more; precision
    is of all. `file_recall_elsewhere`: what they find of the keys of other tasks."""

    name = "files"
    version = 2
    keys = keys_of("file")

    def score(self, context: ScoreContext) -> Mapping[str, Score | Missing]:
        right = frozenset(context.key.files) if context.key else frozenset()
        if not right:
            return dict.fromkeys(self.keys, Missing("the key has no files"))
        if not context.files:
            return dict.fromkeys(self.keys, Missing("the files of the repository are not known"))
        other_keys = [(task.key.files, task.weight) for task in context.others if task.key]
        return compute_measures("file", files_named(context), right, other_keys)
