#!/usr/bin/env bash
# index.sh OUT SCOPE...: index the files below swarm_bench/SCOPE, their tests, and whatever names them.
# Run in the worktree. Takes twelve seconds of processor with a warm .mypy_cache.
out=$1; shift
files=()
for scope in "$@"; do
  files+=($(git ls-files "swarm_bench/$scope/*.py" "tests/$scope/*.py"))
  files+=($(grep -rlE "(from|import) swarm_bench\.${scope//\//.}\b" swarm_bench tests perf docs --include=*.py))
  files+=($(grep -rlE "from swarm_bench import .*\b$scope\b" swarm_bench tests perf --include=*.py))
done
files=($(printf '%s\n' "${files[@]}" | grep -v '^docs/' | sort -u))
.venv/bin/python .ci/renames/index_types.py "$out" "${files[@]}"
