"""The swarm benchmark: what an agent is asked."""

from swarm_bench.core.session.experiment import Experiment, Mode, Task


def build_prompt(experiment: Experiment, mode: Mode, task: Task) -> str:
    """Join the mode's instructions, the task, and what the answer should look like."""
    parts = (mode.instructions, task.prompt, experiment.answer_format)
    return "\n\n".join(part for part in parts if part)
