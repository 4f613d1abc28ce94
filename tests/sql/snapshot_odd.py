#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_odd.py INGEST WORK_DIR [FILE...]: whether snapshots are read whatever stands in them beside what counts.

Valid pickles that no sample holds: numbers that nobody can use, None and missing keys, keys of a later version with
anything in them, texts and empty lists that are one object wherever they stand, traces of several devices of which most
are empty. Each is written by Python's pickler in every protocol. The allocations in the database of `npumem-ingest` must be
those of the pickle: device, place, address, size, and the stack with every frame.
"""
import io
import json
import pickle
import pickletools
import random
import sqlite3
import subprocess
import sys

SNAPSHOTS = 40
BASE = 0x1000000
EMPTY = []
LINES = (1, 300, 70000, 0, -1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**80, None, 12.5, "x", True)
NAMES = ("f", "g", "", "??", None, "a name", 7)
FILES = ("/p/a.py", "", "b.cpp", "??", None, "text of another key", "C:\\p\\a.py", ".\\a.py", "C:\\p/a.py", "/p/a\\a.py")


class Writer:
    def __init__(self, seed, protocol, is_json):
        self.random = random.Random(seed)
        self.protocol, self.is_json = protocol, is_json

    def odd_value(self):
        """What a later version may have under a key of its own."""
        odd = [None, "", "text of another key", "/p/a.py", "f", 2**70, -(2**40), 1.5, True, [], {}, {"k": {}},
               {"k": []}, {"k": {"n": [1]}}, {"frames": [{}]}, [[], [{}]]]
        if not self.is_json:
            odd += [(), (1, 2), (1, (2, [3])), {1: 2, 3: {"name": "x"}}, [("a", "b"), {"c": ("d",)}]]
        if not self.is_json and self.protocol >= 4:  # in older ones a set is a call
            odd += [set(), {1, 2}, frozenset(), frozenset((3, 4)), {"line": {5}}, b"", b"bytes"]
        return self.random.choice(odd)

    def extend(self, part, keys):
        for key in keys:
            if self.random.random() < 0.3:
                part[key] = self.odd_value()
        items = list(part.items())
        self.random.shuffle(items)
        return dict(items)

    def frame(self):
        frame = {"name": self.random.choice(NAMES), "filename": self.random.choice(FILES),
                 "line": self.random.choice(LINES)}
        if self.random.random() < 0.1:
            del frame[self.random.choice(("name", "filename", "line"))]
        return self.extend(frame, ("fx_node_op", "fx_original_trace", "column"))

    def frames(self):
        if self.random.random() < 0.2:
            return self.random.choice((None, EMPTY, []))
        return [self.frame() for _ in range(self.random.choice((1, 2, 5)))]

    def trace(self, count):
        entries, live = [], []
        for i in range(count):
            address = BASE + 512 * i
            action = "alloc"
            if live and self.random.random() < 0.3:
                action, address = "free_completed", live.pop()
            else:
                live.append(address)
            entry = {"action": action, "addr": address, "size": 100 + i, "stream": self.random.choice((0, None, -1, 2**63)),
                     "frames": self.frames(), "time_us": self.random.choice((1700000000000000 + i, None, 1.7e15))}
            for key in ("stream", "frames", "time_us"):
                if self.random.random() < 0.1:
                    del entry[key]
            if self.random.random() < 0.2:
                entry["pool_id"] = self.random.choice(((0, 0), (0, 5), None, (2**40, 1)))
            entries.append(self.extend(entry, ("user_metadata", "compile_context", "new key")))
            if self.random.random() < 0.1:
                entries.append({"action": "a new action", "addr": None})
            if self.random.random() < 0.1:
                entries.append({"action": "oom", "size": 10**12, "device_free": self.random.choice((-1, 2**64 - 1, None))})
        return entries

    def traces(self):
        count = self.random.choice((1, 3, 8))
        traces = [EMPTY] * count if self.random.random() < 0.5 else [[] for _ in range(count)]
        for _ in range(2):
            traces[self.random.randrange(count)] = self.trace(self.random.choice((1, 5, 40)))
        return traces

    def snapshot(self):
        segment = {"device": 0, "address": BASE, "total_size": 1 << 30, "stream": None, "segment_pool_id": (0, 0),
                   "blocks": self.random.choice((EMPTY, [])), "frames": self.random.choice((EMPTY, None))}
        parts = {"segments": self.random.choice((EMPTY, [], [self.extend(segment, ("segment_type", "new"))])),
                 "device_traces": self.traces(), "external_annotations": self.random.choice((EMPTY, [], None)),
                 "host_segments": self.random.choice((EMPTY, [], None))}
        return self.extend(parts, ("allocator_settings", "user_metadata", "a new part"))


def known_text(value):
    return value if isinstance(value, str) and value not in ("", "??") else None


# One of Windows is written like any other; a name that has both separators and no drive is one of Linux.
def known_file(value):
    text = known_text(value)
    is_windows = text is not None and "\\" in text and ("/" not in text or text[1:3] == ":\\")
    return text.replace("\\", "/") if is_windows else text


def known_line(value):
    return value if type(value) is int and 0 < value < 2**32 else int(value) if type(value) is float else None


def stack_of(entry):
    return [(known_text(frame.get("name")), known_file(frame.get("filename")), known_line(frame.get("line")))
            for frame in entry.get("frames") or []]


def expected_of(snapshot):
    """(device, seq, address, size, stack) of each allocation, by the pickle. Numbers go from device to device."""
    out = []
    seq = 0
    for device, trace in enumerate(snapshot["device_traces"]):
        for entry in trace:
            if entry["action"] == "alloc":
                out.append((device, seq, entry["addr"], entry["size"], stack_of(entry)))
            seq += 1
    return out


def found_of(path):
    database = sqlite3.connect(path)
    frames = {row[0]: tuple(value if value != "" else None for value in row[1:])
              for row in database.execute("SELECT frame_id, function, file, line FROM frame")}
    stacks = {row[0]: row[1:] for row in database.execute("SELECT stack_id, parent_id, frame_id FROM stack")}
    out = []
    for device, seq, address, size, stack in database.execute(
            "SELECT ordinal, alloc_seq, address, size_bytes, stack_id FROM allocation JOIN heap USING (heap_id)"
            " JOIN device USING (device_id) WHERE level = 2 AND alloc_seq IS NOT NULL ORDER BY alloc_seq"):
        lines = []
        while stack is not None:
            stack, frame = stacks[stack]
            lines.append(frames[frame])
        out.append((device, seq, address, size, lines))
    database.close()
    return out


def pickled(snapshot, protocol, form):
    if form == "json":
        return pickle.dumps(json.loads(json.dumps(snapshot)), protocol)
    if form == "optimized":
        return pickletools.optimize(pickle.dumps(snapshot, protocol))
    out = io.BytesIO()
    (pickle._Pickler if form == "python" else pickle.Pickler)(out, protocol).dump(snapshot)
    return out.getvalue()


def check(ingest, file, database, snapshot):
    done = subprocess.run([ingest, "--quiet", "--force", "-o", database, file], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{file}: {done.returncode} {done.stderr}")
    found, expected = found_of(database), expected_of(snapshot)
    for here, there in zip(found, expected):
        if here != there:
            sys.exit(f"{file}: {here} instead of {there}")
    if len(found) != len(expected):
        sys.exit(f"{file}: {len(found)} allocations of {len(expected)}")


def check_pad(ingest, work):
    """4,096 requests of 512 bytes fill one segment of 2 MiB on a GPU, and two on an NPU, which pads each by 32 bytes. The
    files have neither times nor settings: what the frames are of says which it was."""
    for function, segments in (("c10::cuda::CUDACachingAllocator::malloc", 1), ("c10_npu::NPUCachingAllocator::malloc", 2)):
        frames = [{"name": function, "filename": "??", "line": 0}]
        trace = [{"action": "alloc", "addr": BASE + 1024 * i, "size": 512, "stream": 0, "frames": frames}
                 for i in range(4096)]
        with open(f"{work}/pad.pickle", "wb") as target:
            pickle.dump({"segments": [], "device_traces": [trace]}, target)
        whatif = ingest.replace("npumem-ingest", "npumem-whatif")
        done = subprocess.run([whatif, f"{work}/pad.pickle", "--conf", ""], capture_output=True, text=True)
        rows = [line.split() for line in done.stdout.splitlines() if line.startswith("default ")]
        if rows[0][1] != f"{2 * segments}.0":
            sys.exit(f"{function}: not {segments} segments: {done.stdout} {done.stderr}")


MIB = 1 << 20


def contradictory(segment_base, outside_count, is_listed=True):
    """Ten segments of 25 MiB, with blocks of which the last `outside_count` lie elsewhere; the first was there before."""
    trace, blocks = [], [BASE + 25 * MIB * i for i in range(10)]
    for i in range(outside_count):
        blocks[-1 - i] = (1 << 40) + 2 * MIB * i
    for i, address in enumerate(blocks):
        trace += [{"action": action, "addr": address, "size": MIB, "stream": 0, "time_us": 1000 + i, "frames": []}
                  for action in (("alloc",) if i else ()) + ("free_requested", "free_completed")]
    segments = [{"device": 0, "address": segment_base + 25 * MIB * i, "total_size": 25 * MIB, "stream": 0, "frames": [],
                 "blocks": [{"address": segment_base + 25 * MIB * i, "size": 25 * MIB, "state": "inactive", "frames": []}]}
                for i in range(10)]
    return {"segments": segments if is_listed else [], "device_traces": [trace]}


def ingested(ingest, work, snapshot):
    """Exit status, first line, rows of what is made of a pool's segments, and the count of blocks outside."""
    with open(f"{work}/contra.pickle", "wb") as target:
        pickle.dump(snapshot, target)
    done = subprocess.run([ingest, "--force", "-o", f"{work}/contra.db", f"{work}/contra.pickle"], capture_output=True,
                          text=True)
    database = sqlite3.connect(f"{work}/contra.db")
    rows = [database.execute(f"SELECT {columns} FROM {view} WHERE level = 'pool'").fetchall()
            for columns, view in (("*", "peak"), ("*", "pool_hit_rate"), ("*", "fragmentation"),
                                  ("reserved_bytes", "timeline"))]
    count, verdict = database.execute("SELECT blocks_outside_count, verdict FROM completeness").fetchone()
    database.close()
    return done.returncode, done.stdout, rows, count, verdict


