"""The environment `unconfined`: code has the rights of the user who runs swarm-bench."""

from swarm_bench.core.roles.execution import Code, Execution
from swarm_bench.core.session.experiment import Program
from swarm_bench.environments.running import add_limits, command_of, execute, limiter
from swarm_bench.runtime.ownership import temporary


class Unconfined:
    """Runs code in a folder of its own, within the same limits."""

    name = "unconfined"
    confines = False
    confinement = "not confined: it could read, write and send whatever its user can"

    def program(self) -> Program:
        """Find what sets limits. Raises `UsageError`."""
        return Program(name="prlimit", path=limiter())

    async def run(self, code: Code) -> Execution:
        """Run a command to its end or to a limit."""
        with temporary() as folder:
            code_folder = folder / "code"  # beside the mark that it is ours
            code_folder.mkdir()
            return await execute(add_limits(command_of(code), code, code_folder), code)
