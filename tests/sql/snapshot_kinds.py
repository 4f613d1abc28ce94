#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_kinds.py INGEST WORK_DIR [FILE...]: what a user reads of snapshots that are not one device of one loop on Linux.

A loop that leaks 1 MiB a step is written as it would be of two devices, with times and without, with pinned memory and a part
that nobody knows, by Windows, and with a library between the program and its memory. What it is is known here; of the
samples the same questions are asked that have a truth of their own.
"""
import os
import pickle
import random
import sqlite3
import subprocess
import sys

MIB = 1 << 20
STEPS = 12
LIBRARY = "/env/lib/python3.12/site-packages/einops/_backends.py"


def frames(*places):
    return [{"name": name, "filename": file, "line": line} for name, file, line in places]


OUTER = (("train_step", "/home/me/train.py", 20), ("<module>", "/home/me/train.py", 40))


class Loop:
    """Each step: a batch, what a forward makes (in a library), and what is never freed."""

    def __init__(self, leaks, start_us, has_times, steps=STEPS):
        self.entries, self.clock, self.has_times = [], start_us, has_times
        self.next = 0x7F0000000000
        for _ in range(steps):
            batch = self.alloc(2 * MIB, ("load", "/home/me/data.py", 5))
            made = [self.alloc(MIB, ("einsum", LIBRARY, 288), ("forward", "/home/me/model.py", 7 + i)) for i in range(4)]
            if leaks:
                self.alloc(MIB, ("keep", "/home/me/metrics.py", 14))
            for address, size in reversed([batch] + made):
                self.put("free_completed", address, size, [])

    def put(self, action, address, size, stack):
        self.entries.append({"action": action, "addr": address, "size": size, "stream": 0, "frames": stack})
        if self.has_times:
            self.entries[-1]["time_us"] = self.clock
        self.clock += 10

    def alloc(self, size, *places):
        address, self.next = self.next, self.next + size
        self.put("alloc", address, size, frames(*places, *OUTER))
        return address, size


def two_devices(has_times, steps=STEPS):
    loops = [Loop(False, 1000, has_times, steps), Loop(True, 1035, has_times)]
    return {"segments": [], "device_traces": [loop.entries for loop in loops],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""}}


def with_host():
    pinned = [{"action": "alloc", "addr": 4096 * (i + 1), "size": 1000, "stream": 0, "time_us": 1001 + i,
               "frames": frames(("pin", "/home/me/data.py", 9))} for i in range(3)]
    return {**two_devices(True), "host_traces": pinned, "a_part_of_2031": {"of": [1]}, "another": 1}


class HostPool:
    """Blocks of torch's pool of pinned memory, each the whole of a segment that is kept for the next one, some from before
    the history; now and then all that is free goes back."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.segments = {MIB * (100 + 2 * i): (MIB, 700000 + i, i % 2 == 0) for i in range(4)}  # size, asked for, in use
        self.entries, self.next = [], 200 * MIB
        for _ in range(60):
            self.turn()

    def put(self, action, address, size):
        self.entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": 1000 + len(self.entries),
                             "frames": frames(("pin", "/home/me/data.py", 9))})

    def turn(self):
        kind = self.random.choice("aaaffe")
        used = [address for address, (_, _, is_used) in self.segments.items() if is_used]
        idle = [address for address in self.segments if address not in used]
        if kind == "e" and len(self.entries) > 20:
            for address in idle:
                self.put("segment_free", address, self.segments.pop(address)[0])
        elif kind == "f" and used:
            address = self.random.choice(used)
            self.put("free_requested", address, self.segments[address][1])
            self.put("free_completed", address, self.segments[address][1])
            self.segments[address] = (self.segments[address][0], 0, False)
        elif kind == "a":
            size = MIB << self.random.randrange(3)
            address = next((address for address in idle if self.segments[address][0] == size), None)
            if address is None:
                address, self.next = self.next, self.next + 8 * MIB
                self.put("segment_alloc", address, size)
            self.segments[address] = (size, size - self.random.randrange(1, MIB // 2), True)
            self.put("alloc", address, self.segments[address][1])

    def state(self):
        return [{"device": -1, "address": address, "total_size": size, "stream": 0, "frames": [],
                 "blocks": [{"address": address, "size": size, "requested_size": asked, "frames": [],
                             "state": "active_allocated" if is_used else "inactive"}]}
                for address, (size, asked, is_used) in self.segments.items()]

    def reserved(self):
        """At the end, at most, and where most is asked for at once for the first time: from the end backwards."""
        held, live = sum(size for size, _, _ in self.segments.values()), sum(asked for _, asked, _ in self.segments.values())
        end, walked = held, [(live, held)]
        for entry in reversed(self.entries):
            sign = {"segment_alloc": (1, 0), "segment_free": (-1, 0), "alloc": (0, 1), "free_completed": (0, -1)}.get(entry["action"], (0, 0))
            held, live = held - sign[0] * entry["size"], live - sign[1] * entry["size"]
            walked.append((live, held))
        most = max(live for live, _ in walked)
        return end, max(held for _, held in walked), next(held for live, held in reversed(walked) if live == most)


def of_windows():
    snapshot = two_devices(True)
    for trace in snapshot["device_traces"]:
        for entry in trace:
            for frame in entry["frames"]:
                frame["filename"] = "C:" + frame["filename"].replace("/env/lib/python3.12", "/env/Lib").replace("/", "\\")
    return snapshot


class Answers:
    def __init__(self, ingest, work, name, snapshot, *options):
        self.name = name
        self.path = f"{work}/{name}.db"
        with open(f"{work}/{name}.pickle", "wb") as out:
            pickle.dump(snapshot, out)
        done = subprocess.run([ingest, "--force", *options, f"{work}/{name}.pickle"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{name}: {done.stderr}")
        self.screen = done.stdout

    def expect(self, sql, wanted):
        database = sqlite3.connect(self.path)
        found = database.execute(sql).fetchall()
        database.close()
        if found != wanted:
            sys.exit(f"{self.name}: {sql}: {found}, not {wanted}\n{self.screen}")


LEAKS = "SELECT device, site, leak_count FROM leak_by_site"
STEPS_OF = "SELECT process_id, count(*) FROM step GROUP BY process_id ORDER BY process_id"
LINES = ("SELECT DISTINCT f.label FROM z_stack_sum AS s JOIN stack AS t ON t.stack_id = s.stack_id"
         " JOIN frame AS f ON f.frame_id = t.site_frame_id WHERE f.label LIKE '%forward%' OR f.label LIKE '%einsum%' ORDER BY 1")
FORWARDS = [(f"model.py:{line} forward",) for line in ("10", "7", "8", "9")]


def made(ingest, work):
    leak = [(1, "metrics.py:14 keep", STEPS)]
    for has_times in (True, False):
        for options in ((), ("--step-at", "load")):
            answers = Answers(ingest, work, f"two_{has_times}_{len(options)}", two_devices(has_times), *options)
            answers.expect(STEPS_OF, [(1, STEPS)] if has_times else [(1, STEPS), (2, STEPS)])
            answers.expect(LEAKS, leak)
            answers.expect(LINES, FORWARDS)
    answers = Answers(ingest, work, "longer", two_devices(False, 3 * STEPS))
    answers.expect(STEPS_OF, [(1, 3 * STEPS), (2, STEPS)])
    answers.expect("SELECT CAST(evidence AS TEXT) LIKE '%\"steps\":12%' FROM finding WHERE kind = 'leak' AND severity = 'fault'", [(1,)])
    answers = Answers(ingest, work, "host", with_host())
    answers.expect("SELECT device, level, peak_bytes FROM peak WHERE heap = 'pinned memory'", [(None, "pinned", 3000)])
    answers.expect("SELECT kind, text, unseen_count FROM z_unseen", [("unread part", "a_part_of_2031", 2)])
    answers.expect(STEPS_OF, [(1, STEPS)])
    if "a_part_of_2031, and 1 more" not in answers.screen:
        sys.exit(f"host: {answers.screen}")
    for seed in range(5):
        host = HostPool(seed)
        answers = Answers(ingest, work, f"pinned_{seed}", {**with_host(), "host_traces": host.entries, "host_segments": host.state()})
        answers.expect("SELECT t.reserved_bytes, p.peak_reserved_bytes, p.reserved_at_peak_bytes, t.reserved_source FROM heap_total AS t JOIN peak AS p"
                       " ON p.heap = t.heap WHERE t.level = 'pinned'", [(*host.reserved(), "stated")])
        answers.expect("SELECT count(*) FROM z_fragmentation_verdict WHERE level = 'pinned'", [(0,)])
    answers = Answers(ingest, work, "windows", of_windows())
    answers.expect(LEAKS, leak)
    answers.expect(LINES, FORWARDS)
    answers = Answers(ingest, work, "own", two_devices(True), "--own", "einops")
    answers.expect(LINES, [("_backends.py:288 einsum",)])


TRUTHS = {
    "two_devices.pickle": ((STEPS_OF, [(1, 20)]), (LEAKS, [(1, "metrics.py:14 update", 20)])),
    "host_traces.pickle": (("SELECT reserved_bytes FROM heap_total WHERE level = 'pinned'", [(6 * 64 * MIB,)]),
                           ("SELECT level, peak_bytes FROM peak WHERE device IS NULL", [("pinned", 6 * 33554437)]),),
    "no_history_cache.pickle": (("SELECT verdict, moment FROM health", [("good", "end")]),
                                ("SELECT count(*) FROM finding WHERE next_command IS NOT NULL", [(0,)])),
    "no_history_with_stacks.pickle": (("SELECT kind FROM device", [("gpu",)]),
                                      ("SELECT kind FROM input", [("torch snapshot",)])),
    "ten_iterations_workspaces.pickle": (
        ("SELECT category, count(*) FROM allocation_detail WHERE size_bytes = 8519680 GROUP BY category", [("workspace", 2)]),),
    "windows_forward_backward.pickle": (
        ("SELECT max(live_bytes) > 10e9 FROM peak_by_category WHERE category = 'activation'", [(1,)]),
        ("SELECT count(*) FROM frame WHERE label LIKE '%\\%' OR label LIKE '%/%'", [(0,)])),
}


def main():
    ingest, work, *files = sys.argv[1:]
    made(ingest, work)
    for file in files:
        for sql, wanted in TRUTHS.get(os.path.basename(file), ()):
            with open(file, "rb") as source:
                Answers(ingest, work, os.path.basename(file)[:-7], pickle.load(source)).expect(sql, wanted)


main()
