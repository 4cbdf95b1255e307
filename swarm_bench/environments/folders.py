"""What folders of this machine code may read, and what it may not in them: answers of data sets."""

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
PACKAGE = Path(__file__).resolve().parents[1]
SHIPPED = "datasets/shipped"
_OWN_NAME = re.compile(r"swarm[_.-]?bench.*", re.IGNORECASE)
"""Names of archives of it, and of programs that have it in themselves."""
_HISTORY = re.compile(r"swarm[_.-]?bench.*\.git", re.IGNORECASE)


def system_paths() -> list[Path]:
    """List the folders of the system that are here."""
    return [Path(name) for name in _SYSTEM if Path(name).exists()]


@cache
def find_installations(folder: Path) -> tuple[Path, ...]:
    """List each folder of the package at any depth, with its history where it is a checkout, and
    each file that it is installed from. Some are links."""
    paths = list[Path]()
    for root, folders, files in os.walk(folder):
        if PACKAGE.name in folders and Path(root, PACKAGE.name, SHIPPED).is_dir():
            hidden_names = {PACKAGE.name, ".git"} & {*folders}
        else:
            hidden_names = {name for name in folders if _HISTORY.fullmatch(name)}
        paths += (Path(root, name) for name in hidden_names)
        folders[:] = [name for name in folders if name not in hidden_names]
        paths += (Path(root, name) for name in files if _OWN_NAME.fullmatch(name))
    return tuple(paths)


def installed_from() -> Iterator[Path]:
    """Yield the folder that this one was installed from, such as a clone, as installers note it."""
    try:
        origin = Distribution.from_name(PACKAGE.name).read_text("direct_url.json")
    except PackageNotFoundError:
        return
    url = urlsplit(json.loads(origin)["url"]) if origin else urlsplit("")
    if url.scheme == "file" and (path := Path(url2pathname(url.path))).is_dir():
        yield path
