#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascend_profiler.py INGEST WORK_DIR: tables of the Ascend PyTorch Profiler and of msprof, made here and (where they are) real ones.

What is made comes of a program that is played here: it knows every block, and so what must come out. Of real ones the rows are counted
again, and golden.json beside them has their values.
"""
import contextlib
import csv
import glob
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import defaultdict
from decimal import Decimal

INGEST, WORK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
MIB, KIB = 1 << 20, 1 << 10
BASE_NS = 1_736_405_443_700_000_000
failures = []


def check(is_so, *what):
    if not is_so:
        failures.append(what)
        print("FAIL:", *what)


def ingest(path, *more, status=0, name="out.db"):
    """The database that is made of it, or the line that is said; None where nothing is."""
    output = os.path.join(WORK, name)
    for old in glob.glob(output + "*"):
        os.unlink(old)
    paths = [path] if isinstance(path, str) else path
    run = subprocess.run([INGEST, *paths, *more, "-o", output], capture_output=True, text=True, timeout=100)
    check(run.returncode == status, paths, "ends with", run.returncode, run.stderr[-300:])
    check(run.returncode >= 0, paths, "was ended by a signal")
    if run.returncode in (1, 2):
        check(run.stderr.count("\n") == 1 and not os.path.exists(output), paths, "says", run.stderr)
        return run.stderr
    for word in ("LEAK", "MISUSE", "CONTRADICTS", "GROWS"):
        check(word not in run.stdout, paths, "is told", word, run.stdout)
    return sqlite3.connect(output)


HEAPS = """SELECT h.name, h.level, s.allocation_count, s.free_count, s.allocated_bytes, s.outstanding_count, s.outstanding_bytes,
    s.baseline_bytes, s.live_bytes, s.peak_bytes, s.peak_stated_reserved_bytes