def check_contradictions(ingest, work):
    """Where blocks lie in no segment, what is made of both is as unknown as without segments; and it is said."""
    unknown = ingested(ingest, work, contradictory(BASE, 0, is_listed=False))
    for snapshot, count in ((contradictory(BASE, 3), 3), (contradictory(1 << 41, 0), 10)):
        status, text, rows, outside, verdict = ingested(ingest, work, snapshot)
        if status != 3 or outside != count or f"note     {count} blocks lie in none of the segments" not in text:
            sys.exit(f"{count} blocks outside: exit {status}, {outside}: {text}")
        if (rows[0], rows[1]) != (unknown[2][0], unknown[2][1]):
            sys.exit(f"{count} blocks outside: {rows} instead of {unknown[2]}")
        if rows[2] or any(reserved is not None for reserved, in rows[3]):
            sys.exit(f"{count} blocks outside: not unknown: {rows[2:]}")
        if "complete\n" in text or "CONTRADICTS ITSELF\n" not in text:
            sys.exit(text)
    status, text, rows, outside, verdict = ingested(ingest, work, contradictory(BASE, 0))
    if status != 0 or outside != 0 or rows == unknown[2]:
        sys.exit(f"all blocks inside: exit {status}, {outside}: {text}")
    if verdict != "begun" or not text.split("\n")[0].endswith("nothing lost, but it begins in the middle"):
        sys.exit(f"{verdict}, though a block was there before: {text}")


def main():
    ingest, work, *files = sys.argv[1:]
    check_contradictions(ingest, work)
    check_pad(ingest, work)
    for seed in range(SNAPSHOTS):
        form = ("c", "python", "optimized", "json")[seed // 4 % 4]
        protocol = 2 + seed % 4
        snapshot = Writer(seed, protocol, form == "json").snapshot()
        with open(f"{work}/odd{seed}.pickle", "wb") as target:
            target.write(pickled(snapshot, protocol, form))
        check(ingest, f"{work}/odd{seed}.pickle", f"{work}/odd.db", snapshot)
    for name in files:
        with open(name, "rb") as source:
            check(ingest, name, f"{work}/odd.db", pickle.load(source))


main()
