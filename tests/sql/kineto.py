#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kineto.py INGEST WORK_DIR: traces of torch.profiler, made here and (where they are) real ones.

What a trace holds is counted again by a replay of its own: lists that are searched from end to end, and for each event of
memory all spans of the file. Real ones have their values in golden.json, beside them.
"""
import contextlib
import gzip
import json
import os
import pickle
import random
import sqlite3
import subprocess
import sys

MIB = 1 << 20
BASE_NS = 1_751_410_836_000_000_000
LINE = "this trace of torch.profiler holds no [memory] events: profile with profile_memory=True"


class Trace:
    """A program of some threads on some devices: events as torch.profiler writes them, in the order of their times."""

    def __init__(self, seed=1, pid=4242, devices=((1, 0),), before=3 * MIB, has_total=True, whole_us=False, count=400):
        self.random = random.Random(seed)
        self.pid, self.whole_us = pid, whole_us
        self.entries, self.memory = [], []
        self.total = {device: before if device[0] else 0 for device in devices}
        self.reserved = {device: 20 * MIB if device[0] else 0 for device in devices}
        self.live = {device: [] for device in devices}
        self.has_total, self.now, self.next = has_total, 1000.0, 0x7F0000000000
        self.run(devices, count)

    def time(self):
        self.now += self.random.choice((0.125, 1.5, 3.25, 20.0))
        return int(self.now) if self.whole_us else round(self.now, 3)

    def span(self, category, name, tid, begin, end):
        self.entries.append({"ph": "X", "cat": category, "name": name, "pid": self.pid, "tid": tid, "ts": begin,
                             "dur": round(end - begin, 3), "args": {"Ev Idx": len(self.entries), "Python id": [1, {"a": 2}]}})

    def event(self, name, tid, device, size, address):
        args = {"Total Reserved": self.reserved[device], "Total Allocated": self.total[device], "Bytes": size,
                "Addr": address, "Device Id": device[1], "Device Type": device[0], "Ev Idx": len(self.entries)}
        if not self.has_total:
            del args["Total Reserved"], args["Total Allocated"]
        if name == "[OutOfMemory]":
            del args["Addr"]
        entry = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": name, "pid": self.pid, "tid": tid,
                 "ts": self.time(), "args": args}
        self.entries.append(entry)
        self.memory.append(entry)

    def take(self, tid, device, size):
        if self.live[device] and self.random.random() < 0.4:
            address = next((a for a, room in self.gone if room >= size), None) or self.fresh(size)
        else:
            address = self.fresh(size)
        self.gone = []
        self.live[device].append((address, size))
        self.total[device] += size
        if device[0] and self.total[device] > self.reserved[device]:
            self.reserved[device] += (size + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
        self.event("[memory]", tid, device, size, address)

    def fresh(self, size):
        self.next += size + 512
        return self.next - size - 512

    def drop(self, tid, device):
        address, size = self.live[device].pop(self.random.randrange(len(self.live[device])))
        self.total[device] -= size
        if self.random.random() < 0.5:
            self.gone = [(address, size)]
        self.event("[memory]", tid, device, -size, address)

    gone = ()

    def body(self, tid, devices, depth):
        begin = self.time()
        for _ in range(self.random.randrange(1, 4)):
            device = self.random.choice(devices)
            if depth < 5 and self.random.random() < 0.5:
                self.body(tid, devices, depth + 1)
            elif self.live[device] and self.random.random() < 0.45:
                self.drop(tid, device)
            else:
                self.take(tid, device, 512 * self.random.randrange(1, 3000))
        name, category = self.random.choice((
            ("aten::mm", "cpu_op"), ("aten::add", "cpu_op"), ("my/train(old).py(%d): forward" % (10 + depth), "python_function"),
            ("nn.Module: Linear_%d" % depth, "python_function"), ("train.py(7): <module>", "python_function"),
            ("/home/me/run.py(1): <module>", "python_function"), ("torch/nn/modules/linear.py(124): forward", "python_function"),
            ("<string>(1): <module>", "python_function"),
            ("<built-in method view of Tensor object at 0x7f00%04x>" % self.random.randrange(65536), "python_function")))
        self.time()
        self.span(category, name, tid, begin, self.time())
        self.span("kernel", "void gemm<float>(int)", 7, begin, self.time())

    def run(self, devices, count):
        number = 3
        while len(self.memory) < count:
            begin = self.time()
            for tid in (self.pid, self.pid + 1):
                for _ in range(3):
                    self.body(tid, devices, 0)
            self.span("user_annotation", "ProfilerStep#%d" % number, self.pid, begin, self.time())
            self.span("gpu_user_annotation", "ProfilerStep#%d" % number, 0, begin + 50, self.time())
            number += 1
        self.event("[OutOfMemory]", self.pid, devices[0], 7 * MIB, 0)

    def document(self, **more):
        return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100 \u00fc", "totalGlobalMem": 85 << 30, "x": [1]},
                                                         {"id": 1, "name": "H100 b", "totalGlobalMem": 64 << 30}],
                "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "pg": [{"rank": 77}]},
                "baseTimeNanoseconds": BASE_NS, "displayTimeUnit": "ms", "traceEvents": self.entries,
                "traceName": "/tmp/t.json", **more}


# ---- What a list of entries holds, slowly ----

def nanoseconds(us):
    return round(us * 1000)


def label(name):
    for at, character in enumerate(name):
        end = name.find("): ", at)
        if character == "(" and at > 0 and end > at + 1 and name[at + 1:end].isdigit() and name[end + 3:]:
            folder = "" if name[0] in "/<" else "site-packages/" if name.startswith("torch/") else "./"
            return folder + name[:at], int(name[at + 1:end]), name[end + 3:]
    if name.startswith("<") and " at 0x" in name:
        name = name[:name.index(" at 0x")]
    return None, None, name


def stack_of(entries, event):
    at = nanoseconds(event["ts"])
    around = []
    for place, entry in enumerate(entries):
        if entry["ph"] == "X" and entry.get("cat") in ("cpu_op", "python_function") and (
                entry["pid"], entry["tid"]) == (event["pid"], event["tid"]):
            begin = nanoseconds(entry["ts"])
            end = begin + nanoseconds(entry["dur"])
            if begin <= at <= end:
                around.append((begin, -end, place, label(entry["name"])))
    return [frame for _, _, _, frame in sorted(around)]


def truth(entries, has_total=True):
    """Of each pool: (blocks, peak, baseline); a block is (address, bytes, begin, end, miss, stack), begin None: from before."""
    events = [(nanoseconds(e["ts"]), i, e) for i, e in enumerate(entries) if e["name"] == "[memory]"]
    pools = {}
    for at, _, event in sorted(events, key=lambda item: item[:2]):
        args = event["args"]
        pool = pools.setdefault((event["pid"], args["Device Type"], args["Device Id"]),
                                {"blocks": [], "before": None, "sum": 0, "most": 0, "reserved": None, "known": 0, "at": None})
        size, is_miss = args["Bytes"], None
        pool["sum"] += size
        if has_total and pool["before"] is None:
            pool["before"] = args["Total Allocated"] - size
        if args["Device Type"] and has_total:
            if pool["reserved"] is not None and args["Total Reserved"] >= pool["reserved"]:
                is_miss = int(args["Total Reserved"] > pool["reserved"])
            elif pool["reserved"] is None:  # the first: it fills one segment, or there were others
                is_miss = int(args["Total Reserved"] <= max(20 * MIB, -(-size // (2 * MIB)) * 2 * MIB))
            pool["reserved"] = args["Total Reserved"]
        if pool["sum"] > pool["most"]:
            pool["most"], pool["at"] = pool["sum"], at
        if size > 0:
            pool["blocks"].append([args["Addr"], size, at, None, is_miss, stack_of(entries, event)])
            continue
        for block in pool["blocks"]:
            if block[0] == args["Addr"] and block[3] is None:
                block[3] = at
                break
        else:
            pool["blocks"].append([args["Addr"], -size, None, at, None, []])
            pool["known"] -= size
    for pool in pools.values():
        rest = (pool["before"] or 0) - pool["known"]
        if rest > 0:
            pool["blocks"].append([0, rest, None, None, None, []])
        pool["peak"] = pool["most"] + max(pool["before"] or 0, pool["known"])
    return pools


# ---- What npumem says ----

class Answers:
    def __init__(self, ingest, work, *paths, status=0):
        self.path = os.path.join(work, os.path.basename(paths[0]).split(".")[0] + ".db")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        run = subprocess.run([ingest, "--lang", "en", *paths, "-o", self.path], capture_output=True, text=True, timeout=100)
        self.screen, self.error = run.stdout, run.stderr
        if run.returncode != status:
            sys.exit(f"{paths}: status {run.returncode}, not {status}: {run.stderr}")
        self.db = sqlite3.connect(self.path) if os.path.exists(self.path) else None

    def rows(self, sql):
        return self.db.execute(sql).fetchall()

    def row(self, sql):
        return self.rows(sql)[0]

    def expect(self, sql, expected):
        found = self.rows(sql)
        if found != expected:
            sys.exit(f"{self.path}: {sql}: {found}, not {expected}")

    def stacks(self):
        frames = {i: (file, line, function) for i, file, line, function in
                  self.rows("SELECT frame_id, file, line, function FROM frame")}
        parents = {i: (parent, frame) for i, parent, frame in self.rows("SELECT stack_id, parent_id, frame_id FROM stack")}

        def frames_of(stack):
            out = []
            while stack:
                parent, frame = parents[stack]
                out.insert(0, frames[frame])
                stack = parent
            return out

        return {None: [], **{i: frames_of(i) for i in parents}}

    def pools(self):
        stacks = self.stacks()
        begin, = self.row("SELECT start_realtime_ns FROM input")
        kinds = {"gpu": 1, "npu": 20, None: 0}
        out = {}
        for heap, pid, kind, ordinal in self.rows(
                "SELECT h.heap_id, p.pid, d.kind, d.ordinal FROM heap AS h JOIN process AS p USING (process_id)"
                " LEFT JOIN device AS d USING (device_id)"):
            blocks = [[address, size, at, end, miss, stacks[stack]] for address, size, at, end, miss, stack in self.rows(
                "SELECT address, size_bytes, alloc_ns, free_ns, is_miss, stack_id FROM allocation"
                f" WHERE heap_id = {heap}")]
            out[pid, kinds[kind], -1 if kind is None else ordinal] = (blocks, begin)
        return out


def compare(answers, entries, has_total=True, base_ns=BASE_NS):
    expected = {(pid, 1 if kind == 6 else kind, ordinal): pool for (pid, kind, ordinal), pool in truth(entries, has_total).items()}
    found = answers.pools()
    if set(found) != set(expected):
        sys.exit(f"{answers.path}: pools {set(found)}, not {set(expected)}")
    for key, pool in expected.items():
        blocks, begin = found[key]

        def plain(block, shift):
            times = [None if at is None else at + shift for at in block[2:4]]
            return json.dumps([block[0], block[1], *times, block[4], block[5]])

        left = sorted(plain(block, base_ns) for block in pool["blocks"])
        right = sorted(plain(block, begin) for block in blocks)
        if left != right:
            odd = sorted(set(left) ^ set(right))
            sys.exit(f"{answers.path}: {key}: {len(left)} blocks, {len(right)} found; not in both: {odd[:4]}")
        pid, kind, ordinal = key
        where = f"pid = {pid} AND device IS {ordinal if kind else 'NULL'}"
        if kind == 0 or sum(k[1] != 0 and k[0] == pid and k[2] == ordinal for k in expected) == 1:
            answers.expect(f"SELECT peak_bytes FROM peak WHERE {where}", [(pool["peak"],)])
    answers.expect("SELECT count(*) FROM misuse", [(0,)])
    seen = sum(entry["name"] in ("[memory]", "[OutOfMemory]") for entry in entries)
    answers.expect("SELECT sum(events_seen), sum(events_ingested) FROM input", [(seen, seen)])


def write(work, name, document, **options):
    path = os.path.join(work, name)
    text = document if isinstance(document, str) else json.dumps(document, **options)
    with (gzip.open if name.endswith(".gz") else open)(path, "wb") as file:
        file.write(text.encode())
    return path


# ---- Forms of a file ----

def test_forms(ingest, work):
    trace = Trace()
    document = trace.document()
    for name, text in {
            "plain.json": json.dumps(document),
            "indented.json": "\ufeff\n" + json.dumps(document, indent=2),
            "packed.json.gz": json.dumps(document),
            "behind.json": json.dumps({"traceEvents": document["traceEvents"], **{k: v for k, v in document.items()
                                                                                 if k != "traceEvents"}}),
            "sorted.json": json.dumps(document, sort_keys=True),  # args before cat, name and ts
            "reversed.json": json.dumps({**document, "traceEvents": [dict(reversed(e.items())) for e in trace.entries]})}.items():
        answers = Answers(ingest, work, write(work, name, text))
        compare(answers, trace.entries)
        answers.expect("SELECT kind, is_complete, leak_basis, peak_basis, fragmentation_basis, hit_basis, device_basis,"
                       " failure_basis FROM input",
                       [("torch.profiler trace", 1, "exact", "exact", "curve", "exact", "curve", "exact")])
        answers.expect("SELECT rank, world_size FROM process", [(3, 8)])
        answers.expect("SELECT kind, name, capacity_bytes FROM device", [("gpu", "H100 \u00fc", 85 << 30)])
        answers.expect("SELECT requested_bytes, error_code FROM failure", [(7 * MIB, 2)])
        numbers = [int(e["name"][13:]) for e in trace.entries if e["name"].startswith("Prof") and e["cat"] == "user_annotation"]
        answers.expect("SELECT number FROM step ORDER BY step_id", [(number,) for number in numbers])


def test_order_of_the_file(ingest, work):
    trace = Trace(seed=2)
    order = sorted(trace.entries, key=lambda e: (e["ts"], trace.entries.index(e)))
    groups = {}
    for entry in order:
        groups.setdefault(nanoseconds(entry["ts"]), []).append(entry)
    times = list(groups)
    random.Random(5).shuffle(times)
    shuffled = [entry for at in times for entry in groups[at]]
    compare(Answers(ingest, work, write(work, "shuffled.json", {**trace.document(), "traceEvents": shuffled})), shuffled)


def test_older_form(ingest, work):
    """Whole microseconds since 1970, no base, no index."""
    trace = Trace(seed=3, whole_us=True)
    for entry in trace.entries:
        entry["ts"] = int(entry["ts"]) + 1_669_783_687_000_000
        entry.get("args", {}).pop("Ev Idx", None)
        if "dur" in entry:
            entry["dur"] = int(entry["dur"])
    document = trace.document()
    del document["baseTimeNanoseconds"], document["distributedInfo"]
    answers = Answers(ingest, work, write(work, "older.json", document))
    begin, = answers.row("SELECT start_realtime_ns FROM input")
    first = min(nanoseconds(e["ts"]) for e in trace.entries if e["name"] == "[memory]" or e.get("cat") == "user_annotation")
    if begin != first:
        sys.exit(f"older: begins at {begin}, not {first}")
    entries = [{**e, "cat": "none" if e.get("cat") in ("cpu_op", "python_function") else e.get("cat")} for e in trace.entries]
    entries_path = write(work, "older_alone.json", {**document, "traceEvents": entries})
    compare(Answers(ingest, work, entries_path), entries, base_ns=0)
    answers.expect("SELECT rank FROM process", [(None,)])


# ---- Devices and ranks ----

def test_devices(ingest, work):
    trace = Trace(seed=4, devices=((1, 0), (1, 1), (20, 2), (0, -1)), count=900)
    compare(Answers(ingest, work, write(work, "devices.json", trace.document())), trace.entries)
    trace = Trace(seed=5, devices=((6, 0), (0, -1)))
    compare(Answers(ingest, work, write(work, "hip.json", trace.document())), trace.entries)
    both = Trace(seed=6, pid=100).entries + Trace(seed=7, pid=200).entries
    compare(Answers(ingest, work, write(work, "processes.json", {"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS,
                                                                 "traceEvents": both})), both)


def test_ranks(ingest, work):
    paths, peaks = [], []
    for rank in (0, 1):
        trace = Trace(seed=10 + rank, pid=500 + rank)
        paths.append(write(work, f"ranks_{rank}.json", trace.document(distributedInfo={"rank": rank, "world_size": 2})))
        peaks += [(rank, 500 + rank, pool["peak"]) for pool in truth(trace.entries).values()]
    Answers(ingest, work, *paths).expect("SELECT rank, pid, peak_bytes FROM peak ORDER BY rank", peaks)


# ---- What is odd ----

def test_before(ingest, work):
    """Blocks of before are freed in the window: they are known one by one, and the rest is one."""
    trace = Trace(seed=20, count=300)
    device = (1, 0)
    for number in range(5):
        trace.total[device] -= 4096
        trace.event("[memory]", 1, device, -4096, 0x600000000000 + number * 8192)
    compare(Answers(ingest, work, write(work, "before.json", trace.document())), trace.entries)
    trace.event("[memory]", 1, device, -(512 * MIB), 0x500000000000)  # more than there can have been
    answers = Answers(ingest, work, write(work, "too_much.json", trace.document()))
    expect_doubt(answers)


def expect_doubt(answers):
    answers.expect("SELECT leak_basis, peak_basis, is_complete FROM input", [("estimate", "estimate", 1)])
    answers.expect("SELECT kind, text FROM z_unseen", [("other total", "caching pool")])
    if "the events do not give what the file states of caching pool" not in answers.screen:
        sys.exit(answers.screen)
    if "MISUSE" in answers.screen or "CONTRADICTS" in answers.screen:
        sys.exit(answers.screen)
    answers.expect("SELECT count(*) FROM misuse", [(0,)])


def without(trace, number):
    """As if its thread had not been profiled."""
    lost = [e for e in trace.memory if e["name"] == "[memory]"][number]
    return [e for e in trace.entries if e is not lost]


def test_unseen(ingest, work):
    for number in (50, 51, 52, 53, 54, 55, 56, 57):
        trace = Trace(seed=30 + number)
        expect_doubt(Answers(ingest, work, write(work, f"unseen_{number}.json",
                                                 {**trace.document(), "traceEvents": without(trace, number)})))


def test_twice(ingest, work):
    """A block begins where one is live; a block is freed twice; one is freed with another size."""
    for number, change in enumerate((lambda e: e + [e[-1]], lambda e: e + [{**e[-2], "ts": e[-1]["ts"] + 1}] * 2)):
        entries = [e for e in Trace(seed=40).entries if e["name"] == "[memory]"]
        last = next(e for e in reversed(entries) if (e["args"]["Bytes"] > 0) == (number == 0))
        entries = change(entries + [{**last, "ts": entries[-1]["ts"] + 1}])
        expect_doubt(Answers(ingest, work, write(work, f"twice_{number}.json", {"schemaVersion": 1, "traceEvents": entries})))


def test_no_totals(ingest, work):
    trace = Trace(seed=50, has_total=False)
    answers = Answers(ingest, work, write(work, "no_totals.json", trace.document()))
    compare(answers, trace.entries, has_total=False)
    answers.expect("SELECT peak_basis, fragmentation_basis, hit_basis FROM input", [("estimate", "none", "none")])


def test_numbers(ingest, work):
    """Totals below zero, and what is no number of bytes, of time or of a device."""
    trace = Trace(seed=60)
    for event in trace.memory:
        event["args"]["Total Allocated"] -= 1 << 40
    answers = Answers(ingest, work, write(work, "negative.json", trace.document()))
    expect_doubt(answers)
    answers.expect("SELECT baseline_bytes FROM peak", [(0,)])
    bad = (("Bytes", 1 << 62), ("Bytes", 10 ** 30), ("Bytes", "1"), ("Bytes", 0), ("Bytes", 1.5), ("Bytes", None), ("Addr", 0),
           ("Addr", None), ("Device Type", 1 << 40), ("Device Id", [1]), ("ts", 1e300), ("ts", "now"), ("ts", None), ("pid", "x"),
           ("tid", {"a": 1}))
    for number, (name, value) in enumerate(bad):
        trace = Trace(seed=61, count=60)
        entry = json.loads(json.dumps(trace.memory[20]))
        (entry if name in entry else entry["args"])[name] = value
        entries = trace.entries + [entry]
        answers = Answers(ingest, work, write(work, f"bad_{number}.json", trace.document(traceEvents=entries)), status=3)
        answers.expect("SELECT events_seen, events_ingested, events_damaged, is_complete FROM input",
                       [(len(trace.memory) + 1, len(trace.memory), 1, 0)])
    for total in (1 << 63, -(1 << 63), 10 ** 40, (1 << 64) - 1, "x"):
        trace = Trace(seed=62, count=60)
        for event in trace.memory[:20]:
            event["args"]["Total Allocated"] = event["args"]["Total Reserved"] = total
        answers = Answers(ingest, work, write(work, "totals.json", trace.document()))
        answers.expect("SELECT peak_basis, hit_basis FROM input", [("estimate", "none")])


# ---- What is not there ----

def test_cut(ingest, work):
    trace = Trace(seed=70, count=200)
    text = json.dumps(trace.document())
    for bytes_left in (len(text) - 1, len(text) - 30, len(text) * 3 // 4, len(text) // 2, text.index("[memory]") * 3):
        for name in ("cut.json", "cut.json.gz"):
            part = text[:bytes_left].encode()
            path = write(work, name, part.decode())
            if name.endswith("gz"):
                packed = gzip.compress(text.encode(), 0)[:bytes_left]
                with open(path, "wb") as file:
                    file.write(packed)
                part = text.encode()[:bytes_left - 10 - 5 * (1 + bytes_left // 65535) - 20]
            answers = Answers(ingest, work, path, status=3)
            found, = answers.row("SELECT events_ingested FROM input")
            whole = part.decode(errors="ignore").count('"ph": "i"')
            if not whole - 2 <= found <= whole + 2:
                sys.exit(f"{name} of {bytes_left} bytes: {found} events, about {whole} are whole")
            answers.expect("SELECT is_complete, state FROM input", [(0, "unseen")])


def refused(ingest, work, name, document, text):
    answers = Answers(ingest, work, write(work, name, document), status=1)
    if answers.db is not None or answers.error.count("\n") != 1 or text not in answers.error:
        sys.exit(f"{name}: {answers.error}")


def test_refused(ingest, work):
    trace = Trace(seed=80, count=20)
    spans = [e for e in trace.entries if e["ph"] == "X"]
    refused(ingest, work, "nothing.json", trace.document(traceEvents=spans), LINE)
    refused(ingest, work, "nothing.json.gz", trace.document(traceEvents=spans), LINE)
    refused(ingest, work, "empty.json", {"schemaVersion": 1, "traceEvents": []}, LINE)
    refused(ingest, work, "chrome.json", {"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]},
            "a trace in Chrome's form, which holds no [memory] events")
    refused(ingest, work, "list.json", spans, "trace_view.json")
    for event in trace.memory:
        event["args"].pop("Addr", None)
    refused(ingest, work, "placeless.json", trace.document(traceEvents=[e for e in trace.entries if e["name"] != "[OutOfMemory]"]),
            "have no addresses")
    refused(ingest, work, "broken.json", '{"schemaVersion": 1, "traceEvents": [{"ph": "i" "x"}]}', "JSON")


# ---- The same program, told in two ways ----

def test_snapshot(ingest, work):
    trace = Trace(seed=90, before=0)
    history, live = [], {}
    for event in (e for e in trace.memory if e["name"] == "[memory]"):
        size, address = event["args"]["Bytes"], event["args"]["Addr"]
        frames = [{"filename": file or "", "line": line or 0, "name": name}
                  for file, line, name in reversed(stack_of(trace.entries, event))]
        history.append({"action": "alloc" if size > 0 else "free_completed", "addr": address, "size": abs(size), "stream": 0,
                        "time_us": int(event["ts"]), "frames": frames})
        live[address] = size
    path = os.path.join(work, "same.pickle")
    with open(path, "wb") as file:
        pickle.dump({"segments": [], "device_traces": [history]}, file)
    sides = [Answers(ingest, work, source) for source in (path, write(work, "same_trace.json", trace.document()))]
    for sql in ("SELECT peak_bytes, live_count FROM peak WHERE level = 'pool'", "SELECT allocation_count, free_count, allocated_bytes,"
                " outstanding_bytes FROM heap_total WHERE level = 'pool'",
                "SELECT site, live_count, live_bytes FROM peak_by_site ORDER BY 1, 2, 3"):
        sides[1].expect(sql, sides[0].rows(sql))
    if not sides[0].rows("SELECT * FROM peak_by_site"):
        sys.exit("no sites at the peak")
    stacks, own = sides[1].stacks(), ("./train.py", "./my/train(old).py", "/home/me/run.py", "<string>")
    for stack, site in sides[1].rows("SELECT s.stack_id, f.file FROM stack AS s JOIN frame AS f ON f.frame_id = s.site_frame_id"):
        if site not in own and any(file in own for file, _, _ in stacks[stack]):
            sys.exit(f"a site in {site}, of {stacks[stack]}")


def exported(ingest, path, status=0):
    run = subprocess.run([os.path.join(os.path.dirname(ingest), "npumem-export"), "snapshot", "--force", path, "-o", path + ".pickle"],
                         capture_output=True, text=True)
    if run.returncode != status:
        sys.exit(f"export of {path}: status {run.returncode}: {run.stderr}")
    return run.stderr if status else path + ".pickle"


def test_export(ingest, work):
    """A snapshot of it reads back as the same memory; where the peak is an estimate there is none."""
    trace = Trace(seed=91, devices=((1, 0), (1, 1), (0, -1)), count=600)
    first = Answers(ingest, work, write(work, "exported.json", trace.document()))
    again = Answers(ingest, work, exported(ingest, first.path))
    for sql in ("SELECT device, peak_bytes, live_count, baseline_bytes FROM peak WHERE level = 'pool' ORDER BY device",
                "SELECT device, allocation_count, free_count, outstanding_count, outstanding_bytes FROM heap_total"
                " WHERE level = 'pool' ORDER BY device",
                "SELECT device, site, live_count, live_bytes FROM peak_by_site WHERE level = 'pool' ORDER BY 1, 2, 3, 4"):
        again.expect(sql, first.rows(sql))
    again.expect("SELECT is_complete FROM input", [(1,)])
    odd = Answers(ingest, work, write(work, "inexact.json", {**trace.document(), "traceEvents": without(trace, 50)}))
    if "peak is not exact" not in exported(ingest, odd.path, status=2):
        sys.exit("exported without an exact peak")


def memory(ts, address, size, total):
    return {"ph": "i", "name": "[memory]", "pid": 9, "tid": 1, "ts": ts, "args": {
        "Addr": address, "Bytes": size, "Total Allocated": total, "Total Reserved": 1 << 30, "Device Type": 20, "Device Id": 3}}


def steps(leaks):
    """Steps that free what they take but for what one line keeps; and blocks of the first step that live to the end."""
    entries, now, total = [], 0, 0
    for step in range(12):
        begin, held = now, []
        for number, (line, name) in enumerate(((5, "load"), (7, "forward"), (8, "forward"), (14, "keep"), (20, "setup"))):
            if (line == 14 and not leaks) or (line == 20 and step > 0):
                continue
            address, total, now = 0x7F0000000000 + (step * 8 + number) * MIB, total + MIB, now + 10
            entries.append(memory(now + 3, address, MIB, total))
            entries.append({"ph": "X", "cat": "python_function", "name": f"train.py({line}): {name}", "pid": 9, "tid": 1, "ts": now,
                            "dur": 8})
            held += [address] if line < 14 else []
        for address in held:
            total, now = total - MIB, now + 10
            entries.append(memory(now, address, -MIB, total))
        now += 10
        entries.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 9, "tid": 1, "ts": begin,
                        "dur": now - begin - 1})
    return {"schemaVersion": 1, "traceEvents": entries}


def test_leak(ingest, work):
    """What a line keeps step by step leaks; what lives at the end does not by that alone."""
    leaking = Answers(ingest, work, write(work, "leaking.json", steps(True)))
    leaking.expect("SELECT site, count(*), sum(size_bytes) FROM leak GROUP BY site", [("train.py:14 keep", 12, 12 * MIB)])
    leaking.expect("SELECT device, peak_bytes FROM peak", [(3, 16 * MIB)])
    leaking.expect("SELECT kind, ordinal FROM device", [("npu", 3)])
    if "LEAK" not in leaking.screen:
        sys.exit(leaking.screen)
    sound = Answers(ingest, work, write(work, "sound.json", steps(False)))
    sound.expect("SELECT count(*) FROM leak", [(0,)])
    sound.expect("SELECT outstanding_count FROM heap_total", [(1,)])
    if "no leak" not in sound.screen:
        sys.exit(sound.screen)


# ---- Real ones ----

def test_golden(ingest, work):
    folder = os.path.join(os.environ.get("NPUMEM_SAMPLES_DIR") or "/nowhere", "imports")
    if not os.path.exists(os.path.join(folder, "golden.json")):
        print("skipped: real traces, which are not here")
        return
    with open(os.path.join(folder, "golden.json")) as file:
        golden = {name: value for name, value in json.load(file).items() if value["kind"] == "kineto"}
    for name, value in golden.items():
        answers = Answers(ingest, work, os.path.join(folder, name))
        count = sum(value["memory_events"].values())
        answers.expect("SELECT events_seen, events_ingested, is_complete, peak_basis FROM input", [(count, count, 1, "exact")])
        for pool, one in value["pools"].items():
            kind, device = (int(word.split(" ")[1]) for word in pool.split("/"))
            where = "device IS NULL" if kind == 0 else f"device = {device}"
            answers.expect(f"SELECT peak_bytes, baseline_bytes, peak_stated_reserved_bytes FROM peak WHERE {where}",
                           [(one["max_total_allocated"], one["baselines"][0], one["max_total_reserved"] or None)])
            answers.expect("SELECT allocation_count, free_count, allocated_bytes, outstanding_count, outstanding_bytes"
                           f" FROM heap_total WHERE {where}",
                           [(one["allocations"], one["frees"], one["allocated_bytes"], one["outstanding_count"],
                             one["outstanding_bytes"])])
            if kind != 0:
                answers.expect(f"SELECT miss_count, hit_count FROM pool_hit_rate WHERE bucket = 'all' AND {where}",
                               [(one["reserved_steps_up"], one["allocations"] - one["reserved_steps_up"])])
                answers.expect(f"SELECT is_partial FROM health WHERE measure = 'pool hit rate' AND {where}", [(0,)])
        answers.expect("SELECT count(*) FROM misuse", [(0,)])
    print(f"{len(golden)} real traces")


def main(ingest, work):
    os.makedirs(work, exist_ok=True)
    for name, test in globals().items():
        if name.startswith("test_"):
            test(ingest, work)


main(*sys.argv[1:])
