"""The answers of our own rows are code: each is run, or parsed."""

import ast
import collections
import datetime
import io
import itertools
import os
import re
import sqlite3
from typing import Any

import pytest

from swarm_bench.datasets.rows import find_dataset

NOTES = "First.\nSecond.\n"
VALUES: dict[str, Any] = {
    "words": ["one", "three", "two"],
    "orders": [{"total": 1}, {"total": 3}],
    "text": "a b a",
    "s": "a1b2",
    "rows": [[1, 2], [3]],
    "path": "/home/a/notes.txt",
    "day": "2026-01-31",
    "names": ["a", "b"],
    "ages": [1, 2],
    "numbers": [1, 2, 4],
}
RESULTS = [
    "one, three, two",
    "three one two",
    [{"total": 3}, {"total": 1}],
    {"a": 2, "b": 1},
    "ab",
    ["First.", "Second."],
    [1, 2, 3],
    [1, 2, 3],
    "notes",
    datetime.date(2026, 1, 31),
    {"a": 1, "b": 2},
    6,
]
TABLES = """
CREATE TABLE book (id, author_id, title); CREATE TABLE author (id, name);
CREATE TABLE ship (name, length, captain_id); CREATE TABLE pupil (name, grade);
CREATE TABLE teacher (id, name); CREATE TABLE course (teacher_id, subject);
CREATE TABLE cake (name, price); CREATE TABLE musician (name, instrument);
CREATE TABLE doctor (id, name); CREATE TABLE patient (doctor_id);
CREATE TABLE player (team_id, age); CREATE TABLE ticket (price);
"""


def contents(name: str) -> list[Any]:
    return [row.content for row in find_dataset(name).load().rows]


def test_lines_of_python_do_what_is_asked() -> None:
    modules = {it.__name__: it for it in (collections, datetime, itertools, os, re)}
    own = {"open": lambda _: io.StringIO(NOTES), **modules, **VALUES}
    for row, result in zip(contents("conala-mini"), RESULTS, strict=True):
        tree = ast.parse(row["snippet"], mode="eval")
        assert eval(compile(tree, "snippet", "eval"), own) == result, row


def test_queries_run() -> None:
    with sqlite3.connect(":memory:") as database:
        database.executescript(TABLES)
        for row in contents("spider-mini"):
            database.execute(row["query"])
    database.close()


@pytest.mark.parametrize("name", ["concode-mini", "code-to-text-mini"])
def test_brackets_of_code_are_closed(name: str) -> None:
    for row in contents(name):
        counts = [row["code"].count(mark) for mark in "(){}[]"]
        assert counts[::2] == counts[1::2], row