FROM z_heap_sum AS s JOIN heap AS h USING (heap_id) ORDER BY h.level, h.name, h.heap_id"""


def heaps(db):
    return {(row[0], row[1]): row[2:] for row in db.execute(HEAPS)}


def by_name(db):
    """Allocations by the function of their innermost frame."""
    return dict(db.execute("SELECT f.function, count(*) FROM allocation AS a JOIN stack AS s USING (stack_id)"
                           " JOIN frame AS f ON f.frame_id = s.frame_id WHERE a.alloc_seq IS NOT NULL GROUP BY 1"))


# ---- A program ----

class Pool:
    """Blocks of one component, from before the first row on."""

    def __init__(self, name, seed, count, reserved=64 * MIB):
        self.name, self.random, self.now = name, random.Random(seed), BASE_NS + seed * 10
        self.before = [self.random.randrange(1, 400) * 512 for _ in range(12)]
        self.total = self.at_begin = self.peak = sum(self.before)
        self.reserved = self.peak_reserved = reserved
        self.records, self.operators, self.blocks, self.live = [], [], [], []
        self.unlisted = 1_000_000
        self.grown = self.taken = self.taken_bytes = self.given = self.given_bytes = 0
        self.take(True)  # so that what was before is told by the first row
        for _ in range(count):
            self.step()

    def tick(self):
        self.now += self.random.choice((10, 500, 1230, 20010))
        return self.now

    def record(self):
        self.peak, self.peak_reserved = max(self.peak, self.total), max(self.peak_reserved, self.reserved)
        self.records.append((self.now, self.total, self.reserved))

    def take(self, is_listed):
        size = 512 * self.random.randrange(1, 3000)
        if not is_listed:
            self.unlisted += 7
            size = self.unlisted * 512
        self.tick()
        self.total += size
        if self.total > self.reserved:
            self.reserved += (size // (2 * MIB) + 1) * 2 * MIB
            self.grown += bool(self.records)
        self.record()
        self.taken, self.taken_bytes = self.taken + 1, self.taken_bytes + size
        block = {"name": "aten::" + self.random.choice("abcd"), "size": size, "begin": self.records[-1], "end": None, "active": None,
                 "address": 0x7F0000000000 + self.taken * (1 << 34)}
        self.live.append((block, is_listed))
        if is_listed:
            self.operators.append(block)
            self.blocks.append((self.now, block, True, self.total, self.reserved))

    def end_before(self):
        size = self.before.pop()
        self.tick()
        self.total -= size
        self.record()
        if len(self.before) % 2:  # else only the sums tell it
            self.operators.append({"name": "", "size": size, "begin": None, "end": self.records[-1], "active": None, "address": 0})

    def drop(self):
        block, is_listed = self.live.pop(self.random.randrange(len(self.live)))
        self.tick()
        self.total -= block["size"]
        self.record()
        self.given, self.given_bytes = self.given + 1, self.given_bytes + block["size"]
        if is_listed:
            block["active"] = self.records[-1]
            self.blocks.append((self.now, block, False, self.total, self.reserved))
            self.now += 10
            self.record()
            block["end"] = self.records[-1]

    def step(self):
        dice = self.random.random()
        if dice < 0.03 and self.before:
            self.end_before()
        elif dice < 0.45 and self.live:
            self.drop()
        else:
            self.take(self.random.random() < 0.9)

    def truth(self, has_reserved=True):
        return (self.taken, self.given, self.taken_bytes, self.taken - self.given, self.taken_bytes - self.given_bytes, self.at_begin,
                self.total, self.peak, self.peak_reserved if has_reserved else None)


class Program:
    def __init__(self, seed=1, count=300, device=0):
        self.device = device
        self.pta, self.ge = Pool("PTA", seed, count), Pool("GE", seed + 1, count // 3)
        for block in self.ge.operators:
            block["name"] = block["name"].replace("aten::", "Conv")
        self.app = [(BASE_NS + i * 20_000_000, 3 * 1024 * MIB + max(0, 5 - abs(i - 5)) * 4 * MIB) for i in range(11)]
        self.used = [(ns, bytes + 300 * MIB) for ns, bytes in self.app]
        self.modules = [("HCCL", BASE_NS + i * 20_000_000, (400 + i % 3) * MIB) for i in range(6)]
        self.modules += [("SLOG", BASE_NS + i * 20_000_000, 0) for i in range(6)]

    def expected(self):
        most = max(bytes for _, bytes in self.app)
        return {("APP", 1): most, ("PTA", 2): self.pta.truth(), ("GE", 2): self.ge.truth()}


def us(ns, tab="\t"):
    return "%d.%03d%s" % (ns // 1000, ns % 1000, tab)


def of(unit, bytes):
    return str(Decimal(bytes) / unit)


def write_csv(path, header, rows, end="\r\n", bom=False, comma=False):
    with open(path, "w", newline="") as file:
        file.write("\ufeff" * bom)
        for row in [header] + rows:
            file.write(",".join(row) + "," * comma + end)


def record_rows(program, unit=MIB, tab="\t", has_active=True):
    device, rows = "NPU:%d" % program.device, []
    extra = lambda active: [active, "1431569360"] if has_active else []
    for ns, bytes in program.app:
        rows.append(["APP", us(ns, tab), "", of(unit, bytes)] + (["", ""] if has_active else []) + [device])
    for pool in (program.pta, program.ge):
        for ns, total, reserved in pool.records:
            for name in (pool.name, "PTA+GE"):  # a sum, of which nothing is made
                rows.append([name, us(ns, tab), of(unit, total), of(unit, reserved)] + extra(of(unit, total)) + [device])
    return rows


RECORD = ["Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)", "Total Active(MB)", "Stream Ptr", "Device Type"]
OPERATOR = ["Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Active Release Time(us)", "Duration(us)",
            "Active Duration(us)", "Allocation Total Allocated(MB)", "Allocation Total Reserved(MB)", "Allocation Total Active(MB)",
            "Release Total Allocated(MB)", "Release Total Reserved(MB)", "Release Total Active(MB)", "Stream Ptr", "Device Type"]
MODULE = ["Component", "Timestamp(us)", "Total Reserved(MB)", "Device"]


def operator_rows(program, unit=MIB, tab="\t"):
    rows = []
    for pool in (program.pta, program.ge):
        for row in pool.operators:
            sums = lambda at: ["", "", ""] if at is None else [of(unit, at[1]), of(unit, at[2]), of(unit, at[1])]
            time = lambda at: "" if at is None else us(at[0], tab)
            sign = -1 if row["begin"] is None else 1
            name = row["name"] if pool.name == "PTA" or not row["name"] else "cann::" + row["name"]
            rows.append([name, of(KIB, sign * row["size"]), time(row["begin"]), time(row["end"]), time(row["active"]), "", ""]
                        + sums(row["begin"]) + sums(row["end"]) + ["" if pool.name == "GE" else "1431569360", "NPU:%d" % program.device])
    return rows


def without(header, rows, *names):
    keep = [i for i, name in enumerate(header) if name not in names]
    return [header[i] for i in keep], [[row[i] for i in keep] for row in rows]


def fresh(name):
    path = os.path.join(WORK, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def write_folder(path, program, rank=None, shuffle=True):
    inner = os.path.join(path, "ASCEND_PROFILER_OUTPUT")
    os.makedirs(inner, exist_ok=True)
    record, operator = record_rows(program), operator_rows(program)
    if shuffle:
        random.Random(5).shuffle(record)
        random.Random(6).shuffle(operator)
    write_csv(inner + "/memory_record.csv", RECORD, record)
    write_csv(inner + "/operator_memory.csv", OPERATOR, operator, bom=True)
    write_csv(inner + "/npu_module_mem.csv", MODULE,
              [[name, us(ns), of(MIB, bytes), "NPU:%d" % program.device] for name, ns, bytes in program.modules], end="\n")
    write_csv(inner + "/static_op_mem.csv", ["Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start", "Node Index End", "Size(KB)"],
              [["host", "sqrt", "0", "0", "1", "2", "12.5"]], end="\n")
    with open(inner + "/README.txt", "w") as file:
        file.write("nothing\n")
    if rank is not None:
        with open(path + "/profiler_info_%d.json" % rank, "w") as file:
            json.dump({"config": {"common_config": {"rank_id": 99}}, "start_info": {"freq": 100}, "rank_id": rank}, file, indent=4)
    return inner


# ---- Its database ----

def write_db(path, program, is_msprof=False, rank=None, has_wal=False, leave_out=()):
    db = sqlite3.connect(path)
    strings, numbers = {}, iter(range(10, 1_000_000))

    def name(text):
        if text not in strings:
            strings[text] = next(numbers)
        return strings[text]

    def table(table_name, columns, rows):
        if table_name in leave_out:
            return
        db.execute("CREATE TABLE %s (%s)" % (table_name, columns))
        db.executemany("INSERT INTO %s VALUES (%s)" % (table_name, ", ".join("?" * (columns.count(",") + 1))), rows)

    device = program.device
    kind = (lambda word: {"app": 0, "device": 1, "allocate": 5, "release": 6}[word]) if is_msprof else name
    if not is_msprof:
        table("MEMORY_RECORD", "component, timestamp, totalAllocated, totalReserved, totalActive, streamPtr, deviceId",
              [(name(word), ns, total, reserved, total, 7, device) for pool in (program.pta, program.ge)
               for ns, total, reserved in pool.records for word in (pool.name, "PTA+GE")])
        at = lambda row, which, i: None if row[which] is None else row[which][i]
        table("OP_MEMORY", "name, size, allocationTime, releaseTime, activeReleaseTime, duration, activeDuration, allocationTotalAllocated,"
              " allocationTotalReserved, allocationTotalActive, releaseTotalAllocated, releaseTotalReserved, releaseTotalActive, streamPtr, deviceId",
              [(name(row["name"]), row["size"] if row["begin"] else -row["size"], at(row, "begin", 0), at(row, "end", 0), at(row, "active", 0),
                None, None, at(row, "begin", 1), at(row, "begin", 2), at(row, "begin", 1), at(row, "end", 1), at(row, "end", 2), at(row, "end", 1),
                None if pool is program.ge else 7, device) for pool in (program.pta, program.ge) for row in pool.operators])
        table("STEP_TIME", "id, startNs, endNs", [(50 + i, BASE_NS + i * 100_000, BASE_NS + i * 100_000 + 90_000) for i in range(4)])
        # The thread 17 is where it is; the thread 18 calls others all the time.
        begin, end, tid = BASE_NS - 1_000_000, BASE_NS + 10**9, (4242 << 32) + 17
        calls = [(begin, end, tid, "train.py(12): step", 50003), (begin, end, tid + 1, "other.py(3): run", 50003)]
        for row in program.pta.operators:
            if row["begin"]:
                ns = row["begin"][0]
                chain = 1 if row["name"] == "aten::b" else None
                calls += [(ns - 4, ns + 4, tid, row["name"], 50001, chain), (ns - 3, ns - 2, tid + 1, row["name"], 50001), (ns - 2, ns + 2, tid, "empty_tensor", 50001),
                          (ns - 1, ns + 1, tid, "Enqueue", 50002)]
        table("PYTORCH_API", "startNs TEXT, endNs TEXT, globalTid, connectionId, name, sequenceNumber, fwdThreadId, inputDtypes, inputShapes,"
              " callchainId, type", [(str(call[0]), str(call[1]), call[2], None, name(call[3]), None, None, None, None, (call + (None,))[5], call[4])
                                for call in calls])
        table("PYTORCH_CALLCHAINS", "id, stack, stackDepth", [(1, name("/home/u/train.py(40): main"), 1), (1, name("/home/u/model.py(7): forward"), 0),
                                                              (2, name("no.py(1): no"), 0)])
        table("META_DATA", "name, value", [("ENV_VARIABLES", '{"PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True", "HCCL_X": ""}')])
    table("NPU_MEM", "type, ddr, hbm, timestampNs, deviceId",
          [(kind("app"), 0, bytes, ns, device) for ns, bytes in program.app]
          + [(kind("device"), MIB, bytes - MIB, ns, device) for ns, bytes in program.used])
    table("NPU_MODULE_MEM", "moduleId, timestampNs, totalReserved, deviceId",
          [({"HCCL": 3, "SLOG": 0}[word], ns, bytes, device) for word, ns, bytes in program.modules])
    table("ENUM_MODULE", "id, name", [(0, "SLOG"), (3, "HCCL")])
    # GE states with a release what was before it.
    table("NPU_OP_MEM", "operatorName, addr, type, size, timestampNs, globalTid, totalAllocate, totalReserve, component, deviceId",
          [(name(block["name"]), block["address"], kind("allocate" if begins else "release"), block["size"], ns, (4242 << 32) + 17,
            total if begins else total + block["size"], reserved, name("GE"), device)
           for ns, block, begins, total, reserved in program.ge.blocks])
    if is_msprof:
        table("ENUM_MEMORY", "id, name", [(0, "app"), (1, "device"), (5, "allocate"), (6, "release")])
    if rank is not None:
        table("RANK_DEVICE_MAP", "rankId, deviceId", [(rank, device)])
    table("HOST_INFO", "hostUid, hostName", [("1", "worker-3")])
    table("NPU_INFO", "id, name", [(device, "Ascend910B")])
    table("STRING_IDS", "id, value", [(number, text) for text, number in strings.items()])
    db.commit()
    db.close()
    if has_wal:
        open(path + "-wal", "w").close()
        open(path + "-shm", "wb").write(bytes(32768))


def check_program(db, program, what, has_app=True, has_unlisted_ge=True):
    found, expected = heaps(db), program.expected()
    check(found.get(("PTA", 2)) == expected[("PTA", 2)], what, "PTA", found.get(("PTA", 2)), expected[("PTA", 2)])
    if has_unlisted_ge:
        check(found.get(("GE", 2)) == expected[("GE", 2)], what, "GE", found.get(("GE", 2)), expected[("GE", 2)])
    if has_app:
        check(found.get(("APP", 1), [0] * 9)[7] == expected[("APP", 1)], what, "APP", found.get(("APP", 1)))
    check(set(found) <= set(expected), what, "has heaps", set(found))
    bases = db.execute("SELECT leak_basis, peak_basis, fragmentation_basis, hit_basis, device_basis, failure_basis, misuse_basis,"
                       " is_complete, kind FROM input").fetchall()
    check(bases == [("estimate", "estimate", "curve", "estimate", "exact" if has_app else "none", "none", "none", 1, "Ascend PyTorch Profiler")],
          what, bases)
    count, bytes = db.execute("SELECT sum(count), sum(bytes) FROM finding WHERE kind = 'leak' AND reason = 'estimate'").fetchone()
    left = program.pta.taken - program.pta.given + program.ge.taken - program.ge.given
    check(not has_unlisted_ge or count == left, what, "not released", count, left)


# ---- Built tables ----

def test_tables():
    program = Program()
    path = fresh("a_ascend_pt")
    inner = write_folder(path, program, rank=3)
    db = ingest(path)
    check_program(db, program, "a folder")
    check(db.execute("SELECT rank, pid, host FROM process").fetchall() == [(3, None, None)], "rank of profiler_info")
    check(db.execute("SELECT DISTINCT module, max(peak_bytes) FROM z_module_sample").fetchall() == [("HCCL", 402 * MIB)], "modules")
    counts = defaultdict(int)
    for row in program.pta.operators + program.ge.operators:
        counts[row["name"]] += row["begin"] is not None
    del counts[""]
    check(by_name(db) == counts, "operators by name", by_name(db), counts)
    db = ingest(inner)
    check_program(db, program, "the inner folder")
    check(db.execute("SELECT rank FROM process").fetchall() == [(3,)], "rank of profiler_info above the folder")
    check_program(ingest([inner + "/operator_memory.csv", inner + "/memory_record.csv", inner + "/npu_module_mem.csv"]), program,
                  "files one by one")
    check("does not say what was held" in ingest(path + "/profiler_info_3.json", status=1), "a file that tells nothing")
    # Each file alone: the record is a curve, operators tell the rest by their own sums.
    found = heaps(ingest(inner + "/memory_record.csv"))
    check(found[("PTA", 2)][6:] == program.pta.truth()[6:], "the record alone", found)
    found = heaps(ingest(inner + "/operator_memory.csv"))
    listed = [row["size"] for row in program.pta.operators if row["begin"]]
    check(found[("PTA", 2)][2] >= sum(listed), "operators alone", found)


def test_dialects():
    program = Program(seed=7)
    # 2023: no columns of active memory, no streams.
    path = fresh("old")
    header, rows = without(RECORD, record_rows(program, tab=""), "Total Active(MB)", "Stream Ptr")
    write_csv(path + "/memory_record.csv", header, rows, end="\n")
    ended = [dict(row, active=None, end=row["active"] or row["end"]) for row in program.pta.operators]
    kept, program.pta.operators = program.pta.operators, ended
    ge_kept, program.ge.operators = program.ge.operators, [dict(row, active=None, end=row["active"] or row["end"]) for row in program.ge.operators]
    header, rows = without(OPERATOR, operator_rows(program, tab=""), "Active Release Time(us)", "Active Duration(us)", "Stream Ptr",
                           "Allocation Total Active(MB)", "Release Total Active(MB)")
    write_csv(path + "/operator_memory.csv", header, rows, end="\n")
    check_program(ingest(path), program, "the dialect of 2023")
    # msprof: KiB, of GE alone, how long and not until when; every line ends with a comma.
    path = fresh("PROF_000001_20250101/mindstudio_profiler_output")
    ge = Program(seed=7)
    ge.pta, ge.ge = ge.ge, ge.ge
    rows = [["GE", us(ns), of(KIB, total), of(KIB, reserved), "NPU:0"] for ns, total, reserved in program.ge.records]
    write_csv(path + "/memory_record_20250101.csv", ["Component", "Timestamp(us)", "Total Allocated(KB)", "Total Reserved(KB)", "Device"], rows)
    rows = [["0", row["name"], of(KIB, row["size"]), us(row["begin"][0]), us(row["end"][0] - row["begin"][0]) if row["end"] else "",
             of(KIB, row["begin"][1]), of(KIB, row["begin"][2]), "NPU:0"] for row in program.ge.operators if row["begin"]]
    write_csv(path + "/operator_memory_20250101.csv",
              ["Device_id", "Name", "Size(KB)", "Allocation Time(us)", "Duration(us)", "Allocation Total Allocated(KB)",
               "Allocation Total Reserved(KB)", "Device"], rows, comma=True)
    write_csv(path + "/npu_mem_20250101.csv", ["Device_id", "event", "ddr(KB)", "hbm(KB)", "memory(KB)", "timestamp(us)"],
              [["0", "app", "0", of(KIB, bytes), of(KIB, bytes), us(ns)] for ns, bytes in program.app]
              + [["0", "device", "1024", of(KIB, bytes - MIB), of(KIB, bytes), us(ns)] for ns, bytes in program.used])
    db = ingest(os.path.dirname(path))
    check(heaps(db).get(("GE", 2)) == program.ge.truth(), "msprof", heaps(db), program.ge.truth())
    check(heaps(db)[("APP", 1)][7] == program.expected()[("APP", 1)], "msprof's app")
    used = [row[0] for row in db.execute("SELECT used_bytes FROM memory_sample ORDER BY seq")]
    check(used == [bytes for _, bytes in program.used], "what everybody holds", used)
    check(db.execute("SELECT kind, device_basis FROM input").fetchall() == [("msprof", "exact")], "msprof's kind")
    program.pta.operators, program.ge.operators = kept, ge_kept
    # Through a spreadsheet: times without digits; sums are as they were.
    path = fresh("spreadsheet")
    rows = [[row[0], "1.73641E+15"] + row[2:] for row in record_rows(program)]
    write_csv(path + "/memory_record.csv", RECORD, rows)
    write_csv(path + "/operator_memory.csv", OPERATOR, operator_rows(program))
    db = ingest(path)
    found = heaps(db)
    check(found[("PTA", 2)][7:] == program.pta.truth()[7:], "a spreadsheet", found[("PTA", 2)], program.pta.truth())
    listed = [row for row in program.pta.operators if row["begin"]]
    check(("PTA operator_memory", 2) in found and found[("PTA operator_memory", 2)][0] >= len(listed), "its operators", found)
    check(db.execute("SELECT events_late > 0, is_complete FROM input").fetchall() == [(1, 1)], "rows of no certain place")
    # A row that says nothing is a loss, and said; a file that ends within one too.
    path = fresh("damaged")
    rows = record_rows(program)
    rows[20] = ["PTA", "soon", "1", "2", "3", "4", "NPU:0"]
    write_csv(path + "/memory_record.csv", RECORD, rows)
    db = ingest(path, status=3)
    check(db.execute("SELECT events_damaged FROM input").fetchall() == [(1,)], "a damaged row")


def test_databases():
    program = Program(seed=11, device=4)
    path = fresh("db") + "/ascend_pytorch_profiler_2.db"
    # Of GE only blocks with addresses are asked: what was before has none.
    program.ge = Pool("GE", 12, 0)
    for _ in range(80):
        (program.ge.drop if program.ge.live and program.ge.random.random() < 0.4 else lambda: program.ge.take(True))()
    write_db(path, program, rank=2, has_wal=True)
    db = ingest(path)
    check_program(db, program, "a database")
    check(db.execute("SELECT host, rank, pid FROM process").fetchall() == [("worker-3", 2, 4242)], "process of a database")
    check(db.execute("SELECT ordinal, name FROM device").fetchall() == [(4, "Ascend910B")], "device of a database")
    steps = db.execute("SELECT number, begin_ns - (SELECT ? - start_realtime_ns FROM input) FROM step ORDER BY 1", (BASE_NS,)).fetchall()
    check(steps == [(50 + i, i * 100_000) for i in range(4)], "steps", steps)
    check(db.execute("SELECT source, name, value FROM z_environment").fetchall()
          == [("environment", "PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True")], "environment")
    stacks = db.execute("SELECT DISTINCT t.text FROM allocation AS a JOIN stack_text AS t USING (stack_id) JOIN heap AS h USING (heap_id)"
                        " WHERE h.name = 'PTA' AND a.alloc_seq IS NOT NULL AND t.text LIKE '%aten::a%'").fetchall()
    check(len(stacks) == 1 and "train.py:12 step" in stacks[0][0] and "empty_tensor" not in stacks[0][0] and "other.py" not in stacks[0][0],
          "stacks", stacks)
    stacks = db.execute("SELECT DISTINCT t.text FROM allocation AS a JOIN stack_text AS t USING (stack_id) JOIN heap AS h USING (heap_id)"
                        " WHERE h.name = 'PTA' AND a.alloc_seq IS NOT NULL AND t.text LIKE '%aten::b%'").fetchall()
    check(stacks == [("aten::b\nmodel.py:7 forward\ntrain.py:40 main",)], "the chain of a call", stacks)
    # Rows in a journal that its writer has left are not read, and said.
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("CREATE TABLE more (a)")
    writer.commit()
    os.unlink(os.path.join(WORK, "out.db"))
    run = subprocess.run([INGEST, path, "-o", os.path.join(WORK, "out.db")], capture_output=True, text=True, timeout=100)
    check(run.returncode == 0 and "in its journal (-wal) are not read" in run.stderr, "a journal", run.stderr)
    writer.close()
    # Its tables as text tell the same.
    folder = fresh("same")
    write_folder(folder, program, rank=2)
    text = ingest(folder, name="text.db")
    check(heaps(text) == heaps(db), "csv and db of one run", heaps(text), heaps(db))
    # Both in one folder: one input.
    inner = folder + "/ASCEND_PROFILER_OUTPUT"
    shutil.copy(path, inner)
    both = ingest(folder, name="both.db")
    check(heaps(both) == heaps(db), "csv and db in one folder", heaps(both))
    check(both.execute("SELECT count(*), min(path) FROM input").fetchone() == (1, inner + "/ascend_pytorch_profiler_2.db"), "the db wins")
    both = ingest([inner + "/memory_record.csv", inner + "/ascend_pytorch_profiler_2.db", inner + "/operator_memory.csv"], name="both.db")
    check(heaps(both) == heaps(db), "csv and db named one by one")
    # msprof: numbers of ENUM_MEMORY; its blocks are all that is told of GE.
    path = fresh("msprof") + "/msprof_4.db"
    write_db(path, program, is_msprof=True)
    db = ingest(path)
    check(heaps(db)[("GE", 2)] == program.ge.truth(), "msprof's blocks", heaps(db), program.ge.truth())
    check(db.execute("SELECT leak_basis, peak_basis, kind FROM input").fetchall() == [("exact", "exact", "msprof")], "msprof's basis")
    # Any table may be missing; without all there is no memory.
    tables = ["MEMORY_RECORD", "OP_MEMORY", "NPU_MEM", "NPU_MODULE_MEM", "NPU_OP_MEM"]
    for table in tables + ["STRING_IDS", "ENUM_MODULE"]:
        os.unlink(path)
        write_db(path, program, leave_out=[table])
        ingest(path, status=3 if table in ("STRING_IDS", "ENUM_MODULE") else 0)
    os.unlink(path)
    write_db(path, program, leave_out=tables)
    check("without memory" in ingest(path, status=1), "no memory tables")
    # What a database would run, is not run.
    hostile = sqlite3.connect(path)
    hostile.execute("CREATE VIEW MEMORY_RECORD AS WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT i FROM x")
    hostile.commit()
    hostile.close()
    check("without memory" in ingest(path, status=1), "a view in a table's place")


# ---- Folders ----

def test_folders():
    ranks = fresh("ranks")
    programs = [Program(seed=20 + 2 * i, count=40, device=i % 8) for i in range(8)]
    for i, program in enumerate(programs):
        write_folder("%s/rank_%d/host_%d_ascend_pt" % (ranks, i, i), program, rank=i if i % 2 else None)
    found = {}
    for jobs in ("1", "4"):
        db = ingest(ranks, "--jobs", jobs, name="ranks.db")
        found[jobs] = db.execute("SELECT p.rank, h.name, s.peak_bytes FROM process AS p JOIN heap AS h USING (process_id)"
                                 " JOIN z_heap_sum AS s USING (heap_id) WHERE h.level = 2 ORDER BY 1, 2").fetchall()
    expected = [(i, pool.name, pool.peak) for i, program in enumerate(programs) for pool in (program.ge, program.pta)]
    check(found["1"] == expected and found["4"] == expected, "eight ranks", found, expected)
    # What a run with results was made of is not read again.
    raw = ranks + "/rank_0/host_0_ascend_pt/PROF_1/mindstudio_profiler_output"
    os.makedirs(raw)
    write_csv(raw + "/memory_record_1.csv", RECORD, record_rows(programs[0]))
    db = ingest(ranks + "/rank_0/")
    check(db.execute("SELECT count(*) FROM input").fetchone() == (1,), "raw files beside results")
    check(db.execute("SELECT rank FROM process").fetchall() == [(0,)], "the rank of a folder's name")
    # Without memory, and without anything.
    empty = fresh("b_ascend_pt")
    os.makedirs(empty + "/ASCEND_PROFILER_OUTPUT")
    write_csv(empty + "/ASCEND_PROFILER_OUTPUT/step_trace_time.csv",
              ["Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication"], [["2", "1", "2", "3", "4"]])
    check("memory was not profiled: profile_memory was off" in ingest(empty, status=1), "no memory in a folder")
    check("there is no trace in this folder" in ingest(fresh("nothing"), status=1), "nothing in a folder")
    # Links, pipes, what is deep, what is hidden, and much.
    odd = fresh("odd")
    os.mkfifo(odd + "/pipe.csv")
    os.symlink(ranks, odd + "/link")
    os.symlink(odd, odd + "/self")
    os.symlink("/dev/zero", odd + "/zero.csv")
    os.makedirs(odd + "/.git")
    shutil.copy(raw + "/memory_record_1.csv", odd + "/.git")
    deep = odd + "/d" * 30
    os.makedirs(deep)
    shutil.copy(raw + "/memory_record_1.csv", deep)
    os.makedirs(odd + "/unreadable", mode=0)
    check("there is no trace in this folder" in ingest(odd, status=1), "an odd folder")
    many = fresh("many")
    for i in range(10_000):
        with open("%s/%d.bin" % (many, i), "wb") as file:
            file.write(b"\x00\x01\x02")
    write_folder(many + "/one", programs[1])
    check(heaps(ingest(many))[("PTA", 2)] == programs[1].pta.truth(), "one among 10,000 files")
    os.chmod(odd + "/unreadable", 0o700)


# ---- Real ones ----

def real_records(path):
    peaks = defaultdict(lambda: [0, 0, 0])
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            peak = peaks[row["Component"].strip()]
            for i, column in enumerate(("Total Allocated(MB)", "Total Reserved(MB)")):
                if row[column].strip():
                    peak[i] = max(peak[i], int(Decimal(row[column].strip()) * MIB))
            peak[2] += 1
    return peaks


def check_real(folder, name):
    db = ingest(folder)
    found = heaps(db)
    csvs = folder if os.path.exists(folder + "/memory_record.csv") else folder + "/ASCEND_PROFILER_OUTPUT"
    peaks = real_records(csvs + "/memory_record.csv")
    for component, (allocated, reserved, _) in peaks.items():
        if component == "APP":
            check(found[("APP", 1)][7] == reserved, name, component, found, reserved)
        elif "+" not in component and name != "dialect_2023":
            check(found[(component, 2)][7:] == (allocated, reserved), name, component, found, allocated, reserved)
    return db, found


def test_samples(samples):
    with open(samples + "/imports/golden.json") as file:
        golden = json.load(file)
    for name in ("cnn_rank0", "llm_rank0", "dialect_2023"):
        check_real(samples + "/msprof/" + name, name)
    folder = samples + "/imports/ascend_pt/"
    _, rounded = check_real(folder + "dialect_2023_rank1", "dialect_2023_rank1")
    _, text = check_real(folder + "text_level0_rank0", "text_level0_rank0")
    db = ingest(folder + "db_level0_rank0")
    of_db = heaps(db)
    operators = golden["ascend_pt/text_level0_rank0/ASCEND_PROFILER_OUTPUT"]["operator_memory"]
    for found, what in ((text, "text"), (of_db, "db")):
        pools = [found[("PTA", 2)], found[("GE", 2)]]
        check(sum(pool[0] for pool in pools) == operators["rows"], what, "rows", pools)
        check(sum(pool[2] for pool in pools) == operators["allocated_bytes"], what, "allocated", pools)
        check(sum(pool[3] for pool in pools) == operators["without_release"], what, "without release", pools)
        check(sum(pool[4] for pool in pools) == operators["without_release_bytes"], what, "bytes without release", pools)
    check(text[("PTA", 2)] == of_db[("PTA", 2)] and text[("GE", 2)] == of_db[("GE", 2)], "text and db of one program", text, of_db)
    of_file = golden["ascend_pt/db_level0_rank0/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"]
    check(of_db[("APP", 1)][7] == of_file["NPU_MEM"]["app/dev 0"]["peak_hbm"], "app")
    used = db.execute("SELECT max(used_bytes) FROM memory_sample").fetchone()[0]
    check(used == of_file["NPU_MEM"]["device/dev 0"]["peak_hbm"], "device", used)
    modules = dict(db.execute("SELECT module, max(peak_bytes) FROM z_module_sample GROUP BY 1"))
    check(modules == of_file["NPU_MODULE_MEM"]["nonzero"], "modules", modules)
    blocks = of_file["NPU_OP_MEM"]["pools"]["GE/dev 0"]
    check(of_db[("GE", 2)][:3] == (blocks["allocations"], blocks["frees"], blocks["allocated_bytes"]), "blocks", of_db)
    check(of_db[("GE", 2)][7:] == (blocks["max_totalAllocate"], blocks["max_totalReserve"]), "peak of blocks", of_db)
    blocks = golden["msprof/msprof_0.db"]["NPU_OP_MEM"]["pools"]["APP/dev 0"]
    found = heaps(ingest(samples + "/msprof/msprof_0.db"))[("APP", 2)]
    check(found[:3] == (blocks["allocations"], blocks["frees"], blocks["allocated_bytes"]), "msprof's blocks", found)
    check(found[7:] == (blocks["max_totalAllocate"], blocks["max_totalReserve"]), "msprof's peak", found)
    check(rounded[("PTA operator_memory", 2)][0] >= 21, "operators beside", rounded)
    ranks = fresh("snapshots")
    for i, snapshot in enumerate(("one_forward", "one_training_step")):
        os.makedirs("%s/rank_%d" % (ranks, i))
        shutil.copy("%s/torch/%s.pickle" % (samples, snapshot), "%s/rank_%d" % (ranks, i))
    subprocess.run([INGEST, ranks, "--quiet", "-o", os.path.join(WORK, "snapshots.db")], check=True, timeout=100)
    found = sqlite3.connect(os.path.join(WORK, "snapshots.db"))
    check(found.execute("SELECT i.kind, p.rank FROM input AS i JOIN process AS p USING (input_id) ORDER BY 2").fetchall()
          == [("torch snapshot", 0), ("torch snapshot", 1)], "snapshots of ranks in a folder")
    every = ingest(samples + "/imports/ascend_pt", name="every.db")
    check(every.execute("SELECT count(*) FROM input").fetchone() == (3,), "three runs in one folder")


def main():
    os.makedirs(WORK, exist_ok=True)
    test_tables()
    test_dialects()
    test_databases()
    test_folders()
    samples = os.environ.get("NPUMEM_SAMPLES_DIR", "")
    if os.path.isdir(samples + "/imports/ascend_pt"):
        test_samples(samples)
    else:
        print("skipped: no samples here: real tables of the Ascend PyTorch Profiler")
    with contextlib.suppress(OSError):
        shutil.rmtree(WORK)
    sys.exit(bool(failures))


main()
