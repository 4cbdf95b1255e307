"""Keys, and the names of files in a repository."""

import unicodedata

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.source.naming import restrict_key

NAME = unicodedata.normalize("NFD", "src/Übung (1).py")


def test_a_key_has_the_names_as_the_repository_spells_them() -> None:
    composed = unicodedata.normalize("NFC", NAME)
    key = AnswerKey(files=(composed, "src/é.py"), symbols=(f"{composed}::run",))
    task = Task(id="t", title="t", prompt="Where is it?", key=key)
    spelled = restrict_key(task, frozenset({NAME, "src/a.py"})).key
    assert spelled == AnswerKey(files=(NAME, "src/é.py"), symbols=(f"{NAME}::run",))
    assert restrict_key(task, frozenset({composed, NAME})).key == key


def test_the_end_of_a_name_is_no_name_in_a_key() -> None:
    task = Task(id="t", title="t", prompt="Where is it?", key=AnswerKey(files=("Übung (1).py",)))
    assert restrict_key(task, frozenset({NAME})).key == task.key
