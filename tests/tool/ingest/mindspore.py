#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mindspore.py BIN_DIR WORK_DIR [RUNS]: programs of which everything is known run here, slowly and in lists; the memory_block.csv that MindSpore's tracker
writes of them (no real one is public: built after the columns that its source prints), in each dialect, is given to npumem ingest, which
must say what happened: whole, then with rows that are damaged or missing."""
import gzip
import os
import random
import shutil
import sqlite3
import subprocess
import sys

NEVER = 2**63 - 1
OLD = ("start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,file_name,line_num,type,producer_task,task_name,node_name,"
       "graph_name,user_tasks")
NEW = OLD.replace("size,", "size,actual_peak_memory,") + ",python_stack"
LATEST = NEW.replace("actual_peak", "actual_used_memory,actual_peak").replace("python_stack", "last_user_task,python_stack,is_persistent,is_small")
TYPES = {"Weight": "weight", "WorkSpace": "workspace", "PyNativeOutput": "other", "GeConst": "other", "Other": "unknown"}


class Program:
    """Pools of which each operation is a tick, as are the tasks between them."""

    def __init__(self, rng, pools, before):
        self.rng, self.tick, self.rows, self.live = rng, 0, [], []
        self.before = dict.fromkeys(pools, before)
        self.reached = dict(self.before)
        self.used = dict.fromkeys(pools, 0)
        self.peak = dict(self.before)

    def place(self, size):
        at = 0x12C000000000
        for row in sorted(self.live, key=lambda row: row["address"]):
            if row["address"] - at >= size:
                break
            at = row["address"] + row["size"]
        return at

    def allocate(self, ticks=None):
        self.tick += self.rng.choice([1, 1, 2, 5])  # tasks take some
        kind = self.rng.choice(list(TYPES)) if ticks is None else ""
        size = 512 * self.rng.choice([1, 1, 3, 100, 4000])
        pool = self.rng.choice(list(self.used))
        row = {"begin": self.tick, "end": NEVER, "address": self.place(size), "stream": self.rng.choice([0, 0, 2]), "pool": pool,
               "size": size, "type": kind, "node": "Default/op-op%d" % self.rng.randint(1, 5) if kind else "",
               "graph": "kernel_graph_1" if kind else "", "function": self.rng.choice(["construct", "f", ""]) if kind else ""}
        self.used[pool] += size
        self.peak[pool] = max(self.peak[pool], self.used[pool] + self.before[pool])
        self.reached[pool] = max(self.reached[pool], self.peak[pool] + self.rng.choice([0, 0, 8192]))  # gaps
        row.update(used=self.used[pool] + self.before[pool], peak=self.reached[pool])
        self.rows.append(row)
        self.live.append(row)
        if ticks is not None:
            self.free(row)

    def free(self, row):
        self.tick += 1
        row["end"] = self.tick
        self.live.remove(row)
        self.used[row["pool"]] -= row["size"]

    def somas(self):
        self.rows.append(dict(self.rows[-1], begin=-1, end=-1, type="InSideSomas", pool="", used=0, peak=0))

    def run(self, count):
        self.allocate()
        for _ in range(count):
            what = self.rng.random()
            if what < 0.35 and self.live:
                self.free(self.rng.choice(self.live))
            elif what < 0.4:
                self.somas()
            elif what < 0.5:
                self.allocate(ticks=1)
            else:
                self.allocate()


def cells(row, header):
    stack = "File:/w/train.py;Line:7;Function:<module>|File:/w/a net.py;Line:30;Function:%s|" % row["function"] if row["function"] else ""
    known = {"start_time_stamp": row["begin"], "end_time_stamp": row["end"], "device_addr": "0x%x" % row["address"],
             "stream_id": row["stream"], "pool_type": row["pool"], "size": row["size"], "actual_peak_memory": row["peak"],
             "actual_used_memory": row["used"], "file_name": "graph.cc", "line_num": 3, "type": row["type"], "producer_task": 4,
             "task_name": "task_9" if row["node"] else "", "node_name": row["node"], "graph_name": row["graph"], "user_tasks": "{1-2-}",
             "last_user_task": "2", "python_stack": stack, "is_persistent": 0, "is_small": 1}
    return ",".join(str(known[name]) for name in header.split(",")) + ","


def write(path, header, rows, rng):
    text = "".join(line + "\n" for line in [header + ","] + [cells(row, header) for row in rows])
    if rng.random() < 0.3:  # a spreadsheet has been there
        text = "\ufeff" + text.replace(str(NEVER), "9.22337E+18").replace("\n", "\r\n")
    data = text.encode()
    with open(path, "wb") as out:
        out.write(gzip.compress(data) if rng.random() < 0.3 else data)


def ingest(binaries, source, status=0):
    output = os.path.splitext(source)[0] + ".db"
    got = subprocess.run([binaries + "/npumem-ingest", "--quiet", "--force", source, "-o", output], capture_output=True, text=True)
    if got.returncode != status:
        raise SystemExit("FAIL: %s: status %d: %s" % (source, got.returncode, got.stderr))
    return sqlite3.connect(output)


def expect(what, got, expected):
    if got != expected:
        raise SystemExit("FAIL: %s:\n got %s\n expected %s" % (what, str(got)[:1500], str(expected)[:1500]))


def columns_of(row, header):
    """What the header's columns leave of a row."""
    has_used, has_peak = "actual_used" in header, "actual_peak" in header
    return dict(row, used=row["used"] if has_used else None, peak=row["peak"] if has_peak else 0,
                function=row["function"] if "python_stack" in header else "")


