"""Which files give answers away, whatever their format, and which do not."""

import csv
import io
import json
import pickle
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import closing
from urllib.parse import quote

import pytest
import yaml

from swarm_bench.core.session.tasks import AnswerKey, Task
from swarm_bench.datasets.exposure.finder import Exposed, Finder
from swarm_bench.datasets.suites import TaskFile, write_suite

LONG = (
    'Which file says how often "charge()" is tried again,\n'
    "and who's told – naïvely – after 3 times? 😀"
)


def task(id: str, prompt: str = LONG, **key: tuple[str, ...]) -> Task:
    return Task(id=id, title=f"about {id}", prompt=prompt, key=AnswerKey(**key))


TASKS = (
    task("retry-charge", files=("shop/billing/charge.py",)),
    task("auth", "Where does this code base authenticate its callers?", files=("shop/auth.py",)),
    task("change-7", "Which function adds the tax?", symbols=("shop/tax.py::Tax.add_all",)),
    task("limits", "How many parcels does a courier take?", facts=(r"\bat most (40|forty)\b",)),
)


def rows(tasks: Sequence[Task]) -> list[dict[str, object]]:
    return [json.loads(item.model_dump_json(exclude_none=True)) for item in tasks]


def as_csv(tasks: Sequence[Task]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["question", "files", "symbols", "facts"])
    for item in tasks:
        key = item.key or AnswerKey()
        writer.writerow([item.prompt, *(";".join(part) for part in vars(key).values())])
    return text.getvalue()


def as_page(tasks: Sequence[Task]) -> str:
    lines = []
    for item in tasks:
        quoted = "\n".join(f"> {line}" for line in item.prompt.split("\n"))
        named = [part for parts in vars(item.key).values() for part in parts]
        lines.append(
            f"## Task\n\n{quoted}\n\n## Answer\n\nIt is in `{'`, `'.join(named)}`, I think."
        )
    return "\n\n".join(lines)


def as_toml(tasks: Sequence[Task]) -> str:
    lines = []
    for item in tasks:
        lines += ["[[task]]", f"prompt = {json.dumps(item.prompt)}", "[task.key]"]
        lines += [f"{name} = {json.dumps(part)}" for name, part in vars(item.key).items()]
    return "\n".join(lines)


def as_suite(tasks: Sequence[Task]) -> str:
    return write_suite(
        TaskFile(description="", answer_format="", made="", since=None, tasks=list(tasks))
    )


FORMATS: dict[str, Callable[[Sequence[Task]], str]] = {
    "a task file": as_suite,
    "YAML, wrapped": lambda it: yaml.safe_dump(rows(it), width=30),
    "YAML, in quotes": lambda it: yaml.safe_dump(rows(it), width=40, default_style='"'),
    "JSON": lambda it: json.dumps(rows(it), indent=2),
    "JSON, not ASCII": lambda it: json.dumps(rows(it), ensure_ascii=False),
    "JSON lines": lambda it: "\n".join(map(json.dumps, rows(it))),
    "JSON in JSON": lambda it: json.dumps({"text": json.dumps({"text": json.dumps(rows(it))})}),
    "YAML in JSON": lambda it: json.dumps({"result": yaml.safe_dump(rows(it), width=50)}),
    "CSV": as_csv,
    "TOML": as_toml,
    "Markdown": as_page,
    "shouted": lambda it: as_page(it).upper(),
    "a comment": lambda it: "".join(f"# {line}\n" for line in as_page(it).split("\n")),
    "HTML": lambda it: (
        as_page(it).replace("&", "&amp;").replace('"', "&quot;").replace("'", "&#39;")
    ),
    "Windows": lambda it: as_page(it).replace("\n", "\r\n"),
}


def exposed(
    content: str | bytes, path: str = "any/file", tasks: Sequence[Task] = TASKS
) -> set[str]:
    content = content if isinstance(content, bytes) else content.encode()
    return {found.task for found in Finder(tasks).find_exposed(path, content)}


@pytest.mark.parametrize("name", FORMATS)
def test_prompt_and_key_are_found_in_every_format(name: str) -> None:
    assert exposed(FORMATS[name](TASKS)) == {item.id for item in TASKS}
    for item in TASKS:
        assert exposed(FORMATS[name]([item])) == {item.id}, "one alone, of a session with more"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_other_encodings_are_read(encoding: str) -> None:
    assert exposed(as_page(TASKS).encode(encoding)) == {item.id for item in TASKS}


