"""Every environment keeps one contract, files go in and come back alike, and `reference` solves
diffs in each."""

import pytest

from swarm_bench.core.errors import EnvironmentFailed
from swarm_bench.core.roles.execution import PYTHON, Environment
from swarm_bench.environments.files import change, run_beside
from swarm_bench.testing.model_contracts import check_environment

pytestmark = pytest.mark.anyio
FILES = {"a/b.txt": "é\r\n\n", "main.py": "print(open('a/b.txt', newline='').read().encode())"}


@pytest.mark.timeout(180)
async def test_its_contract(environment: Environment) -> None:
    await check_environment(environment)


async def test_files_go_in_and_come_back(environment: Environment) -> None:
    done = await run_beside(environment, FILES, (PYTHON, "main.py"), timeout=5)
    assert (done.returncode, done.stdout) == (0, f"{FILES['a/b.txt'].encode()!r}\n")
    edit = ("/bin/sh", "-c", "printf more >> a/b.txt; echo why >&2; exit 4")
    changed = await change(environment, FILES, edit, ["a/b.txt"])
    assert changed is not None
    assert (changed.returncode, changed.reason) == (4, "why\n")
    assert dict(changed.files) == {"a/b.txt": FILES["a/b.txt"] + "more"}


async def test_a_program_that_is_not_there_is_no_fault_of_the_files(
    environment: Environment,
) -> None:
    with pytest.raises(EnvironmentFailed, match="no-such-program"):
        await run_beside(environment, {}, ("no-such-program",), timeout=5)
    with pytest.raises(EnvironmentFailed, match="cannot start no-such-program"):
        await change(environment, FILES, ("no-such-program",), ["a/b.txt"])
    files = {"main.py": "import sys; sys.exit('0' * 32)"}
    done = await run_beside(environment, files, (PYTHON, "main.py"), timeout=5)
    assert done.returncode == 1


async def test_files_that_it_cannot_hold_are_no_fault_of_the_program(
    environment: Environment,
) -> None:
    for name in ("/".join(["n" * 200] * 30), "main.py/inner"):
        with pytest.raises(EnvironmentFailed, match="cannot hold the files"):
            await run_beside(environment, {**FILES, name: ""}, (PYTHON, "main.py"), timeout=5)


async def test_a_file_that_is_gone_does_not_come_back(environment: Environment) -> None:
    changed = await change(environment, FILES, ("/bin/rm", "main.py"), list(FILES))
    assert changed is not None
    assert (changed.returncode, set(changed.files)) == (0, {"a/b.txt"})
