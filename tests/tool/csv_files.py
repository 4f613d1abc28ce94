# SPDX-License-Identifier: Apache-2.0
"""csv_files.py DATABASE FOLDER [all]: holds the CSV files of npumem-ingest to what SQLite says of the same views, by readers of
their own: Python's of CSV, and a walk through the stacks of the database. Prints what differs."""
import csv
import os
import re
import sqlite3
import sys

USUAL = ["catalog", "finding", "fragmentation", "health", "leak", "leak_by_site", "outstanding", "peak", "peak_by_site",
         "pool_hit_rate", "suspect_by_site", "timeline"]
TOLD = ["finding", "finding_group", "evidence", "minimum"]  # tables that are answers
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
STACK_BYTES_MAX = 8192


def expected_cell(value):
    """As a spreadsheet is to have it."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    parts = re.split("([\t\r\n;])", value)
    guarded = "".join(("'" if part.lstrip(" ")[:1] in tuple("=+-@") else "") + part for part in parts)
    return ("'" if value[:1] in ("\t", "\r", "\n") else "") + CONTROL.sub("?", guarded)


def is_same(value, cell):
    value = expected_cell(value)
    if isinstance(value, float):
        return abs(float(cell) - value) <= 1e-12 * abs(value)
    return str(value) == cell


def stack_lines(db):
    frames = dict(db.execute("SELECT frame_id, label FROM frame"))
    stacks = {number: (parent, frame) for number, parent, frame in
              db.execute("SELECT stack_id, parent_id, frame_id FROM stack")}
    lines = {}
    for number in stacks:
        parts, at = [], number
        while at is not None:
            at, frame = stacks[at]
            parts.append(frames.get(frame, "??"))
        lines[number] = " < ".join(parts)
    return lines


def check_stack(name, line, cell):
    wanted = expected_cell(line)
    if len(wanted.encode()) <= STACK_BYTES_MAX - len(" < ..."):
        return [] if cell == wanted else ["%s: the stack %r, not %r" % (name, cell, wanted)]
    shown = cell[:-len(" < ...")]
    if cell.endswith(" < ...") and len(cell.encode()) <= STACK_BYTES_MAX + 1 and wanted.startswith(shown + " < "):
        return []
    return ["%s: a long stack is %r" % (name, cell[-200:])]


def check_view(db, folder, name, lines):
    with open(os.path.join(folder, name + ".csv"), encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    answer = db.execute('SELECT * FROM "%s"' % name)
    columns = [column[0] for column in answer.description]
    wanted = answer.fetchall()
    place = next((at for at, column in enumerate(columns) if column in ("stack_id", "top_stack_id")), None)
    if rows[0] != columns + (["stack"] if place is not None else []):
        return ["%s: the header is %r" % (name, rows[0])]
    if len(rows) - 1 != len(wanted):
        return ["%s: %d rows, not %d" % (name, len(rows) - 1, len(wanted))]
    failures = []
    for row, values in zip(rows[1:], wanted):
        if len(row) != len(rows[0]) or not all(is_same(value, cell) for value, cell in zip(values, row)):
            failures.append("%s: %r, not %r" % (name, row, values))
        elif place is not None:
            failures += check_stack(name, lines.get(values[place], ""), row[-1])
    return failures


def main(database, folder, kind=""):
    db = sqlite3.connect("file:%s?mode=ro" % database, uri=True)
    names = USUAL
    if kind == "all":
        names = TOLD + [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")
                        if not name.startswith("z_") and name not in ("allocation", "allocation_detail", "stack_text")]
    found = sorted(os.listdir(folder))
    if found != sorted(name + ".csv" for name in names):
        print("the files are", found)
        return 1
    lines = stack_lines(db)
    failures = [failure for name in names for failure in check_view(db, folder, name, lines)]
    print("\n".join(failures[:10]) if failures else "%d files" % len(names))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
