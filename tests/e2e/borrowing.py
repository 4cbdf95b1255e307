"""A virtual environment that has the packages of this one: nothing is downloaded a second time."""

import sysconfig
import venv
from pathlib import Path


def make_environment(folder: Path) -> Path:
    """Make one in `folder`, with everything that is installed here but swarm-bench. Returns its
    Python."""
    venv.create(folder, symlinks=True)
    context = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", scheme="venv", vars=context))
    # A path file of a folder that is itself on such a path is not read: that of an editable
    # swarm-bench, for one.
    (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "bin" / "python"
