#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parquet_values.py PARQUET_WRITE DUCKDB_FOLDER SCRATCH: whether values of every kind are what two readers find in the files that
export/parquet.c makes of them: NULL here and there and everywhere, no rows, extremes of integers and their differences, what is no
number, texts of bytes that are no UTF-8, dictionaries that grow too large or are given up, pages and row groups."""
import math
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import duckdb_library
import parquet_file

program, modules, scratch = sys.argv[1:4]
KINDS = {"INTEGER": parquet_file.INT64, "REAL": parquet_file.DOUBLE, "TEXT": parquet_file.BYTE_ARRAY}
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
ask = duckdb_library.open(modules)
failures = 0


def fail(text):
    global failures
    failures += 1
    print(text, file=sys.stderr)


def real(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def written(kind, value):
    if value is None:
        return "-"
    if kind == "INTEGER":
        return str(value)
    return "%x" % struct.unpack("<Q", struct.pack("<d", value))[0] if kind == "REAL" else "x" + value.hex()


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


def found_by_duckdb(path, names, kinds):
    """By way of a file of CSV, for a call for each value takes long; texts in hexadecimal digits."""
    columns = ", ".join("hex(%s)" % name if kind == "TEXT" else name for name, kind in zip(names, kinds))
    ask("COPY (SELECT %s FROM read_parquet('%s')) TO '%s.csv' (HEADER false, NULLSTR '-')" % (columns, path, path))
    takes = [{"INTEGER": int, "REAL": float, "TEXT": lambda digits: bytes.fromhex(digits.strip('"')).decode()}[kind] for kind in kinds]
    with open(path + ".csv") as file:
        return [
            tuple(None if value == "-" else take(value) for value, take in zip(line.rstrip("\n").split(","), takes)) for line in file
        ]


def check(name, is_long, kinds, rows):
    path = os.path.join(scratch, name + ".parquet")
    names = ["c%d" % number for number in range(len(kinds))]
    head = "%s %s\n" % ("long" if is_long else "short", " ".join("%s %s" % pair for pair in zip(names, kinds)))
    text = head + "".join(" ".join(map(written, kinds, row)) + "\n" for row in rows)
    with open(path, "wb") as file:
        subprocess.run([program], input=text.encode(), stdout=file, check=True)
    wanted = [tuple(parquet_file.as_utf8(value) if isinstance(value, bytes) else value for value in row) for row in rows]
    try:
        table = parquet_file.read(path)
    except parquet_file.Fault as fault:
        return fail("%s: %s" % (name, fault))
    got = [tuple(value.decode() if isinstance(value, bytes) else value for value in row) for row in table.rows]
    if table.names != names or table.types != [KINDS[kind] for kind in kinds] or table.facts != {"test.key": "value"}:
        fail(name + ": columns")
    compare(name, "our reader", wanted, got)
    if ask is not None:
        compare(name, "DuckDB", wanted, found_by_duckdb(path, names, kinds))
    return table


def compare(name, reader, wanted, got):
    if len(wanted) != len(got):
        return fail("%s: %s finds %d rows, not %d" % (name, reader, len(got), len(wanted)))
    for number, (row, other) in enumerate(zip(wanted, got)):
        if not all(map(same, row, other)):
            return fail("%s: row %d: %s finds %r, not %r" % (name, number, reader, other, row))


def must(condition, text):
    if not condition:
        fail(text)


def some(chance, pick):
    return pick() if chance.random() < 0.8 else None


integers = [0, 1, -1, LEAST, GREATEST, LEAST + 1, GREATEST - 1, 1 << 62, -(1 << 62), 255, 256]
reals = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, real(1), real(0x7FEFFFFFFFFFFFFF), real(0xFFF8000000000001)]
texts = [b"", b"a", b"b" * 300, "é€𝄞".encode(), b"\xff", b"a\xc3", b"\xc3\xc3\xa9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80",
         b"\xe2\x82", b"\0", b"x\0y", b"\xf0\x9f\x98"]
kinds = ["INTEGER", "REAL", "TEXT"]
for is_long in (False, True):
    word = "long" if is_long else "short"
    check("none_" + word, is_long, kinds, [])
    check("null_" + word, is_long, kinds, [(None, None, None)] * 20)
    for count in (1, 2, 8, 31, 32, 33, 127, 128, 129, 130, 257):
        chance = random.Random(count)
        check("some_%d_%s" % (count, word), is_long, kinds,
              [(some(chance, lambda: chance.choice(integers)), some(chance, lambda: chance.choice(reals)),
                some(chance, lambda: chance.choice(texts))) for _ in range(count)])
        check("each_%d_%s" % (count, word), is_long, kinds * 2,
              [(integers[i % 11], reals[i % 10], texts[i % 14], i, float(i), b"t") for i in range(count)])
    # Runs among single values, in levels and in a dictionary; values of every width.
    chance = random.Random(7)
    rows = []
    for _ in range(60):
        row = (chance.randrange(-(1 << chance.randrange(64)), 1 << chance.randrange(64)) if chance.random() < 0.7 else None,
               chance.choice(reals), b"word %d" % chance.randrange(40) if chance.random() < 0.7 else None)
        rows += [row] * chance.choice((1, 1, 2, 7, 8, 9, 15, 16, 17, 40))
    check("runs_" + word, is_long, kinds, rows)
    # A step of each width, at each place of what is packed by 32, among steps of nothing.
    at, rows = 0, [(0,)]
    for width in range(64):
        for place in range(32):
            for i in range(32):
                at += 1 << width if i == place else 0
                rows.append(((at + (1 << 63)) % (1 << 64) - (1 << 63),))
    check("widths_" + word, is_long, ["INTEGER"], rows)
    check("nan_" + word, is_long, ["REAL"], [(math.nan,)] * 3)
    # Pages and a dictionary that grows too large on the way; then one that is worth nothing from the first; one that begins late.
    rows = [(i * i, None if i < 40000 else b"late %d" % (i % 3), b"%d" % (i % 9) if i < 33000 else b"%d%s" % (i, b"-" * 40), b"only %d" % i)
            for i in range(100000)]
    table = check("pages_" + word, is_long, ["INTEGER", "TEXT", "TEXT", "TEXT"], rows)
    check("wide_text_" + word, is_long, ["TEXT"], [(b"%d" % i + b"w" * 300000,) for i in range(12)])

# Row groups: all is anew in each.
count = (1 << 20) + 5
table = check("groups", True, ["INTEGER", "TEXT"], [(i * 3 if i % 5 else None, b"%d" % (i >> 18)) for i in range(count)])
must(table is not None and table.groups == [1 << 20, 5], "row groups have other sizes")
size = os.path.getsize(os.path.join(scratch, "groups.parquet"))
must(size < 200000, "1,048,581 steady rows take %d bytes" % size)
if ask is None:
    print("skipped: no DuckDB in build/node: files of Parquet are read by our own reader alone (./test.sh installs it)")
else:
    ends = ask("SELECT stats_min_value, stats_max_value, stats_null_count FROM parquet_metadata('%s/groups.parquet')"
               " WHERE path_in_schema = 'c0' ORDER BY row_group_id" % scratch)
    groups = [[i * 3 if i % 5 else None for i in part] for part in (range(1 << 20), range(1 << 20, count))]
    there = [[value for value in group if value is not None] for group in groups]
    wanted = [[str(min(some)), str(max(some)), str(len(group) - len(some))] for group, some in zip(groups, there)]
    must(ends == wanted, "DuckDB finds other ranges: %s, not %s" % (ends, wanted))
sys.exit(1 if failures else 0)
