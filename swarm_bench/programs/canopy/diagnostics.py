"""What the servers print on stderr: their own news, and warnings of the libraries."""

import logging


def start_diagnostics() -> None:
    logging.basicConfig(level=logging.WARNING, format="[canopy] %(message)s")
    logging.getLogger("swarm_bench").setLevel(logging.INFO)