def without(tasks: Sequence[Task], *names: str) -> list[dict[str, object]]:
    return [{name: part for name, part in row.items() if name not in names} for row in rows(tasks)]


@pytest.mark.parametrize(
    "content",
    [
        yaml.safe_dump(without(TASKS, "prompt", "title")),
        json.dumps(without(TASKS, "prompt", "title")),
        "\n".join(map(json.dumps, without(TASKS, "prompt", "title"))),
        json.dumps({"text": yaml.safe_dump(without(TASKS, "prompt", "title"))}),
    ],
)
def test_id_and_key_are_found_in_records(content: str) -> None:
    assert exposed(content) == {item.id for item in TASKS}


DISTINCT = (
    task("retry-charge", files=("shop/charge.py",)),
    task("change-7", files=("shop/tax.py", "shop/law.py")),
    task("symbol-Desk-open", files=("shop/desk.py",)),
)


@pytest.mark.parametrize(
    "content",
    [
        "id,files\nretry-charge,shop/charge.py\nchange-7,shop/tax.py\n"
        "symbol-Desk-open,shop/desk.py\n",
        "| Task | Score | Named |\n|--|--|--|\n| retry-charge | 0.5 | shop/charge.py |\n"
        "| change-7 | 1 | shop/tax.py |\n"
        "| symbol-Desk-open | 1 | shop/desk.py |",
        '{"keys": {"retry-charge": ["shop/charge.py"], "change-7": ["shop/tax.py"], '
        '"symbol-Desk-open": ["shop/desk.py"]}}',
        "keys:\n  retry-charge:\n  - shop/charge.py\nchange-7:\n  - shop/law.py\n"
        "symbol-Desk-open:\n  - shop/desk.py\n",
        '[retry-charge]\nfiles = ["shop/charge.py"]\n[change-7]\nfiles = ["shop/tax.py"]\n'
        '[symbol-Desk-open]\nfiles = ["shop/desk.py"]\n',
        *(
            "\n".join(form % (item.id, (item.key or AnswerKey()).files[0]) for item in DISTINCT)
            for form in (
                '{"task_id": "%s", "turns": 3, "answer": "See `%s`."}',
                "<id>%s</id><key>%s</key>",
            )
        ),
    ],
)
def test_id_and_key_are_found_in_tables(content: str) -> None:
    assert exposed(content, tasks=DISTINCT) == {item.id for item in DISTINCT}


def test_a_table_in_a_file_of_keys_needs_no_header() -> None:
    content = '{"retry-charge": ["shop/charge.py"], "change-7": ["shop/tax.py"]}'
    assert exposed(content, "bench/answers.json", DISTINCT) == {"retry-charge", "change-7"}
    assert exposed(content, "lib/parts.json", DISTINCT) == set(), "it may be any mapping of parts"


PARTS = (
    task(
        "rate-limit", "Where is the rate limit of requests enforced?", files=("src/rate_limit.py",)
    ),
    task("login-flow", "How does a login go on to a session?", files=("src/login/flow.py",)),
    task("db-pool", "Where are idle connections closed?", files=("src/dbpool.py",)),
    task("push-tags", "What sends the tags of a release?", files=("scripts/release.sh",)),
    task("build-image", "Where is the image built?", files=("docker/make.py",)),
)


@pytest.mark.parametrize(
    "content",
    [
        "| part | file |\n|--|--|\n| rate-limit | `src/rate_limit.py` |\n"
        "| login-flow | `src/login/flow.py` |\n| build-image | docker/make.py |\n"
        "| push-tags | scripts/release.sh |",
        "## rate-limit\n\nSee src/rate_limit.py\n\n## login-flow\n\nSee src/login/flow.py\n",
        "# push-tags\nscripts/release.sh @a\n# build-image\ndocker/make.py @b\n",
        "push-tags:\n- changed-files:\n  - any-glob-to-any-file: scripts/release.sh\n"
        "build-image:\n- changed-files:\n  - any-glob-to-any-file: docker/make.py\n",
        '{"name": "rate-limit", "version": "1.0.0", "files": ["src/rate_limit.py"]}',
        "- repo: local\n  hooks:\n  - id: rate-limit\n    files: src/rate_limit.py\n"
        "  - id: login-flow\n    files: src/login/flow.py\n",
        '@pytest.mark.parametrize("part,file", [("rate-limit", "src/rate_limit.py"), '
        '("push-tags", "scripts/release.sh"), ("build-image", "docker/make.py")])',
        'py_library(\n    name = "build-image",\n    srcs = ["docker/make.py"],\n)\n\n'
        'sh_binary(\n    name = "push-tags",\n    srcs = ["scripts/release.sh"],\n)\n',
        "flags:\n  build-image:\n    paths:\n      - docker/make.py\n"
        "  push-tags:\n    paths:\n      - scripts/release.sh\n"
        "components:\n  - component_id: build-image\n    paths: [docker/make.py]\n"
        "  - component_id: push-tags\n    paths: [scripts/release.sh]\n",
        "tasks:\n  build-image:\n    cmds: [docker/make.py]\n"
        "  push-tags:\n    cmds: [scripts/release.sh]\n",
        "steps:\n  - id: build-image\n    run: python docker/make.py\n"
        "  - id: push-tags\n    run: scripts/release.sh\n  - uses: actions/cache@v4\n"
        "    with:\n      path: build\n      key: ${{ runner.os }}\n",
    ],
)
def test_what_names_parts_of_the_program_and_their_files_stays(content: str) -> None:
    assert exposed(content, tasks=PARTS) == set()


