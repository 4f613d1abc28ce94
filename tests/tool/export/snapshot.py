#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot.py NPUMEM_EXPORT NPUMEM_INGEST DB [back | exact]: a snapshot of a database against its rows.

Python's pickle reads it, without a class to be had, and it is played back: segments are full, what is freed was there, what
is live at the end lies in them, and all of it is what the rows say. `back`: DB is of a snapshot, so npumem-ingest reads this
one too, and all answers are the same but those that need the size of a block that the snapshot did not tell (of what was
allocated and is still there; `exact`: these too).
"""
import io
import pickle
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict

export, ingest, path, how = *sys.argv[1:4], sys.argv[4] if len(sys.argv) > 4 else ""
db = sqlite3.connect(path)
failures = 0


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"{path}: {what}: {str(got)[:1500]}\n  wanted: {str(wanted)[:1500]}", file=sys.stderr)


class DataOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise ValueError(f"{module}.{name} is asked for")


data = subprocess.run([export, "snapshot", path, "-o", "-"], stdout=subprocess.PIPE, check=True).stdout
with open("snapshot.pickle", "wb") as file:
    file.write(data)
snapshot = DataOnly(io.BytesIO(data)).load()


def signed(address):
    return address - (1 << 64) if address >= 1 << 63 else address


# ---- What the rows say ----------------------------------------------------------------------------------------------------

heaps = db.execute("SELECT heap_id, level, device_id, process_id FROM heap WHERE level IN (1, 2, 3) AND device_id IS NOT"
                   " NULL").fetchall()
ordinals = dict(db.execute("SELECT device_id, ordinal FROM device"))
devices = sorted({row[2] for row in heaps})
is_one_process = len({row[3] for row in heaps}) == 1
number_of = {row[0]: ordinals[row[2]] if is_one_process else devices.index(row[2]) for row in heaps}
level_of = {row[0]: row[1] for row in heaps}
parents = {row[0]: row[1:] for row in db.execute(
    "SELECT stack_id, parent_id, coalesce(file, module, '??'), coalesce(line, 0), coalesce(function, label) FROM stack"
    " JOIN frame USING (frame_id)")}


def frames_of(stack):
    frames = []
    while stack is not None:
        stack, *frame = parents[stack]
        frames.append(tuple(frame))
    return tuple(frames)


carriers = {row[0] for row in db.execute("SELECT segment_id FROM allocation JOIN heap USING (heap_id) WHERE heap.level = 3")}
wanted, wanted_live, wanted_segments = Counter(), Counter(), Counter()
rest = defaultdict(list)
for row in db.execute("SELECT split_from_id, address, size_bytes FROM allocation WHERE split_from_id IS NOT NULL"):
    rest[row[0]].append(row[1:])
for (number, heap, born, end, end_kind, requested_at, address, size, requested, stack, free_stack, is_mapped, is_segment,
     split_from) in db.execute("SELECT allocation_id, heap_id, alloc_seq, free_seq, end_kind, free_requested_seq, address,"
                               " size_bytes, requested_bytes, stack_id, free_stack_id, is_mapped, is_segment, split_from_id"
                               " FROM allocation"):
    if heap not in level_of:
        continue
    device, is_driver = number_of[heap], level_of[heap] == 1
    is_block = not is_driver or (not is_segment and number not in carriers)
    asked = requested if requested is not None else size
    if born is not None:  # what is left of a block that is cut is freed with it, and there again
        if is_driver and split_from is None:
            wanted[device, "segment_map" if is_mapped else "segment_alloc", address, size, frames_of(stack)] += 1
        if is_block:
            wanted[device, "alloc", address, asked, frames_of(stack)] += 1
    if requested_at is not None:
        wanted[device, "free_requested", address, asked, frames_of(free_stack)] += 1
    if end is not None and end_kind != 4:
        if is_driver:  # what is left over of it stays
            from_here = address + sum(s for a, s in rest[number] if a == address)
            wanted[device, "segment_unmap" if is_mapped else "segment_free", from_here,
                   size - sum(s for _, s in rest[number]), frames_of(free_stack)] += 1
        if is_block:
            wanted[device, "free_completed", address, asked, frames_of(free_stack)] += 1
    if end_kind == 0 and size > 0:
        if is_block:
            wanted_live[device, address, asked] += 1
        if is_driver:
            wanted_segments[device] += size
for heap, seq, size, free, stack in db.execute(
        "SELECT heap_id, seq, requested_bytes, device_free_bytes, stack_id FROM failure"):
    wanted[number_of[heap], "oom", free, size, frames_of(stack)] += 1

# ---- What the pickle says -------------------------------------------------------------------------------------------------

got = Counter()
for device, trace in enumerate(snapshot["device_traces"]):
    live = {}
    for entry in trace:
        action = entry["action"]
        address = signed(entry["addr"]) if "addr" in entry else entry.get("device_free")
        frames = tuple((f["filename"], f["line"], f["name"]) for f in entry["frames"])
        if action != "snapshot":
            got[device, action, address, entry["size"], frames] += 1
        if action == "alloc":
            live[address] = entry["size"]
        elif action == "free_completed":
            check("size of what is freed", entry["size"], live.pop(address, entry["size"]))
    in_segments = {}
    for segment in (s for s in snapshot["segments"] if s["device"] == device):
        at, sums = segment["address"], Counter()
        for block in segment["blocks"]:
            check("where a block begins", block["address"], at)
            at += block["size"]
            sums[block["state"]] += block["size"]
            if block["state"] != "inactive":
                in_segments[signed(block["address"])] = block["requested_size"]
                check("a block holds what was asked for", block["size"] >= block["requested_size"], True)
        check("where a segment ends", at, segment["address"] + segment["total_size"])
        check("active", sums["active_allocated"] + sums["active_pending_free"], segment["active_size"])
        check("allocated", sums["active_allocated"], segment["allocated_size"])
    check("what is live by the trace and not by the segments",
          {a: s for a, s in live.items() if in_segments.get(a) != s and (device, a, s) in wanted_live}, {})
    check("what is live", Counter((device, a, s) for a, s in in_segments.items()),
          Counter({key: n for key, n in wanted_live.items() if key[0] == device}))
merged = [key for key in got if key[1] == "segment_unmap"]
if any(key not in wanted for key in merged):  # one call may unmap what was mapped by several
    check("bytes unmapped", sum(k[3] * got[k] for k in merged),
          sum(k[3] * n for k, n in wanted.items() if k[1] == "segment_unmap"))
    got = Counter({k: n for k, n in got.items() if k[1] != "segment_unmap"})
    wanted = Counter({k: n for k, n in wanted.items() if k[1] != "segment_unmap"})
check("entries that no row has", got - wanted, Counter())
check("rows without an entry", wanted - got, Counter())
made = sum(s["total_size"] for s in snapshot["segments"])
check("segments hold all driver memory", made >= sum(wanted_segments.values()), True)
if how:
    check("segments", made, sum(wanted_segments.values()))
starts = Counter(a["name"] for a in snapshot["external_annotations"] if a["stage"] == "START")
names = Counter(row[0] for row in db.execute("SELECT name FROM operation WHERE begin_ns IS NOT NULL AND process_id IN"
                                             " (SELECT process_id FROM heap WHERE device_id IS NOT NULL)"))
check("ranges", names - starts, Counter())

# ---- And back -------------------------------------------------------------------------------------------------------------

if how:
    subprocess.run([ingest, "--quiet", "--force", "-o", "back.db", "snapshot.pickle"], check=True)
    back = sqlite3.connect("back.db")
    unsure = () if how == "exact" else ("fragmentation", "fragmentation_blocker", "device_part")

    texts = {of: dict(of.execute("SELECT stack_id, text FROM stack_text")) for of in (db, back)}

    def answers(of, view):
        """Its rows; stacks by what is in them (of a site it is any of several), without the name of the input."""
        rows = of.execute(f"SELECT * FROM {view}")
        columns = [c[0] for c in rows.description]
        is_any = view.endswith("_by_site")
        return Counter(tuple(None if c == "path" or ("stack_id" in c and is_any) else texts[of].get(v) if "stack_id" in c
                             else v for c, v in zip(columns, row)) for row in rows)

    for view, in db.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").fetchall():
        if view not in unsure and view not in ("allocation", "stack_text"):
            one, other = answers(db, view), answers(back, view)
            check(f"{view}, lost", one - other, Counter())
            check(f"{view}, new", other - one, Counter())
    check("stacks", set(texts[back].values()), set(texts[db].values()))
sys.exit(1 if failures else 0)
