# SPDX-License-Identifier: Apache-2.0
"""snapshot_parts.py INGEST WORK_DIR SNAPSHOT...: the parts of a device (view device_part) at each moment of real snapshots, and of those in
the folder `scenes` of the samples. They add up to what each pool holds, to what the driver had given at the peak of the device, and at the
end to the lists of segments and blocks in the snapshot itself, read here by Python."""
import glob
import os
import pickle
import sqlite3
import subprocess
import sys
from collections import Counter

ingest, work, *paths = sys.argv[1:]
paths += sorted(glob.glob(os.path.join(os.environ.get("NPUMEM_SAMPLES_DIR") or "/nowhere", "scenes", "*.pickle")))
failed, looked = 0, Counter()


def fail(path, text):
    global failed
    failed += 1
    print(f"{path}: {text}", file=sys.stderr)


def lists_of(path):
    """Of the lists in a snapshot of one device: what all segments take, what is free in those with a block, and in those without. None: the
    file has several devices, segments that grow, or private pools, which are parted in another way."""
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    segments = snapshot["segments"] if isinstance(snapshot, dict) else snapshot
    if len({one["device"] for one in segments}) != 1 or any(one.get("is_expandable") or tuple(one.get("segment_pool_id", (0, 0))) != (0, 0) for one in segments):
        return None
    between = whole = 0
    for one in segments:
        free = sum(block["size"] for block in one["blocks"] if block["state"] == "inactive")
        if free < one["total_size"]:
            between += free
        else:
            whole += free
    return sum(one["total_size"] for one in segments), between, whole


def hold(path):
    database = os.path.join(work, "parts.db")
    done = subprocess.run([ingest, "--quiet", "--force", "-o", database, path], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        return
    db = sqlite3.connect(database)
    for moment, heap, held, parts, least in db.execute(
            "SELECT m.moment, m.heap, m.bytes, sum(p.bytes), min(p.bytes) FROM device_memory AS m JOIN device_part AS p ON p.moment_id = m.moment_id AND p.heap = m.heap AND p.device = m.device"
            " AND p.pid IS m.pid AND p.level = m.level WHERE m.used_bytes IS NOT NULL GROUP BY m.moment_id, m.heap_id"):
        looked["pools"] += 1
        if held != parts or least < 0:
            fail(path, f"{heap} at {moment}: its parts are {parts}, it holds {held}")
    for device, peak, parts in db.execute(
            "SELECT d.device, d.peak_bytes, sum(p.bytes) FROM device_peak AS d JOIN device_part AS p ON p.device = d.device AND p.moment_kind = 'device peak'"
            " WHERE p.component NOT IN ('DEVICE USED', 'UNEXPLAINED', 'OTHER PROCESSES', 'RECORDED PROCESSES') GROUP BY d.device"):
        looked["peaks"] += 1
        if peak != parts:
            fail(path, f"device {device} at its peak: its parts are {parts}, the driver had given {peak}")
    lists = lists_of(path)
    end = dict(db.execute("SELECT part, sum(bytes) FROM device_part WHERE moment_kind = 'end' AND heap IS NOT NULL GROUP BY part"))
    if lists is not None and "idle" not in end and sum(end.values()) == lists[0]:
        looked["ends"] += 1
        if (end.get("small", 0) + end.get("pinned", 0), end.get("empty", 0) + end.get("new", 0)) != lists[1:]:
            fail(path, f"at the end: {end}, and its lists say {lists}")


os.makedirs(work, exist_ok=True)
for path in paths:
    hold(path)
print(f"{len(paths)} snapshots: {dict(looked)}")
if not paths:
    print("skipped: no samples")
    sys.exit(77)
sys.exit(failed > 0)