def replay(rows):
    """Slowly, by asking of each row all others: when it really ended, what was live, how often it states something else."""
    rows = sorted((row for row in rows if row["begin"] >= 0), key=lambda row: row["begin"])
    for i, row in enumerate(rows):
        after = [other["begin"] for other in rows[i + 1:] if other["pool"] == row["pool"] and other["begin"] < row["end"] and
                 other["address"] < row["address"] + row["size"] and row["address"] < other["address"] + other["size"]]
        row["gone"] = min(after + [row["end"]])
    before, odd, peak = {}, {}, {}
    for row in rows:
        pool = row["pool"]
        live = sum(r["size"] for r in rows if r["pool"] == pool and r["begin"] <= row["begin"] < r["gone"])
        if row["used"] is not None:
            before.setdefault(pool, max(0, row["used"] - live))
        is_odd = 0 < row["peak"] < live or (row["used"] is not None and row["used"] != live + before[pool])
        odd[pool] = odd.get(pool, 0) + is_odd
        peak[pool] = max(peak.get(pool, 0), live)
    return rows, {pool: size for pool, size in before.items() if size}, {p: n for p, n in odd.items() if n}, peak


def site_of(row):
    return ("a net.py:30 " + row["function"] if row["function"]
            else row["graph"] + " " + row["node"] if row["node"] else "(no stack)")


def category_of(row):
    if row["type"] == "":
        return "workspace" if row["end"] == row["begin"] + 1 else "unknown"
    return TYPES[row["type"]]


