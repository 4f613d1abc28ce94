#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readers.py SNAPSHOT DB [MEMORY_VIZ.py]: would the viewers of others take a snapshot of ours?

Each reader asks for some fields, and goes through what happened in its own way; where something is not as it expects, it
stops, or shows nothing. What each of them does to our file is done here, field by field (their programs are not here):

    torch's MemoryViz.js      knows these opcodes of pickle alone; goes back from the end, event by event, and breaks at a
                              block outside of all segments, or at one requested to be freed that is not there
    torch's _memory_viz.py    sums up blocks of segments: nothing may be left over (MEMORY_VIZ.py: an older one itself, where
                              it can be had)
    MindStudio's MemSnapDump  goes back as well, by streams: a block must lie in a segment of its own stream
    Mosaic                    follows what is allocated and freed, with times; its frames have three fields and no other
"""
import importlib.util
import pickle
import pickletools
import sqlite3
import sys

path, database = sys.argv[1:3]
viz_path = sys.argv[3] if len(sys.argv) > 3 else None
with open(path, "rb") as file:
    data = file.read()
db = sqlite3.connect(database)
failures = 0


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"{database}: {what}: {str(got)[:600]}\n  wanted: {str(wanted)[:600]}", file=sys.stderr)


def load():
    return pickle.loads(data)


# ---- MemoryViz.js ---------------------------------------------------------------------------------------------------------

KNOWN_OPCODES = set(
    "PROTO APPEND APPENDS LIST TUPLE NEWFALSE NEWTRUE NONE BINGET BININT BININT1 BININT2 EMPTY_DICT EMPTY_LIST FRAME LONG1"
    " LONG_BINGET MARK MEMOIZE BINPUT LONG_BINPUT SETITEMS SETITEM DICT SHORT_BINUNICODE BINUNICODE STOP EMPTY_TUPLE TUPLE1"
    " TUPLE2 TUPLE3 BINFLOAT".split())


def elide(trace):
    """Both events of a free that follow each other are one."""
    events = []
    for entry in trace:
        if (entry["action"] == "free_completed" and events and events[-1]["action"] == "free_requested"
                and events[-1]["addr"] == entry["addr"]):
            events[-1] = {**events[-1], "action": "free"}
        else:
            events.append(entry)
    return events


class Drawn:
    """Segments and blocks as they are drawn at an event."""

    def __init__(self, snapshot, device):
        self.segments = sorted([seg["address"], seg["total_size"], seg["stream"]] for seg in snapshot["segments"]
                               if seg["device"] == device)
        self.blocks = {}
        for seg in snapshot["segments"]:
            at = seg["address"]
            for block in seg["blocks"] if seg["device"] == device else []:
                if block["state"] in ("active_allocated", "active_pending_free"):
                    self.put(at, block["requested_size"])
                at += block["size"]

    def put(self, address, size):
        check(f"MemoryViz.js: a segment of the block at {address:#x}", self.is_inside(address), True)
        self.blocks[address] = size

    def is_inside(self, address):
        return any(begin <= address < begin + size for begin, size, _ in self.segments)

    def has_all(self, when, address, size):
        lost = [block for block in self.blocks if address <= block < address + size and not self.is_inside(block)]
        check(f"MemoryViz.js: blocks without a segment before {when}", lost, [])

    def map(self, merge, new):
        at = next((i for i, seg in enumerate(self.segments) if seg[0] > new[0]), -1)
        if not merge:
            self.segments.insert(at, new)
            return
        at = len(self.segments) if at == -1 else at
        self.segments.insert(at, new)
        if at + 1 < len(self.segments) and new[0] + new[1] == self.segments[at + 1][0] and new[2] == self.segments[at + 1][2]:
            new[1] += self.segments.pop(at + 1)[1]
        before = self.segments[at - 1] if at > 0 else None
        if before and before[0] + before[1] == new[0] and before[2] == new[2]:
            before[1] += self.segments.pop(at)[1]

    def unmap(self, merge, old):
        begin, size, _ = old
        found = [i for i, seg in enumerate(self.segments)
                 if (seg[0] <= begin and begin + size <= seg[0] + seg[1] if merge else seg[0] == begin)]
        check(f"MemoryViz.js: is there memory to take back at {begin:#x}", bool(found), True)
        if not found:
            return
        seg = self.segments.pop(found[0])
        if merge:
            rest = [[seg[0], begin - seg[0], seg[2]], [begin + size, seg[0] + seg[1] - begin - size, seg[2]]]
            self.segments[found[0]:found[0]] = [part for part in rest if part[1] > 0]

    def undo(self, event):
        action = event["action"]
        address, size = event.get("addr"), event["size"]
        if action in ("free", "free_completed"):
            self.put(address, size)
        elif action == "free_requested":
            check(f"MemoryViz.js: is what is requested to be freed at {address:#x} there", address in self.blocks, True)
        elif action == "alloc":
            self.blocks.pop(address, None)
        elif action in ("segment_free", "segment_unmap"):
            self.map(action == "segment_unmap", [address, size, event["stream"]])
        elif action in ("segment_alloc", "segment_map"):
            self.unmap(action == "segment_map", [address, size, event["stream"]])
            self.has_all(action, address, size)


def check_drawn():
    check("MemoryViz.js: opcodes that it does not know", {op.name for op, _, _ in pickletools.genops(data)} - KNOWN_OPCODES,
          set())
    snapshot = load()
    for device, trace in enumerate(snapshot["device_traces"]):
        for entry in trace:
            check("MemoryViz.js: words of a frame", {type(f["name"]) for f in entry["frames"]} <= {str}, True)
        drawn = Drawn(snapshot, device)
        for event in reversed(elide(trace)):
            drawn.undo(event)


# ---- _memory_viz.py -------------------------------------------------------------------------------------------------------


def check_sums():
    for seg in load()["segments"]:
        free = used = rounded = 0
        for block in seg["blocks"]:
            if block["state"] == "active_allocated":
                used += block["requested_size"]
                rounded += block["size"] - block["requested_size"]
            else:
                free += block["size"]
            check("_memory_viz.py: fields of frames", [set(f) for f in block["frames"] if set(f) != {"filename", "line", "name"}], [])
        check(f"_memory_viz.py: bytes of the segment at {seg['address']:#x}", free + used + rounded, seg["total_size"])


def check_itself():
    """An old reader takes the segments alone, without frames: its file says which parts it knows."""
    spec = importlib.util.spec_from_file_location("memory_viz", viz_path)
    viz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(viz)
    segments = load()["segments"]
    viz.stats(segments)  # asserts that blocks fill their segments
    for said in (viz.memory, viz.segments):
        lines = said(segments, format_flamegraph=lambda text: text).splitlines()
        check(f"{viz_path}: bytes", sum(int(line.rsplit(" ", 1)[1]) for line in lines), sum(s["total_size"] for s in segments))


# ---- MemSnapDump ----------------------------------------------------------------------------------------------------------


class Replayed:
    """What is live in segments of a stream; goes back as far as it can."""

    def __init__(self, snapshot, device):
        self.segments = []
        for seg in snapshot["segments"]:
            if seg.get("device", 0) == device:
                for field in ("segment_type", "allocated_size", "active_size"):
                    assert field in seg
                self.segments.append([seg["address"], seg["total_size"], seg["stream"],
                                      {b["address"]: [b["size"], b["state"]] for b in seg["blocks"] if b["state"] != "inactive"}])

    def find(self, address, stream):
        return next((s for s in self.segments if s[0] <= address < s[0] + s[1] and s[2] == stream), None)

    def undo(self, event):
        """A word on what is wrong, or None."""
        action, size, stream = event["action"], event["size"], int(event["stream"])
        address = int(event.get("addr", 0))
        seg = self.find(address, stream)
        if action in ("oom", "snapshot"):
            return None
        if action in ("segment_free", "segment_unmap"):
            new = [address, size, stream, {}]
            for other in [s for s in self.segments if action == "segment_unmap" and s[2] == stream]:
                if other[0] + other[1] == new[0] or new[0] + new[1] == other[0]:
                    self.segments.remove(other)
                    new = [min(new[0], other[0]), new[1] + other[1], stream, {**other[3], **new[3]}]
            self.segments.append(new)
            return None
        if seg is None:
            return "no segment of its stream"
        begin, total, _, blocks = seg
        if action in ("free", "free_completed"):
            if any(a < address + size and address < a + s for a, (s, _) in blocks.items()) or address + size > begin + total:
                return "no room"
            blocks[address] = [size, "active_allocated" if action == "free" else "active_pending_free"]
        elif action == "free_requested":
            if address not in blocks or blocks[address][1] != "active_pending_free":
                return "nothing that waits to be freed"
            blocks[address][1] = "active_allocated"
        elif action == "alloc":
            return None if blocks.pop(address, [0])[0] >= size else "no such block"
        elif action == "segment_alloc":
            if (begin, total) != (address, size) or blocks:
                return "another segment, or one that is not empty"
            self.segments.remove(seg)
        elif action == "segment_map":
            if address + size > begin + total or any(address <= a < address + size for a in blocks):
                return "not all of it is free"
            self.segments.remove(seg)
            for part in ([begin, address - begin], [address + size, begin + total - address - size]):
                if part[1] > 0:
                    inside = {a: b for a, b in blocks.items() if part[0] <= a < sum(part)}
                    self.segments.append([*part, stream, inside])
        return None


def check_replayed():
    snapshot = load()
    for device, trace in enumerate(snapshot["device_traces"]):
        replayed = Replayed(snapshot, device)
        for event in reversed(elide(trace)):
            wrong = replayed.undo(event)
            check(f"MemSnapDump: {event['action']} of {event['size']} B at {event.get('addr', 0):#x}, stream {event['stream']}",
                  wrong, None)
            if wrong is not None:
                break


# ---- Mosaic ---------------------------------------------------------------------------------------------------------------


def check_followed():
    snapshot = load()
    has_times = db.execute("SELECT count(*) FROM allocation WHERE alloc_ns IS NULL AND alloc_seq IS NOT NULL").fetchone()[0] == 0
    for trace in snapshot["device_traces"]:
        needed = {"action", "addr", "size", "stream"} | ({"time_us"} if has_times else set())
        check("Mosaic: entries without a field", [e for e in trace if e["action"] != "oom" and not needed <= set(e)], [])
        check("Mosaic: frames", [f for e in trace for f in e["frames"] if set(f) != {"filename", "line", "name"}], [])
        times = [e["time_us"] for e in trace if "time_us" in e]
        check("Mosaic: times in order", times, sorted(times))
    opened = {}
    for one in snapshot["external_annotations"]:
        opened[one["name"]] = opened.get(one["name"], 0) + (1 if one["stage"] == "START" else -1)
        check(f"Mosaic: an end of {one['name']} without its begin", opened[one["name"]] < 0, False)


check_drawn()
check_sums()
if viz_path:
    check_itself()
check_replayed()
check_followed()
sys.exit(1 if failures else 0)
