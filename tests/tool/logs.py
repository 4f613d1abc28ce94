#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logs of many shapes, each with what its message says, written down by hand from its words: logs/NAME.log and NAME.want.

    logs.py BIN_DIR LOGS_DIR WORK_DIR

A line of NAME.want: `exit N`, `said TEXT` (on standard error), `hidden N` (processes), `oom KEY=VALUE|...` for each failure in
order, `other KEY=VALUE|...` for each other process that is named. Amounts are of 1024: 2.00G, 19.5M, sums as 7.1G+310.1M; '-' is
NULL. Some are read from a pipe and a gzip file, too, which give the same rows.
"""
import gzip
import os
import sqlite3
import subprocess
import sys
from fractions import Fraction

bin_dir, logs_dir, work = (os.path.abspath(p) for p in sys.argv[1:4])
failures = []

VIEW = """
SELECT o.rank, o.pid, o.host, o.device, o.heap, o.tried_bytes AS tried, o.at_least_tried_bytes AS at_least, o.total_bytes AS total,
    o.allocated_bytes AS allocated, o.active_bytes AS active, o.free_bytes AS free, o.reserved_bytes AS reserved, o.own_bytes AS own,
    o.verdict, o.error_code AS error, o.site, o.explanation, o.message, o.outcome,
    (WITH RECURSIVE up(id) AS (SELECT o.stack_id UNION ALL SELECT s.parent_id FROM stack AS s JOIN up ON s.stack_id = up.id)
     SELECT count(id) FROM up) AS frames,
    strftime('%Y-%m-%d %H:%M:%S', (i.start_realtime_ns + o.first_ns) / 1000000000, 'unixepoch') AS date
