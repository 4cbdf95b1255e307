"""After benchmarks.txt, in the root of the worktree: lines that became too long, one TypeVar, one member that the index has not.
Then ruff format, ruff check --fix, mypy. The texts stay the same. It prints ?? for a place that is no longer there."""
import pathlib,subprocess
R=pathlib.Path("swarm_bench")
def f(p,*pairs):
    q=R/p; t=q.read_text()
    for o,n in pairs:
        if t.count(o)!=1: print("??",p,t.count(o),repr(o[:70]))
        t=t.replace(o,n)
    q.write_text(t)
f("retrieval/modes/secrets.py",('TypeVar("Held"','TypeVar("Redactable"'))
f("benchmarks/swarm/records/making.py",("self.kept(name)\n            sums","self.map_name(name)\n            sums"))
f("benchmarks/apps.py",('ANSWER:, one before each answer, "\n            f"and has','ANSWER:, one before each "\n            f"answer, and has'))
f("benchmarks/cases/budget.py",('{format_dollars(max_cost)}, so it was not asked"\n            )\n            raise','{format_dollars(max_cost)}, "\n                "so it was not asked"\n            )\n            raise'))
f("benchmarks/code_to_text/benchmark.py",('{\', \'.join(languages)}; give "\n                f"-p','{\', \'.join(languages)}; "\n                f"give -p'))
f("benchmarks/diffs/testing.py",('run in the process of the "\n        f"answer','run in the process of "\n        f"the answer'))
f("benchmarks/prompts/optimisation.py",('held out while "\n                    "prompts','held out "\n                    "while prompts'),
 ('        extra = f"The system prompt was:\\n{self.systemPrompt}\\n\\n{describe_end(scores)} {_SUGGESTION_REQUEST}"\n','        end = f"{describe_end(scores)} {_SUGGESTION_REQUEST}"\n        extra = f"The system prompt was:\\n{self.systemPrompt}\\n\\n{end}"\n'),
 ('f"Improve this system prompt; at most {self.maxPromptLength} characters. {_PROMPT_ALONE}"','f"Improve this system prompt; at most {self.maxPromptLength} characters. "\n            f"{_PROMPT_ALONE}"'))
f("engine/budget.py",('is spent, {clause}; raise the "\n            "limit','is spent, {clause}; "\n            "raise the limit'))
f("engine/continuing.py",('{_describe_value(old)}; omit it, and see "\n            f"with swarm-bench report DIR {flag(name)} what the session says by {_describe_value(new)}"','{_describe_value(old)}; omit "\n            f"it, and see with swarm-bench report DIR {flag(name)} what the session says by "\n            f"{_describe_value(new)}"'),
 ('when the session began and cannot be {_describe_value(new)} "\n            "now','when the session began and cannot be "\n            f"{_describe_value(new)} now'))
f("retrieval/canopy/service.py",('f"canopy-service ended at its start with exit code {process.returncode}{service._refer_to_log()}"','f"canopy-service ended at its start with exit code {process.returncode}"\n        f"{service._refer_to_log()}"'))
f("retrieval/modes/mode.py",('have changed since the session began; "\n            "restore','have changed since the session "\n            "began; restore'))
f("retrieval/modes/mode_file.py",('cannot tell apart: the "\n                    "name','cannot tell apart: "\n                    "the name'))
f("retrieval/modes/variables.py",('which only an editor fills in; "\n                "write','which only an editor fills "\n                "in; write'))
f("retrieval/preparing.py",('no server has that tool "\n        f"(','no server has that "\n        f"tool ('))
f("retrieval/witnesses/treatment.py",('and the transcript "\n                "has','and the "\n                "transcript has'),
 ('        yield f"{_join_names(observed.calls)} was','        names = _join_names(observed.calls)\n        yield f"{names} was'),
 ('        yield f"{_join_names(observed.hallucinated_tools)} was','        names = _join_names(observed.hallucinated_tools)\n        yield f"{names} was'),
 ('        yield f"Only {_join_names(observed.non_retrieval_tools)} answered','        names = _join_names(observed.non_retrieval_tools)\n        yield f"Only {names} answered'))
