# SPDX-License-Identifier: Apache-2.0
"""Every view and every query answers alike however SQLite finds the rows: with our indexes and without, with statistics, with pages
of other sizes, and with rows of equal rank the other way round. Rows of a view are compared in any order, those of a query in theirs."""
import glob
import os
import sqlite3

from trial import IS_WHOLE, begin, clear, expect, finish, leave_out, paths, run

SHARE = 1 if IS_WHOLE else 7  # one of so many traces

# How each copy differs from what npumem-ingest makes.
COPIES = {
    "no indexes": lambda database: [database.execute(f"DROP INDEX {name}") for name, in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").fetchall()],
    "statistics": lambda database: database.execute("ANALYZE"),
    "pages of 512 bytes": lambda database: database.executescript("PRAGMA page_size = 512; VACUUM"),
    "pages of 64 KiB": lambda database: database.executescript("PRAGMA page_size = 65536; VACUUM"),
    "rows backwards": lambda database: None,
}


class Unset(dict):
    """Parameters that nobody has set."""

    def __missing__(self, name):
        return None


def cell(value):
    return float(f"{value:.12g}") if isinstance(value, float) else value


def answers(path, queries, is_backwards):
    found = {}
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA reverse_unordered_selects = {int(is_backwards)}")
        views = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name")]
        for name in views:
            found[name] = sorted(repr(list(map(cell, row))) for row in database.execute(f"SELECT * FROM {name}"))
        for name, sql in queries.items():
            found[name + ".sql"] = [repr(list(map(cell, row))) for row in database.execute(sql, Unset())]
    database.close()
    return found


def queries_of_one():
    """Those that ask about one database."""
    queries = {}
    for path in sorted(glob.glob(os.path.join(paths.source, "queries", "*.sql"))):
        with open(path, encoding="utf-8") as file:
            sql = file.read()
        if "base." not in sql and "\n." not in sql:
            queries[os.path.basename(path)[:-4]] = sql
    return queries


def check(title, queries):
    expected = answers("t.db", queries, False)
    for what, change in COPIES.items():
        clear("copy.db")
        with sqlite3.connect("t.db") as origin, sqlite3.connect("copy.db") as copy:
            origin.backup(copy)
            copy.commit()
            change(copy)
            copy.commit()
        copy.close()
        origin.close()
        found = answers("copy.db", queries, what == "rows backwards")
        for name, rows in expected.items():
            expect(found[name] == rows, lambda: f"{title}, {what}: {name}: {[row for row in found[name] if row not in rows][:2]} for "
                                                f"{[row for row in rows if row not in found[name]][:2]}, {len(found[name])} and {len(rows)} rows")
    return sum(map(len, expected.values())), len(expected)


begin()
asked = queries_of_one()
inputs = sorted(glob.glob(os.path.join(paths.source, "tests", "sql", "*", "trace.txt")))
chosen_inputs = inputs[::SHARE]
leave_out(f"{len(chosen_inputs)} of {len(inputs)} traces")
row_count = question_count = 0
for number, trace in enumerate(chosen_inputs):
    run(paths.text2trace, trace, "t.zst")
    ended = run(paths.ingest, "--quiet", "--force", "-o", "t.db", "t.zst")
    if expect(ended[0] in (0, 3), f"{trace}: ends with {ended}"):
        rows_of_one, question_count = check(os.path.basename(os.path.dirname(trace)), asked)
        row_count += rows_of_one
expect(question_count > 120 and row_count > 1000, f"only {question_count} questions and {row_count} rows")
print(f"{question_count} views and queries of {len(chosen_inputs)} traces, {row_count} rows, alike in {len(COPIES)} other databases")
finish()
