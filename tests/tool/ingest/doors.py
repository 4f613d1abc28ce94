#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""doors.py BIN_DIR WORK_DIR: what all programs say of a file of each kind of docs/imports.md, and that it does not matter how the file comes.

What must be said is worked out from the rows that made.py writes, or from the bases of docs/imports.md: what an input does not tell is
never good news, a figure, or a failed rule.
"""
import gzip
import json
import os
import pickle
import random
import shutil
import sqlite3
import subprocess
import sys

import made
from made import MADE, MIB

bin_dir, work = (os.path.abspath(path) for path in sys.argv[1:3])
failures = []


def check(what, got, wanted):
    if got != wanted:
        failures.append("%s: %s, wanted %s" % (what, str(got)[:600], str(wanted)[:600]))


def run(program, *words, env=None):
    return subprocess.run(["%s/npumem-%s" % (bin_dir, program), *words], capture_output=True, text=True, errors="replace",
                          env={**os.environ, **(env or {})})


def load(path, name="x.db", code=0):
    out = "%s/%s" % (work, name)
    done = run("ingest", "--quiet", "--force", "-o", out, *([path] if isinstance(path, str) else path))
    check("ingest of %s" % path, (done.returncode, done.stderr if code == 0 else ""), (code, ""))
    return out


def rows(db, question):
    with sqlite3.connect(db) as opened:
        return opened.execute(question).fetchall()


# ---- What is said of each kind ----

RULES = ("--no-leak", "--no-oom", "--max-peak=1TiB", "--max-reserved=1TiB", "--max-fragmentation=100%", "--min-hit-rate=0%")
# Which column of table input a rule rests on; peaks and what is reserved are amounts, of which any basis but none will do.
OF_RULE = {"no-leak": 0, "no-oom": 5, "max-peak": (1, 4), "max-reserved": 2, "max-fragmentation": 2, "min-hit-rate": 3}


def is_firm(rule, bases):
    if rule == "max-peak":
        return bases[1] != "none" or bases[4] == "exact"
    basis = bases[OF_RULE[rule]]
    return basis != "none" if rule == "max-reserved" else basis == "exact"


def check_rules(kind, db, bases):
    done = run("check", "--json", *RULES, db)
    for rule in json.loads(done.stdout)["rules"]:
        if rule["rule"] in OF_RULE and not is_firm(rule["rule"], bases):
            is_told = rule["rule"] == "no-oom" and bases[5] == "exact"
            check("%s: %s" % (kind, rule["rule"]), rule["state"] if not is_told else "not judged", "not judged")
        elif rule["rule"] in ("max-peak", "max-reserved"):
            check("%s: %s" % (kind, rule["rule"]), rule["state"], "holds")


def check_words(kind, path, db, bases):
    leak, oom = run("stack", db, "leak").stdout, run("stack", db, "oom").stdout
    if bases[0] != "exact":
        check("%s: stack leak" % kind, leak.splitlines()[0], "nothing is known to have leaked")
    if bases[5] == "none":
        check("%s: stack oom" % kind, oom.splitlines()[0], "no request for memory is known to have failed")
    else:
        check("%s: stack oom tells" % kind, "no request" in oom, kind == "torch.profiler")
    head = run("diff", db, db).stdout.splitlines()[0]
    check("%s: diff says its kind" % kind, "middle" in head, rows(db, "SELECT baseline = 'known' AND peak_basis <> 'none' FROM input")[0][0] == 1)
    lines = run("diff", db, db).stdout.splitlines()
    check("%s: diff of a peak" % kind, (any(line.endswith("  peak") for line in lines), any(line.endswith("held at failure") for line in lines)),
          (bases[1] != "none", kind == "a log") if rows(db, "SELECT coalesce(sum(peak_bytes), 0) FROM z_heap_sum")[0][0] > 0 else (False, False))
    hits = [line for line in lines if line.endswith("hit rate")]
    miss_count = rows(db, "SELECT coalesce(sum(miss_count), 0) FROM z_pool_hit")[0][0]
    check("%s: diff of a hit rate" % kind, len(hits) > 0, rows(db, "SELECT count(*) FROM z_pool_hit")[0][0] > 0 and (miss_count > 0 or bases[3] == "exact"))
    check("%s: hit rates" % kind, rows(db, "SELECT count(*) FROM pool_hit_rate WHERE hit_rate = 1 AND bucket = 'all'")[0][0] > 0, False)
    for source in (path, db):
        whatif = run("whatif", source)
        text = whatif.stdout + whatif.stderr
        if bases[1] in ("none", "curve"):
            check("%s: whatif refuses" % kind, (whatif.returncode != 0, "to replay" in text), (True, True))
        else:
            check("%s: whatif says an estimate" % kind, "figures are estimates" in text, bases[1] == "estimate")
            check("%s: whatif of no miss" % kind, "100 % " in [line for line in text.splitlines() if line.startswith("recorded    ")][-1].split("reserved")[-1] and miss_count == 0, False)


def check_snapshot(kind, db, bases):
    """Where the peak is exact a snapshot has the same, read by ourselves again; else the reason is said."""
    out = "%s/x.pickle" % work
    done = run("export", "--force", "-o", out, "snapshot", db)
    if bases[1] != "exact":
        check("%s: no snapshot" % kind, (done.returncode, done.stderr.count("\n"), "peak is not exact" in done.stderr), (2, 1, True))
        return
    check("%s: a snapshot" % kind, (done.returncode, done.stderr), (0, ""))
    question = "SELECT max(peak_bytes) FROM z_heap_sum JOIN heap USING (heap_id) JOIN heap_level USING (level) WHERE heap_level.name = 'pool'"
    check("%s: the snapshot's peak" % kind, rows(load(out, "again.db"), question), rows(db, question))
    with open(out, "rb") as file:
        addresses = {entry["addr"] for trace in pickle.load(file)["device_traces"] for entry in trace if entry["action"] == "alloc"}
    check("%s: addresses" % kind, len(addresses) > 0, True)


def each_kind():
    for kind, make in MADE.items():
        path = make()
        db = load(path, "kind.db")
        bases = rows(db, "SELECT leak_basis, peak_basis, fragmentation_basis, hit_basis, device_basis, failure_basis FROM input")[0]
        check_rules(kind, db, bases)
        check_words(kind, path, db, bases)
        check_snapshot(kind, db, bases)
        done = run("report", "--force", "-o", work + "/x.html", db)
        check("%s: a page" % kind, (done.returncode, done.stderr), (0, ""))


# ---- However it comes ----

SAME = ("SELECT kind, events_ingested, leak_basis, peak_basis, hit_basis FROM input",
        "SELECT level, peak_bytes, peak_reserved_bytes, outstanding_bytes, allocation_count FROM z_heap_sum JOIN heap USING (heap_id) ORDER BY heap_id",
        "SELECT number, begin_ns FROM step ORDER BY number",
        "SELECT allocated_bytes, tried_bytes, verdict FROM out_of_memory")


def answers(path):
    db = load(path, "way.db")
    return [rows(db, question) for question in SAME]


def rewrite(path, to, change):
    with open(path, "rb") as file:
        text = file.read()
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, "wb") as file:
        file.write(change(text))
    return to


def reordered(text):
    """Columns in another order: of cells without a comma within quotes."""
    lines = [line.split(",") for line in text.decode().rstrip("\n").split("\n")]
    order = list(range(len(lines[0])))
    random.Random(7).shuffle(order)
    return ("\n".join(",".join(line[i] for i in order) for line in lines) + "\n").encode()


def each_way():
    """CR LF, a mark in front, packed, with other columns first: the same answers."""
    ways = {"crlf": lambda text: text.replace(b"\n", b"\r\n"), "mark": lambda text: b"\xef\xbb\xbf" + text, "gz": gzip.compress,
            "more columns": lambda text: b"\n".join(b"x," + line if line else line for line in text.split(b"\n"))}
    for kind in ("torch.profiler", "msMemScope", "msprof npu_mem", "a log", "`memory_block.csv`"):
        path = MADE[kind]()
        want = answers(path)
        for way, change in ways.items():
            if way == "more columns" and kind in ("torch.profiler", "a log"):
                continue
            check("%s: %s" % (kind, way), answers(rewrite(path, "%s/way/%s" % (work, os.path.basename(path)), change)), want)
    table = made.work + "/memory_block.csv"
    check("columns in another order", answers(rewrite(table, work + "/way/memory_block.csv", reordered)), answers(table))
    folder = MADE["Ascend PyTorch Profiler"]()
    want = answers(folder)
    for way, change in {**{name: ways[name] for name in ("crlf", "mark", "gz")}, "order": reordered}.items():
        copy = "%s/way_%s" % (work, way)
        for name in ("memory_record.csv", "operator_memory.csv"):
            rewrite("%s/ASCEND_PROFILER_OUTPUT/%s" % (folder, name), "%s/ASCEND_PROFILER_OUTPUT/%s" % (copy, name), change)
        check("Ascend PyTorch Profiler: %s" % way, answers(copy), want)
    for locale in ("de_DE.UTF-8", "zh_CN.UTF-8", "C"):
        done = run("ingest", "--quiet", "--force", "-o", work + "/way.db", folder, env={"LC_ALL": locale})
        check("locale %s" % locale, (done.returncode, [rows(work + "/way.db", question) for question in SAME]), (0, want))


def cut():
    """A file that ends anywhere: what is whole of it, exit status 3 and what is missing; or one line and 1."""
    for kind in ("torch.profiler", "msMemScope", "`memory_block.csv`"):
        path = MADE[kind]()
        size = os.path.getsize(path)
        for part in (0.5, 0.8, 0.97):
            path_cut = rewrite(path, work + "/cut/" + os.path.basename(path), lambda text: text[:int(size * part)])
            done = run("ingest", "--force", "-o", work + "/cut.db", path_cut)
            is_said = "not complete: " in done.stderr if done.returncode == 3 else done.returncode == 1 and done.stderr.count("\n") == 1
            check("%s cut at %s" % (kind, part), is_said, True)


# ---- Steps of the profiler's tables ----

def steps():
    """When steps began is in trace_view.json beside them alone."""
    folder = MADE["Ascend PyTorch Profiler"]()
    check("no steps", rows(load(folder), "SELECT count(*) FROM step"), [(0,)])
    spans = [{"ph": "X", "name": "ProfilerStep#%d" % number, "pid": 1, "tid": 1, "ts": "%d.250" % us, "dur": 1.5, "cat": "cpu_op", "args": {}}
             for number, us in ((4, 1000), (5, 1002))]
    with open(folder + "/ASCEND_PROFILER_OUTPUT/trace_view.json", "w", encoding="utf-8") as file:
        json.dump(spans, file)
    db = load(folder)
    begin = rows(db, "SELECT start_realtime_ns FROM input")[0][0]
    check("steps", [(number, begin + ns) for number, ns in rows(db, "SELECT number, begin_ns FROM step ORDER BY number")], [(4, 1000250), (5, 1002250)])
    check("one input", rows(db, "SELECT count(*) FROM input"), [(1,)])
    done = run("ingest", "--quiet", "--force", "-o", work + "/y.db", folder + "/ASCEND_PROFILER_OUTPUT/trace_view.json")
    check("alone", (done.returncode, "trace_view.json" in done.stderr), (1, True))
    for span in spans:
        span["ts"] = "99%s" % span["ts"]
    with open(folder + "/ASCEND_PROFILER_OUTPUT/trace_view.json", "w", encoding="utf-8") as file:
        json.dump(spans, file)
    db = load(folder)
    check("another clock", rows(db, "SELECT (SELECT count(*) FROM step), kind, text FROM z_unseen"),
          [(0, "unread part", "steps of trace_view.json: outside the tables' times")])
    os.remove(folder + "/ASCEND_PROFILER_OUTPUT/trace_view.json")


# ---- One run, told twice ----

def program(seed):
    """(us, address, bytes; negative: freed), all of one pool, and by hand what is live at most."""
    draw, live, events, now, most, total = random.Random(seed), [], [], 1000, 0, 0
    for index in range(400):
        now += draw.randint(1, 9)
        if live and draw.random() < 0.45:
            address, size = live.pop(draw.randrange(len(live)))
            events.append((now, address, -size))
            total -= size
        else:
            address, size = 0x10000000 + index * (1 << 20), 512 * draw.randint(1, 2000)
            live.append((address, size))
            events.append((now, address, size))
            total += size
        most = max(most, total)
    return events, live, most


def told_as_kineto(events):
    total, entries = 0, []
    for us, address, size in events:
        total += size
        entries.append(made.memory(us + 0.5, address, size, total, 1 << 30))
    return made.write("twice/kineto.json", json.dumps({"schemaVersion": 1, "traceEvents": entries}))


def told_as_snapshot(events, live):
    entries = [{"action": "segment_alloc", "addr": 0x10000000, "size": 1 << 30, "stream": 0, "frames": [], "time_us": 999}]
    for us, address, size in events:
        for action in ("alloc",) if size > 0 else ("free_requested", "free_completed"):
            entries.append({"action": action, "addr": address, "size": abs(size), "stream": 0, "frames": [], "time_us": us})
    blocks, at = [], 0x10000000
    for address, size in sorted(live):
        if address > at:
            blocks.append({"address": at, "size": address - at, "requested_size": address - at, "state": "inactive", "frames": []})
        blocks.append({"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": []})
        at = address + size
    end = 0x10000000 + (1 << 30)
    blocks.append({"address": at, "size": end - at, "requested_size": end - at, "state": "inactive", "frames": []})
    used = sum(size for _, size in live)
    segment = {"device": 0, "address": 0x10000000, "total_size": 1 << 30, "allocated_size": used, "active_size": used, "requested_size": used,
               "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
    path = made.work + "/twice/snapshot.pickle"
    with open(path, "wb") as file:
        pickle.dump({"segments": [segment], "device_traces": [entries]}, file, protocol=4)
    return path


def twice():
    """The same program as a trace of torch.profiler and as a memory snapshot."""
    question = "SELECT peak_bytes, outstanding_bytes, allocation_count FROM z_heap_sum JOIN heap USING (heap_id) JOIN heap_level USING (level) WHERE heap_level.name = 'pool'"
    for seed in range(5):
        events, live, most = program(seed)
        want = [(most, sum(size for _, size in live), sum(size > 0 for _, _, size in events))]
        check("as kineto", rows(load(told_as_kineto(events)), question), want)
        check("as a snapshot", rows(load(told_as_snapshot(events, live)), question), want)


def csv_and_database():
    """The tables of one run of the profiler as CSV, in KiB and microseconds, and as a database, in bytes and nanoseconds."""
    draw = random.Random(3)
    record, operator, total, now = [], [], 0, 1_736_405_443_000_000_000
    for index in range(60):
        size, now = 1024 * draw.randint(1, 900), now + 20_000
        total += size
        record.append((now, total, 64 * MIB))
        end = None if index % 7 == 0 else now + 5_000
        operator.append(("aten::op%d" % (index % 5), size, now, end, total, total - size))
        if end is not None:
            total -= size
            record.append((end, total, 64 * MIB))
    us = lambda ns: "" if ns is None else "%d.%03d\t" % (ns // 1000, ns % 1000)
    mib = lambda size: repr(size / MIB)
    text = made.work + "/csv/ASCEND_PROFILER_OUTPUT/"
    made.write("csv/ASCEND_PROFILER_OUTPUT/memory_record.csv", "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
               + "".join("PTA,%s,%s,%s,%s,1,NPU:0\n" % (us(ns), mib(used), mib(held), mib(used)) for ns, used, held in record)
               + "".join("APP,%s,,%s,,,NPU:0\n" % (us(ns), mib(300 * MIB)) for ns, _, _ in record[::9]))
    made.write("csv/ASCEND_PROFILER_OUTPUT/operator_memory.csv",
               "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),Allocation Total Allocated(MB),"
               "Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n"
               + "".join("%s,%d,%s,%s,%s,,,%s,64.0,%s,%s,%s,,1,NPU:0\n" % (name, size // 1024, us(begin), us(end), us(end), mib(used), mib(used),
                                                                         "" if end is None else mib(left), "" if end is None else "64.0")
                         for name, size, begin, end, used, left in operator))
    names = {name: 10 + index for index, name in enumerate(sorted({row[0] for row in operator} | {"PTA"}))}
    db = made.database("twice/ascend_pytorch_profiler_0.db", [
        ("STRING_IDS", "id INTEGER, value TEXT", [(number, name) for name, number in names.items()]),
        ("ENUM_MEMORY", "id INTEGER, name TEXT", [(0, "app"), (1, "device")]),
        ("MEMORY_RECORD", "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
         [(names["PTA"], ns, used, held, used, 1, 0) for ns, used, held in record]),
        ("OP_MEMORY", "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER, "
         "allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER, allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, releaseTotalReserved INTEGER, "
         "releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
         [(names[name], size, begin, end, end, None, None, used, 64 * MIB, used, None if end is None else left, None if end is None else 64 * MIB, None, 1, 0)
          for name, size, begin, end, used, left in operator]),
        ("NPU_MEM", "type INTEGER, ddr INTEGER, hbm INTEGER, timestampNs INTEGER, deviceId INTEGER", [(0, 0, 300 * MIB, ns, 0) for ns, _, _ in record[::9]])])
    want = [sum(size for _, size, _, end, _, _ in operator if end is None), max(used for _, used, _ in record)]
    questions = ("SELECT h.name, s.peak_bytes, s.peak_reserved_bytes, s.outstanding_bytes, s.allocation_count FROM z_heap_sum AS s JOIN heap AS h USING (heap_id) ORDER BY h.name",
                 "SELECT severity, kind, reason, text FROM finding ORDER BY 1, 2, 4",
                 "SELECT leak_basis, peak_basis, fragmentation_basis, hit_basis, device_basis, failure_basis FROM input")
    both = []
    for path in (made.work + "/csv", db):
        loaded = load(path)
        both.append([rows(loaded, question) for question in questions])
        pool = next(row for row in both[-1][0] if row[0] == "PTA")
        check("%s: not released, and most at once" % path, [pool[3], pool[1]], want)
    check("csv and database", both[0], both[1])
    shutil.copy(db, text)
    loaded = load(made.work + "/csv")
    check("a database wins", rows(loaded, "SELECT count(*), max(path LIKE '%.db') FROM input"), [(1, 1)])


shutil.rmtree(work, ignore_errors=True)
made.work = work + "/made"
os.makedirs(made.work + "/twice")
for part in (each_kind, each_way, cut, steps, twice, csv_and_database):
    part()
for failure in failures:
    print("FAIL: " + failure, file=sys.stderr)
sys.exit(1 if failures else 0)