@pytest.mark.parametrize(
    "content",
    [
        "id: %s\nkey:\n  files: [%s]",
        '{"task_id": "%s", "expected": ["%s"]}',
        '{"task": "%s", "turns": 3, "answer": "In %s."}',
    ],
)
def test_a_record_of_a_task_is_found_though_its_id_is_in_the_path(content: str) -> None:
    assert exposed(content % ("rate-limit", "src/rate_limit.py"), tasks=PARTS) == {"rate-limit"}


def test_a_record_of_one_task_is_enough_where_it_says_that_it_is_one() -> None:
    assert exposed('{"task_id": "change-7", "expected": ["shop/tax.py"]}') == {"change-7"}
    assert exposed("id: auth\nkey:\n  files: [shop/auth.py]") == {"auth"}


@pytest.mark.parametrize(
    "content",
    [
        "# Shop\n\nAuthentication is in shop/auth.py, and taxes in shop/tax.py.",
        "auth: shop/auth.py",
        '{"id": "auth", "main": "shop/auth.py"}',
        "lib/auth.py\nshop/auth.py\nshop/tax.py\nshop/billing/charge.py\n",
        "from shop.auth import auth  # see shop/auth.py",
        '<h2 id="retry-charge">Retry</h2> The loop is in shop/billing/charge.py.',
        "Where does this code base authenticate its callers?",
        "Where does this code base authenticate its users? In shop/auth.py.",
        "id: auth\nfiles: []\nid: other\nfiles: [shop/auth.py]",
    ],
)
def test_what_gives_nothing_away_stays(content: str) -> None:
    assert exposed(content) == set()


def test_a_file_does_not_give_away_that_it_is_the_one() -> None:
    prompt = TASKS[1].prompt
    text = f'"""{prompt}"""\n# shop/auth.py\n'
    assert exposed(text, path="shop/auth.py") == set()
    assert exposed(text, path="notes.md") == {"auth"}


def test_what_the_question_says_itself_is_no_secret() -> None:
    prompt = "What is shop/tax.py for, and where is `Tax.add_all`?"
    asked = task("what-for", prompt, files=("shop/tax.py",), symbols=("shop/tax.py::Tax.add_all",))
    assert exposed(prompt, tasks=[asked]) == set()
    assert not Finder([asked]), "nothing is to be looked for"


def test_a_short_fact_counts_beside_its_question() -> None:
    asked = task("port", "On which port does the ledger listen?", facts=("5432",))
    assert exposed(f"Q: {asked.prompt}\nA: 5432\n", tasks=[asked]) == {"port"}
    assert exposed(f"{asked.prompt}\n{'and so on ' * 300}5432\n", tasks=[asked]) == set()


def test_a_question_without_spaces_is_one_too() -> None:
    asked = task("cjk", "重试逻辑在哪个文件里定义", files=("shop/重试.py",))
    content = json.dumps({"q": asked.prompt, "a": asked.key and asked.key.files})
    assert exposed(content, tasks=[asked]) == {"cjk"}


def test_the_line_is_that_of_the_question_or_the_id() -> None:
    content = as_suite(TASKS)
    lines = content.split("\n")
    found = Finder(TASKS).find_exposed("t.yaml", content.encode())
    for item in found:
        near = "\n".join(lines[item.line - 1 : item.line + 3])
        asked = next(it for it in TASKS if it.id == item.task)
        first = re.findall(r"\w+", asked.prompt)[:3]
        assert item.task in near or all(word in near for word in first)
    assert Finder(TASKS).find_exposed("x", b"\n\nid: auth\nkey: {files: [shop/auth.py]}") == [
        Exposed(task="auth", line=3)
    ]