FROM out_of_memory AS o JOIN input AS i ORDER BY o.out_of_memory_id"""
OTHERS = """
SELECT q.pid, q.command AS name, coalesce(d.physical_ordinal, d.ordinal) AS device, t.peak_bytes AS bytes
FROM process AS q JOIN device AS d USING (process_id) JOIN heap AS h USING (device_id) JOIN z_heap_sum AS t USING (heap_id)
WHERE NOT EXISTS (SELECT 1 FROM z_out_of_memory_chain AS c WHERE c.process_id = q.process_id) ORDER BY q.process_id"""
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
OTHER_WAYS = ("noise", "ray", "ranks")
AMOUNTS = ("tried", "at_least", "total", "allocated", "active", "free", "reserved", "own", "bytes")


def bytes_of(text):
    """Each summand is rounded down, as it is read."""
    total = 0
    for part in text.split("+"):
        unit = UNITS.get(part[-1], 1)
        total += int(Fraction(part.rstrip("KMG")) * unit)
    return total


def check(name, want, ok, got):
    if not ok:
        failures.append(f"{name}: {want}: {got}")


def compare(name, wanted, rows):
    check(name, f"{len(wanted)} rows", len(wanted) == len(rows), len(rows))
    for line, row in zip(wanted, rows):
        for pair in line.split("|"):
            key, value = pair.split("=", 1)
            got = row[key]
            if value == "-":
                check(name, pair, got is None, got)
            elif key in AMOUNTS:
                check(name, pair, got == bytes_of(value), got)
            else:
                check(name, pair, str(got) == value, got)


def ingest(args, **kw):
    return subprocess.run([f"{bin_dir}/npumem-ingest", *args], capture_output=True, text=True, errors="replace", **kw)


def rows_of(path, question):
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(question)]


def check_answers(name, db):
    """A log holds nothing of what leaks or is misused, and is no contradiction."""
    for kind, severity in ((r["kind"], r["severity"]) for r in rows_of(db, "SELECT kind, severity FROM finding")):
        check(name, "only failures are judged", kind == "out of memory" or severity == "not judged", (kind, severity))
    for row in rows_of(db, "SELECT * FROM input"):
        check(name, "its bases", (row["leak_basis"], row["peak_basis"], row["failure_basis"], row["misuse_basis"]) ==
              ("none", "none", "exact", "none"), dict(row))
        check(name, "no contradiction", row["blocks_outside_count"] == 0 and row["unknown_reference_count"] == 0, dict(row))
    for row in rows_of(db, VIEW):
        check(name, "said whole", row["explanation"] and row["message"] and row["outcome"] is None, dict(row))
    check(name, "no anomaly", rows_of(db, "SELECT * FROM anomaly") == [], "")


def one(name):
    path = f"{logs_dir}/{name}.log"
    want = [line.rstrip("\n") for line in open(f"{logs_dir}/{name}.want", encoding="utf-8") if not line.startswith("#")]
    of = lambda word: [line[len(word) + 1:] for line in want if line.startswith(word + " ")]
    db = f"{work}/{name}.db"
    run = ingest(["--force", "-o", db, path])
    check(name, "exit", run.returncode == int(of("exit")[0]), (run.returncode, run.stderr))
    for text in of("said"):
        check(name, text, text in run.stderr, run.stderr)
    if not of("oom"):
        return
    compare(name, of("oom"), rows_of(db, VIEW))
    compare(name, of("other"), rows_of(db, OTHERS))
    hidden = rows_of(db, "SELECT processes_unjoined AS n, is_complete FROM input")[0]
    check(name, "hidden", hidden["n"] == int((of("hidden") or ["0"])[0]), hidden)
    check_answers(name, db)
    if name in OTHER_WAYS:
        read_otherwise(name, path, db, run.returncode)


def read_otherwise(name, path, db, code):
    data = open(path, "rb").read()
    with gzip.open(f"{work}/{name}.log.gz", "wb") as out:
        out.write(data)
    packed = ingest(["--force", "--quiet", "-o", f"{work}/gz.db", f"{work}/{name}.log.gz"])
    piped = subprocess.run([f"{bin_dir}/npumem-ingest", "--force", "--quiet", "-o", f"{work}/pipe.db", "-"], input=data, capture_output=True)
    check(name, "the same exit", packed.returncode == piped.returncode == code, (packed, piped))
    for other in ("gz.db", "pipe.db"):
        check(name, other, rows_of(f"{work}/{other}", VIEW) == rows_of(db, VIEW), "other rows")


def pipe_without_end():
    """What is printed while a program still runs is copied nowhere, and its answer comes when it ends."""
    read, write = os.pipe()
    run = subprocess.Popen([f"{bin_dir}/npumem-ingest", "--force", "--quiet", "-o", f"{work}/pipe.db", "-"], stdin=read, stderr=subprocess.PIPE,
                           env={**os.environ, "TMPDIR": "/proc"}, text=True)
    os.close(read)
    with open(write, "wb") as out:
        out.write(b"step 1 done\n" * 200000 + open(f"{logs_dir}/npu_full.log", "rb").read() + b"step 2 done\n" * 200000)
        check("pipe", "is waited for", run.poll() is None, run.returncode)
    said = run.communicate()[1]
    check("pipe", "exit 0", run.returncode == 0, said)
    check("pipe", "its failure", len(rows_of(f"{work}/pipe.db", VIEW)) == 1, "none")


def folders():
    """A folder has the logs of its last run; what is silent is left out, and so it is of several operands."""
    root = f"{work}/folder"
    line = "%s RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU %d; 29.50 GiB total capacity; 28.00 GiB already allocated; 28.00 GiB current active; 500.00 MiB free; 28.10 GiB reserved in total by PyTorch)\n"
    files = {"attempt_0/7/stderr.log": line % ("2026-04-09 21:56:40", 7), "rank_3.log": line % ("2026-04-09 22:10:00", 3),
             "old/rank_4.log": line % ("2026-04-07 21:56:40", 4), "notes.txt": "nothing\n", "table.csv": "Thread,Time,Action,Pointer,Size,Stream\n"}
    for name, text in files.items():
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
        open(f"{root}/{name}", "w", encoding="utf-8").write(text)
    run = ingest(["--force", "-o", f"{work}/folder.db", root])
    check("folder", "exit 0", run.returncode == 0, run.stderr)
    check("folder", "the date of an earlier run", "old/rank_4.log: its out-of-memory line is of 2026-04-07 21:56:40, of an earlier run; left out" in run.stderr, run.stderr)
    check("folder", "a silent one", "notes.txt: no out-of-memory line; left out" in run.stderr, run.stderr)
    compare("folder", ["rank=3|device=3", "rank=7|device=7"],
            rows_of(f"{work}/folder.db", "SELECT rank, device FROM out_of_memory ORDER BY rank"))
    run = ingest(["--force", "--quiet", "-o", f"{work}/two.db", f"{root}/notes.txt", f"{root}/rank_3.log"])
    check("operands", "exit 0", run.returncode == 0, run.stderr)
    run = ingest(["--force", "--quiet", "-o", f"{work}/two.db", f"{root}/notes.txt", f"{logs_dir}/silent.log"])
    check("operands", "exit 1", run.returncode == 1 and "no out-of-memory line in 2 files" in run.stderr, run.stderr)
    run = ingest(["--force", "--quiet", "-o", f"{work}/two.db", f"{root}/old"])
    check("old alone", "is the last run", run.returncode == 0, run.stderr)


os.makedirs(work, exist_ok=True)
for file in sorted(os.listdir(logs_dir)):
    if file.endswith(".log"):
        one(file[:-4])
pipe_without_end()
folders()
for text in failures:
    print(text, file=sys.stderr)
sys.exit(bool(failures))
