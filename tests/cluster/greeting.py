"""Opens an actor on each node whose name is an argument, and prints what they answer; then waits
until one of them is lost, if the last argument is `wait`."""

import asyncio
import importlib
import json
import socket
import subprocess
import sys
from typing import Any

ray: Any = importlib.import_module("ray")


class Greeter:
    """Has a process of its own beside it, like an agent."""

    def __init__(self) -> None:
        self.agent = subprocess.Popen(["sleep", "1000"])

    async def greet(self) -> tuple[str, str, int]:
        """Answer with the name and the address of the node, and the process."""
        return socket.gethostname(), ray.util.get_node_ip_address(), self.agent.pid

    async def wait(self) -> None:
        """Wait longer than any test."""
        await asyncio.sleep(1000)


def main(names: list[str], *, waits: bool) -> None:
    """Say what the actors answer, and what became of them."""
    ray.init(log_to_driver=False, logging_level="warning")
    ids = {it["NodeName"]: it["NodeID"] for it in ray.nodes() if it["Alive"]}
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    remote = ray.remote(num_cpus=0, resources={"swarm_bench_agents": 4}, max_restarts=0)(Greeter)
    actors = [
        remote.options(scheduling_strategy=strategy(ids[it], soft=False)).remote() for it in names
    ]
    say(json.dumps(ray.get([it.greet.remote() for it in actors], timeout=30)))
    if waits:
        try:
            ray.get([it.wait.remote() for it in actors])
        except ray.exceptions.RayActorError as error:
            say(type(error).__name__)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main([it for it in sys.argv[1:] if it != "wait"], waits=sys.argv[-1] == "wait")
