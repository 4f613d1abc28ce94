#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page_tables.py PAGE.html TABLE COLUMN...: rows of a table of a page of npumem-report, as `sqlite3 -csv` prints them; "-" for TABLE: what it
has, a line each. Read by the words of src/page/columns.h, not by the script of the page."""
import base64
import json
import re
import struct
import sys
import zlib

BLOCK = re.compile(r'<script type="application/octet-stream" class="(\w+)" data-head=\'([^\']*)\'>([^<]*)</script>')


def planes(data, offset, rows, width):
    return [sum(data[offset + plane * rows + row] << (8 * plane) for plane in range(width)) for row in range(rows)]


def column_values(column, data, offset, rows, strings):
    codes = planes(data, offset, rows, column["bytes"])
    if column["kind"] == "real":
        values = [struct.unpack("<d", struct.pack("<Q", code))[0] for code in codes]
        return [None if value != value else value for value in values]
    if column["kind"] == "text":
        return [None if code == 0 else strings[code - 1] for code in codes]
    if column["kind"] == "int":
        return [None if code == 0 else column["base"] + code - 1 for code in codes]
    values, last = [], column["base"]
    for code in codes:
        last += code if column["kind"] == "rise" else -(code + 1) // 2 if code % 2 else code // 2
        values.append(last)
    return values


def read(path):
    with open(path, encoding="utf-8") as file:
        found = [(kind, json.loads(head), text) for kind, head, text in BLOCK.findall(file.read())]
    return [(kind, head, zlib.decompress(base64.b64decode(text), -15)) for kind, head, text in found if kind != "sql"]


def rows(path, name):
    """Names of the columns of a table, and its rows."""
    blocks = read(path)
    strings = next(data for kind, _, data in blocks if kind == "strings").decode().split("\0")[:-1]
    head, data = next((head, data) for kind, head, data in blocks if kind == "table" and head["name"] == name)
    columns, offset = {}, 0
    for column in head["columns"]:
        columns[column["name"]] = column_values(column, data, offset, head["rows"], strings)
        offset += column["bytes"] * head["rows"]
    return list(columns), list(zip(*columns.values()))


def main():
    path, name, wanted = sys.argv[1], sys.argv[2], sys.argv[3:]
    if name == "-":
        for kind, head, data in read(path):
            print(kind, head.get("name", head.get("heap", "")), head.get("rows", ""))
        return
    names, values = rows(path, name)
    for row in values:
        picked = (row[names.index(column)] for column in wanted)
        print(",".join("" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value) for value in picked))


if __name__ == "__main__":
    main()
