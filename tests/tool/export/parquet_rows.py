#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parquet_rows.py EXPORT SOURCE DUCKDB_FOLDER SCRATCH DB...: whether the tables of npumem-export parquet hold what SQLite answers: each
column of each view, in its order, with the types of fleet.def; by a reader of our own and by DuckDB. Of long tables: that those rows
are left out that should be. Prints how many rows there were of each table, so that who calls sees which were empty."""
import collections
import glob
import os
import re
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import duckdb_library
import parquet_file
from xxh64 import xxh64

export, source, modules, scratch, *databases = sys.argv[1:]
JOB, RUN, FOLDER = "Job é/1", "r 1", "job=Job%20%C3%A9%2F1/run=r%201"
# Others of their columns add up to these.
LEFT_OUT = {("step", "end_ns"), ("allocation", "lifetime_ns")}
POINTS = STEPS = 250
KINDS = {"INTEGER": parquet_file.INT64, "REAL": parquet_file.DOUBLE, "TEXT": parquet_file.BYTE_ARRAY, "STACK": parquet_file.INT64}
ask = duckdb_library.open(modules)
failures = 0
row_counts = collections.Counter()


def fail(text):
    global failures
    failures += 1
    print(text, file=sys.stderr)


def read_list():
    keys, tables = [], {}
    with open(os.path.join(source, "src/export/fleet.def")) as file:
        for line in file:
            found = re.match(r"FLEET_(KEY|TABLE|COLUMN|COLUMN_OF)\(([\w, ]+)\)", line)
            words = found.group(2).split(", ") if found else []
            if not found:
                continue
            if found.group(1) == "KEY":
                keys.append(words)
            elif found.group(1) == "TABLE":
                tables[words[0]] = (words[1], words[2], [])
            else:
                tables[words[0]][2].append((words[1], words[2], words[3] if len(words) > 3 else words[1]))
    return keys, tables


keys, tables = read_list()


def shell(*words):
    subprocess.run(words, check=True)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Run:
    """A database, by Python's own SQLite."""

    def __init__(self, path):
        self.db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        self.db.text_factory = bytes
        self.start = self.one("SELECT min(start_realtime_ns) FROM input")
        self.stacks = {number: signed(xxh64(text)) for number, text in self.all("SELECT stack_id, text FROM stack_text")}

    def all(self, sql):
        return self.db.execute(sql).fetchall()

    def one(self, sql):
        return self.all(sql)[0][0]

    def rows(self, table):
        view, _, columns = tables[table]
        of = [column[2] for column in columns]
        there = {row[1].decode() for row in self.all("SELECT * FROM pragma_table_info('%s')" % view)}
        missing = there - set(of) - {column for name, column in LEFT_OUT if name == table}
        if missing:
            fail("fleet.def: table %s lacks what view %s has: %s" % (table, view, missing))
        rows = []
        for row in self.all("SELECT %s FROM %s" % (", ".join('"%s"' % name for name in of), view)):
            rows.append((JOB.encode(), RUN.encode(), self.start, *[self.value(table, *pair) for pair in zip(columns, row)]))
        return rows

    def value(self, table, column, value):
        name, kind, _ = column
        right = {"INTEGER": int, "REAL": (int, float), "TEXT": bytes, "STACK": int}[kind]
        if value is None:
            return None
        if not isinstance(value, right):
            fail("fleet.def: %s.%s is %s, but there is a value %r" % (table, name, kind, value))
        if kind == "TEXT":
            return parquet_file.as_utf8(value).encode()
        return float(value) if kind == "REAL" else self.stacks[value] if kind == "STACK" else value

    def thin(self, table, rows):
        """What of the rows is to stay, worked out heap by heap."""
        counts = self.all(
            "SELECT u.heap_id, count(*) FROM %s AS u GROUP BY u.heap_id ORDER BY u.heap_id"
            % ("usage" if table == "curve" else "z_step_sum")
        )
        kept, at = [], 0
        for _, count in counts:
            heap, at = rows[at : at + count], at + count
            kept += self.points(heap) if table == "curve" else self.steps(heap)
        if at != len(rows):
            fail("%s: heaps have %d rows, and not %d" % (table, at, len(rows)))
        return kept

    @staticmethod
    def points(heap):
        most = 3 + [name for name, _, _ in tables["curve"][2]].index("max_live_bytes")
        size = -(-len(heap) // POINTS)
        groups = [heap[at : at + size] for at in range(0, len(heap), size)]
        return [max(group, key=lambda row: row[most]) for group in groups]  # of equal ones the first

    @staticmethod
    def steps(heap):
        older = max(0, len(heap) - STEPS)
        stride = 1
        while older / stride > STEPS:
            stride *= 2
        return [row for place, row in enumerate(heap) if place >= older or place % stride == 0]


def check_table(what, path, table, wanted):
    row_counts[table] += len(wanted)
    try:
        got = parquet_file.read(path)
    except parquet_file.Fault as fault:
        return fail("%s: %s: %s" % (what, table, fault))
    columns = keys + [list(column[:2]) for column in tables[table][2]]
    if got.names != [column[0] for column in columns] or got.types != [KINDS[column[1]] for column in columns]:
        fail("%s: %s has other columns or types: %s" % (what, table, list(zip(got.names, got.types))))
    compare(what + ", our reader", table, got.names, wanted, got.rows)
    if ask is not None:
        names = ", ".join('hex("%s")' % n if t == parquet_file.BYTE_ARRAY else '"%s"' % n for n, t in zip(got.names, got.types))
        rows = ask("SELECT %s FROM read_parquet('%s', hive_partitioning = false)" % (names, path))
        takes = [{2: int, 5: float, 6: bytes.fromhex}[kind] for kind in got.types]
        rows = [tuple(None if value is None else take(value) for value, take in zip(row, takes)) for row in rows]
        compare(what + ", DuckDB", table, got.names, wanted, rows)
    return got.facts


def compare(what, table, names, wanted, got):
    if len(wanted) != len(got):
        return fail("%s: %s has %d rows, not %d" % (what, table, len(got), len(wanted)))
    for number, (row, other) in enumerate(zip(wanted, got)):
        for name, value, found in zip(names, row, other):
            if value != found or type(value) is not type(found):
                return fail("%s: %s: row %d: %s is %r, not %r" % (what, table, number, name, found, value))


def check(path, is_twice):
    run, what = Run(path), os.path.basename(path)
    whole, thin, again = (os.path.join(scratch, name) for name in ("whole", "thin", "again"))
    shell("rm", "-rf", whole, thin, again)
    names = ("--job-name", JOB, "--run-name", RUN, path)
    shell(export, "parquet", "-o", whole, "--allocations", "--all-steps", *names)
    has_more = max(run.one("SELECT count(*) FROM usage"), run.one("SELECT count(*) FROM z_step_sum")) > POINTS
    folders = [(whole, True), (thin, False)] if is_twice or has_more else [(whole, True)]  # else both hold the same
    for folder in (thin, again) if len(folders) > 1 else ():
        shell(export, "parquet", "-o", folder, *names)
    if len(folders) > 1:
        shell("diff", "-r", thin, again)
    inputs = run.all("SELECT recording_id, events_ingested FROM input ORDER BY recording_id, events_ingested")
    facts = {
        "npumem.schema_version": run.one("SELECT value FROM meta WHERE key = 'schema_version'").decode(),
        "npumem.version": run.one("SELECT value FROM meta WHERE key = 'tool_version'").decode(),
        "npumem.inputs": "%016x" % xxh64(b"".join(b"%s %d\n" % ((name or b""), count) for name, count in inputs)),
    }
    for folder, is_whole in folders:
        files = sorted(glob.glob(glob.escape(folder) + "/**/*", recursive=True))
        files = [os.path.relpath(file, folder) for file in files if os.path.isfile(file)]
        there = {name for name, (_, rows, _) in tables.items() if is_whole or rows != "DETAIL"}
        if {file.split("/")[0] for file in files} != there or len(files) != len(there):
            fail("%s: other files: %s" % (what, files))
        for file in files:
            table = file.split("/")[0]
            if os.path.dirname(file) != "%s/%s" % (table, FOLDER):
                fail("%s: lies in %s" % (what, file))
            rows = run.rows(table)
            if not is_whole and tables[table][1] in ("CURVE", "STEP"):
                rows = run.thin(table, rows)
            said = check_table(what, os.path.join(folder, file), table, rows)
            if said is not None and said != facts:
                fail("%s: %s says of itself %s, not %s" % (what, table, said, facts))


for number, database in enumerate(databases):
    check(database, number % 10 == 0)
for table in tables:
    print(table, row_counts[table])
sys.exit(1 if failures else 0)