def test_bytes_of_any_kind_are_read() -> None:
    page = as_page(TASKS).encode()
    noise = bytes(range(256)) * 50
    assert exposed(noise) == set()
    assert exposed(noise + page + noise) == {item.id for item in TASKS}
    assert exposed(b"\xff\xfe" + noise[1:]) == set()


CLASSES = (
    task("t-auth", "Which class manages what is about auth here?", facts=(r"Auth\s*Manager\b",)),
    task("t-any", "Which class manages the rest of it all?", facts=(r"\w+", r".*", r"\d+")),
)


def test_what_a_fact_matches_beside_its_question_is_its_answer() -> None:
    faq = "".join(f"Q: {item.prompt}\nA: AuthManager\n\n" for item in CLASSES)
    assert exposed(faq, tasks=CLASSES) == {"t-auth"}, "what matches anything is no answer"
    assert exposed(json.dumps(f"{'and so on ' * 300}{faq}"), tasks=CLASSES) == {"t-auth"}
    far = f"{CLASSES[0].prompt}\n{'and so on ' * 300}AuthManager\n"
    assert exposed(far, tasks=CLASSES) == set()
    assert exposed("class AuthManager: ...", tasks=CLASSES) == set()


def test_accents_may_be_characters_of_their_own() -> None:
    page = as_page(TASKS)
    assert unicodedata.normalize("NFD", page) != page
    assert exposed(unicodedata.normalize("NFD", page)) == {item.id for item in TASKS}


@pytest.mark.parametrize("said", ["auth.py", "shop.auth", "`auth.py`", "shop/auth*"])
def test_a_file_may_be_named_shortly_right_beside_its_question(said: str) -> None:
    assert exposed(f'"{TASKS[1].prompt}",{said}\n') == {"auth"}
    assert exposed(f"{TASKS[1].prompt}\n{'and so on ' * 20}{said}\n") == set()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("bench/change-7/key.yaml", "files:\n  - shop/tax.py\n"),
        ("bench/change-7/expected.txt", "I think that it is in shop/tax.py"),
        ("bench/change-7.json", '{"change-7": ["shop/tax.py"]}'),
        ("bench/change-7.txt", "shop/tax.py\nshop/law.py\n"),
        ("links/change-7", "../shop/law.py"),
    ],
)
def test_a_file_that_is_called_after_a_task_and_has_its_key_is_found(
    path: str, content: str
) -> None:
    assert exposed(content, path, DISTINCT) == {"change-7"}
    assert exposed(content, path.replace("change-7", "change-70"), DISTINCT) == set()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("packages/rate-limit/package.json", '{"files": ["src/rate_limit.py"]}'),
        ("packages/push-tags/package.json", '{"bin": "scripts/release.sh"}'),
        ("hooks/push-tags", "#!/bin/sh\nexec scripts/release.sh\n"),
        ("links/rate-limit", "../src/rate_limit.py"),
        ("docs/build-image/README.md", "See docker/make.py for how it works."),
    ],
)
def test_a_folder_of_a_part_stays(path: str, content: str) -> None:
    assert exposed(content, path, PARTS) == set()


def test_keywords_are_the_question_of_a_search() -> None:
    keywords = {"retry-charge": "retries of charges", "change-7": "tax of law"}
    asked = [it.model_copy(update={"keywords": keywords.get(it.id, "")}) for it in DISTINCT]
    table = "retries of charges,shop/charge.py\ntax of law,shop/tax.py\n"
    assert exposed(table, tasks=asked) == {"retry-charge", "change-7"}


NUMBERED = tuple(
    task(f"q{at}", f"Which file of the shop does the {what} of naïve customers?", files=(file,))
    for at, (what, file) in enumerate(
        {
            "login": "shop/auth.py",
            "refund": "shop/payment.py",
            "parcel": "shop/shipping.py",
            "voucher": "shop/codes.py",
        }.items()
    )
)
KEYED = {it.id: it.key.files[0] for it in NUMBERED if it.key}
SHORT = {id: file.rpartition("/")[2] for id, file in KEYED.items()}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(KEYED),
        json.dumps({id: [file] for id, file in SHORT.items()}),
        *(
            "\n".join(form % item for item in KEYED.items())
            for form in ("%s %s", "### %s\n\nIt is in %s.\n", "%s 0 %s 1")
        ),
        "\n".join(f"{file} <- {id}" for id, file in KEYED.items()),
        "\n".join(
            json.dumps({"instance_id": id, "base": "0" * 40, "patch": f"--- a/{file}"})
            for id, file in KEYED.items()
        ),
    ],
)
def test_ids_that_say_nothing_need_no_header_beside_their_keys(content: str) -> None:
    assert exposed(content, tasks=NUMBERED) == {*KEYED}


