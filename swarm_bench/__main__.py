"""`python -m swarm_bench` is the command `swarm-bench`."""

from swarm_bench.cli.main import main

main()
