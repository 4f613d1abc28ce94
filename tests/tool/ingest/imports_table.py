#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""imports_table.py BIN_DIR WORK_DIR DOC: each row of the table of docs/imports.md against an input of its kind that holds all that the kind can."""
import os
import shutil
import sqlite3
import subprocess
import sys

import made
from made import MADE

bin_dir, work, doc = sys.argv[1:4]
COLUMNS = ["leak_basis", "peak_basis", "fragmentation_basis", "hit_basis", "device_basis", "failure_basis"]
WORDS = {"E": "exact", "e": "estimate", "c": "curve", "-": "none"}
failures = []


def bases(path):
    out = work + "/out.db"
    run = subprocess.run([bin_dir + "/npumem-ingest", "--quiet", "--force", "-o", out, path], capture_output=True, text=True)
    if run.returncode != 0:
        failures.append("%s: %s" % (path, run.stderr.strip()))
        return None
    db = sqlite3.connect(out)
    rows = db.execute("SELECT %s, misuse_basis FROM input" % ", ".join(COLUMNS)).fetchall()
    db.close()
    return rows


shutil.rmtree(work, ignore_errors=True)
os.makedirs(work)
made.work = work
seen = set()
for line in open(doc, encoding="utf-8"):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) != 7 or cells[0] == "input" or set(cells[0]) == {"-"}:
        continue
    kind = next((kind for kind in MADE if cells[0].startswith(kind)), None)
    if kind is None:
        failures.append("no input is made for the row %s" % cells[0])
        continue
    seen.add(kind)
    said = tuple(WORDS[cell.split(",")[0]] for cell in cells[1:]) + ("none",)
    found = bases(MADE[kind]())
    if found is not None and found != [said]:
        failures.append("%s: the table says %s, the input %s" % (cells[0], said, found))
failures += ["%s has no row" % kind for kind in MADE if kind not in seen]
with open(os.path.join(os.path.dirname(doc), "..", "README.md"), encoding="utf-8") as readme:
    begin = readme.read().split("## Try it")[1].split("\n## ")[0]
failures += ["README's Try it does not name %s" % word for word in ("torch.profiler", "msMemScope", "Ascend PyTorch Profiler", "msprof", "out-of-memory",
                                                                  "memory_block.csv", "snapshot") if word not in begin]
for failure in failures:
    print("FAIL: " + failure, file=sys.stderr)
sys.exit(1 if failures else 0)
