#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_stacks.py INGEST WORK_DIR [FILE...]: whether every allocation of a snapshot has its whole stack.

The snapshots are written here, by Python's own pickler in each protocol, and the given ones are read as well. Frames,
lists of frames and texts are shared in all the ways in which a pickler shares them. The stack of each allocation in the
database of `npumem-ingest` must be what the pickle says, from the first frame to the last.
"""
import io
import pickle
import random
import sqlite3
import subprocess
import sys

SNAPSHOTS = 12
BASE = 0x1000000


class Writer:
    """Lists of frames of which any part may have been there before."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.known_frames, self.known_lists = [], []

    def frame(self):
        if self.known_frames and self.random.random() < 0.6:
            return self.random.choice(self.known_frames)
        line = self.random.choice((self.random.randrange(1, 300), self.random.randrange(300, 70000)))
        frame = {"name": f"f{self.random.randrange(9)}", "filename": f"/p/m{self.random.randrange(4)}.py", "line": line}
        if self.random.random() < 0.2:
            frame = dict(reversed(frame.items()))
        if self.random.random() < 0.2:
            frame["fx_node_info"] = {"op": "call", "users": [1, {"of": "it"}]}
        self.known_frames.append(frame)
        return frame

    def frames(self):
        if self.known_lists and self.random.random() < 0.4:
            return self.random.choice(self.known_lists)
        self.known_lists.append([self.frame() for _ in range(self.random.choice((0, 1, 2, 3, 5, 12, 30)))])
        return self.known_lists[-1]

    def snapshot(self):
        entries = []
        live = []
        for i in range(self.random.choice((1, 2, 30, 1001, 1200))):
            if live and self.random.random() < 0.4:
                address = live.pop(self.random.randrange(len(live)))
                entries += [(action, address) for action in ("free_requested", "free_completed")]
            else:
                live.append(BASE + 512 * i)
                entries.append(("alloc", live[-1]))
        trace = [{"action": action, "addr": address, "size": 100, "stream": 0, "frames": self.frames()}
                 for action, address in entries]
        blocks = [{"address": address, "size": 512, "requested_size": 100, "state": "active_allocated",
                   "frames": self.frames()} for address in sorted(live)]
        segment = {"device": 0, "address": BASE, "total_size": 1 << 30, "stream": 0, "segment_type": "large",
                   "frames": self.frames(), "blocks": blocks}
        parts = [("segments", [segment]), ("device_traces", [trace]),
                 ("host_traces", [[{"action": "alloc", "addr": 1, "size": 2, "frames": self.frames()}]])]
        self.random.shuffle(parts)
        return dict(parts)


def stacks_of(path):
    """Place in the order of events -> the stack, innermost frame first."""
    database = sqlite3.connect(path)
    frames = {row[0]: row[1:] for row in database.execute("SELECT frame_id, function, file, line FROM frame")}
    stacks = {row[0]: row[1:] for row in database.execute("SELECT stack_id, parent_id, frame_id FROM stack")}
    out = {}
    for seq, stack in database.execute("SELECT alloc_seq, stack_id FROM allocation JOIN heap USING (heap_id)"
                                       " WHERE level = 2 AND alloc_seq IS NOT NULL"):
        out[seq] = []
        while stack is not None:
            stack, frame = stacks[stack]
            out[seq].append(frames[frame])
    database.close()
    return out


def in_order(snapshot):
    """Entries as they are numbered: as they stand in the file, or those of several traces by time, each in its own order."""
    traces = [trace for key, traces in snapshot.items() if key in ("device_traces", "host_traces")
              for trace in ([traces] if traces and isinstance(traces[0], dict) else traces) if trace]
    entries = [(place, entry) for place, trace in enumerate(traces) for entry in trace]
    if len(traces) > 1 and all("time_us" in entry for _, entry in entries):
        latest = [0] * len(traces)
        keys = []
        for place, entry in entries:
            latest[place] = max(latest[place], entry["time_us"])
            keys.append(latest[place])
        return [entries[i][1] for i in sorted(range(len(entries)), key=keys.__getitem__)]
    return [entry for _, entry in entries]


def check(ingest, file, database, snapshot):
    subprocess.run([ingest, "--quiet", "--force", "-o", database, file], check=True)
    found = stacks_of(database)
    entries = in_order(snapshot)
    wrong = 0
    for seq, stack in found.items():
        wrong += stack != [(frame["name"], frame["filename"], frame["line"]) for frame in entries[seq]["frames"]]
    if wrong > 0 or len(found) == 0:
        sys.exit(f"{file}: {wrong} of {len(found)} stacks are wrong")


def main():
    ingest, work, *files = sys.argv[1:]
    file, database = f"{work}/stacks.pickle", f"{work}/stacks.db"
    for seed in range(SNAPSHOTS):
        snapshot = Writer(seed).snapshot()
        protocol = 2 + seed % 4
        out = io.BytesIO()
        # The pickler in Python and the one in C share in different ways.
        (pickle._Pickler if seed % 8 < 4 else pickle.Pickler)(out, protocol).dump(snapshot)
        with open(file, "wb") as target:
            target.write(out.getvalue())
        check(ingest, file, database, snapshot)
    for name in files:
        with open(name, "rb") as source:
            check(ingest, name, database, pickle.load(source))


main()
