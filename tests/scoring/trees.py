"""A shop, and answers about it."""

from typing import Any

from swarm_bench.app.demo import InstalledFiles
from swarm_bench.core.ports import ScoreContext
from swarm_bench.core.session.tasks import AnswerKey

SHOP = """
class Cart:
    def add(self, item):
        self.items.append(item)

    def total(self):
        return sum(item.price for item in self.items)


def checkout(cart):
    return cart.total()
"""
BASKET = """
class Basket:
    def add(self, item):
        pass
"""
FILES = {
    "shop/cart.py": SHOP.encode(),
    "shop/basket.py": BASKET.encode(),
    "web/app.ts": b"export function serve(port: number) { return port }\n",
    "README.md": b"# Shop\n",
}


def context(text: str, *, read: bool = True, **changes: Any) -> ScoreContext:
    """An answer about the shop; `files` and `symbols` are those of its key."""
    tree = InstalledFiles(FILES)
    parts = {part: changes.pop(part, ()) for part in ("files", "symbols")}
    key = AnswerKey(**parts) if any(parts.values()) else None
    values: dict[str, Any] = {
        "text": text,
        "workspace": "/srv/clone",
        "files": tree.files,
        "key": key,
        "tree": tree if read else None,
    }
    return ScoreContext(**(values | changes))