def test_two_pairs_of_many_may_be_an_accident() -> None:
    assert exposed("q0 shop/auth.py\nq1 shop/payment.py\n", tasks=NUMBERED) == set()


@pytest.mark.parametrize(
    "content",
    [
        '{"name": "change-7", "gold": "shop/tax.py"}\n'
        '{"name": "retry-charge", "gold": "shop/charge.py"}',
        "qid,gold\nchange-7,shop/tax.py\nretry-charge,shop/charge.py\n",
        "# Answer keys\n- change-7: `shop/tax.py`\n- retry-charge: `shop/charge.py`\n",
        "## change-7\nThe answer is `shop/tax.py`.\n"
        "## retry-charge\nThe answer is `shop/charge.py`.",
    ],
)
def test_more_words_say_that_there_are_answers(content: str) -> None:
    assert exposed(content, tasks=DISTINCT) == {"change-7", "retry-charge"}


def test_a_path_may_have_the_id_and_the_key() -> None:
    assert exposed("fixed", "solved/change-7/shop/tax.py", DISTINCT) == {"change-7"}
    assert exposed("fixed", "solved/rate-limit/src/rate_limit.py", PARTS) == set()


def in_database(*columns: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"create table t ({', '.join(columns)})")
        for item in NUMBERED:
            row = {"id": item.id, "prompt": item.prompt, "file": KEYED[item.id]}
            places = ", ".join("?" * len(columns))
            database.execute(f"insert into t values ({places})", [row[name] for name in columns])
        database.commit()
        return database.serialize()


@pytest.mark.parametrize(
    "content",
    [
        in_database("id", "prompt", "file"),
        in_database("prompt", "file"),
        in_database("file", "prompt"),
        pickle.dumps([(it.prompt, KEYED[it.id]) for it in NUMBERED]),
        *(
            "\n".join(f"{it.prompt}\t{KEYED[it.id]}" for it in NUMBERED).encode(encoding)
            for encoding in ("latin-1", "cp437", "utf-32", "utf-32-be")
        ),
        *(
            "\n".join(form(it.prompt, KEYED[it.id]) for it in NUMBERED).encode()
            for form in (
                lambda prompt, file: f"<p>{prompt.replace('shop', '<code>shop</code>')}</p>{file}",
                lambda prompt, file: f"{prompt.replace('shop', chr(92) + 'texttt{shop}')} {file}",
                lambda prompt, file: f"/?q={quote(prompt)}&a={quote(file)}",
                lambda prompt, file: json.dumps(prompt.replace(" ", chr(160))) + file,
                lambda prompt, file: f"{file.rpartition('/')[2]},{prompt}",
                lambda prompt, file: f"{prompt}, 3, hard, {file.rpartition('/')[2]}",
            )
        ),
    ],
)
def test_a_prompt_may_be_marked_up_and_joined_to_other_fields(content: bytes) -> None:
    assert exposed(content, tasks=NUMBERED) == {*KEYED}


def test_a_question_about_something_else_is_another_one() -> None:
    content = "Which file of the shop does the tax of naïve customers? In shop/auth.py."
    assert exposed(content, tasks=NUMBERED) == set()


def test_who_prints_other_questions_with_their_answers_has_read_them() -> None:
    own, *others = NUMBERED
    finder, printed = Finder(NUMBERED), json.dumps({"result": as_suite(NUMBERED)}).encode()
    assert finder.find_printed(printed, own.prompt) == [it.id for it in others]
    assert finder.find_printed(as_page([own]).encode(), own.prompt) == [], "it was asked that"
    far = f"{others[0].prompt}\n{'and so on ' * 300}{KEYED[others[0].id]}"
    assert finder.find_printed(far.encode(), own.prompt) == [], "all files may stand somewhere"
    similar = f"{own.prompt} I know of a refund, in shop/payment.py."
    assert finder.find_printed(similar.encode(), own.prompt) == []