def check(binaries, path, header, rows, damaged):
    """Of `damaged` rows nothing is known."""
    db = ingest(binaries, path, 3 if damaged else 0)
    rows, before, odd, peak = replay([columns_of(row, header) for row in rows])
    ends = [row["gone"] for row in rows if row["gone"] != NEVER]
    got = db.execute("SELECT heap, address, size_bytes, alloc_seq, free_seq, stream, category, site, alloc_ns, free_ns FROM allocation_detail"
                     " WHERE alloc_seq IS NOT NULL ORDER BY alloc_seq").fetchall()
    expect("number of blocks", len(got), len(rows))
    for i, (found, row) in enumerate(zip(got, rows)):
        born = i + sum(end <= row["begin"] for end in ends)
        expect("block %d" % i, found[:4] + found[5:],
               (row["pool"], "0x%x" % row["address"], row["size"], born, row["stream"], category_of(row), site_of(row), None, None))
        first = sum(end < row["gone"] for end in ends) + sum(other["begin"] < row["gone"] for other in rows)
        if row["gone"] == NEVER:
            expect("end of block %d" % i, found[4], None)
        elif found[4] is None or not first <= found[4] < first + ends.count(row["gone"]):
            raise SystemExit("FAIL: block %d ends at %s, expected %d of %d" % (i, found[4], first, ends.count(row["gone"])))
    expect("before", dict(db.execute("SELECT heap, sum(size_bytes) FROM allocation_detail WHERE alloc_seq IS NULL GROUP BY heap")), before)
    expect("peaks", dict(db.execute("SELECT heap, peak_bytes FROM peak")), {pool: size + before.get(pool, 0) for pool, size in peak.items()})
    expect("misuse", db.execute("SELECT count(*) FROM misuse").fetchone(), (0,))
    notes = dict(db.execute("SELECT text, count FROM z_note WHERE kind = 11"))
    expect("notes", notes, odd)
    is_doubted = bool(odd) or damaged > 0 or any(row["gone"] != row["end"] for row in rows)
    books = "estimate" if is_doubted else "exact"
    expect("input", db.execute("SELECT kind, order_kind, leak_basis, peak_basis, fragmentation_basis, hit_basis, device_basis, failure_basis,"
                               " misuse_basis, events_damaged, is_complete FROM input").fetchone(),
           ("MindSpore memory_block.csv", "file", books, books, "none", "none", "none", "none", "none", damaged, int(not damaged)))
    db.close()
    return books, odd


DAMAGES = [("size", "x"), ("size", -512), ("size", 0), ("address", 0), ("end", 0), ("end", -1), ("begin", -7), ("end", "")]


def run(binaries, work, seed):
    rng = random.Random(seed)
    header = (OLD, NEW, LATEST)[seed % 3]
    program = Program(rng, ["Ascend", "Enhanced"][:rng.choice([1, 1, 2])], rng.choice([0, 0, 1 << 20]))
    program.run(rng.choice([20, 100, 300]))
    rows = list(program.rows)
    rng.shuffle(rows)
    path = work + "/memory_block.csv"
    write(path, header, rows, rng)
    books, odd = check(binaries, path, header, rows, 0)
    expect("a sound file", (books, odd), ("exact", {}))

    # Rows that are not there, and ends that are not.
    less = [dict(row) for row in rows if rng.random() < 0.9]
    for row in less:
        if rng.random() < 0.1 and row["begin"] >= 0:
            row["end"] = NEVER
    write(path, header, less, rng)
    doubted, odd = check(binaries, path, header, less, 0)

    # Rows that cannot be read.
    whole, damaged = [], []
    for row in rows:
        (damaged if rng.random() < 0.1 and row["begin"] >= 0 else whole).append(dict(row))
    for row in damaged:
        name, value = rng.choice(DAMAGES)
        row[name] = value
    mixed = whole + damaged
    rng.shuffle(mixed)
    if any(row["begin"] >= 0 for row in whole):
        write(path, header, mixed, rng)
        check(binaries, path, header, whole, len(damaged))
    return doubted, bool(odd)


def main():
    binaries, work = sys.argv[1], sys.argv[2]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    first = int(os.environ.get("NPUMEM_SEED", "1"))
    seen = []
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    for seed in range(first, first + runs):
        try:
            seen.append(run(binaries, work, seed))
        except SystemExit as failure:
            raise SystemExit("%s\nNPUMEM_SEED=%d" % (failure, seed))
    if runs >= 24 and not (any(books == "estimate" for books, _ in seen) and any(odd for _, odd in seen)):
        raise SystemExit("FAIL: no run had anything that does not come out")
    print("%d programs, whole, with rows missing and with rows damaged" % runs)


main()
