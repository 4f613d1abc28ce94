#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_baseline.py INGEST WORK_DIR [FILE...]: whether what lived before a snapshot's history is named by its stacks.

The snapshots are written here, and the given ones are read as well, here by Python. The entries are undone from the list of
blocks at the end back to the begin, and done again. What then is live of each site at the begin, at the peak and at the end
of each pool, and what of it is older than the history, must be what the database of `npumem-ingest` says. Which site a stack
has, the database says: by the stack's frames.
"""
import os
import pickle
import random
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict

SNAPSHOTS = 16
BASE = 0x7000000000
QUESTION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../queries/live_by_site.sql")


# ---- Snapshots of our own ---------------------------------------------------------------------------------------------


def frames_of(lines, style):
    own = [{"name": f"make{line}", "filename": "/home/me/net.py", "line": line} for line in lines]
    return own + style


STYLES = [[{"name": "<module>", "filename": "/home/me/run.py", "line": 9}],
          [{"name": "main", "filename": "/home/me/run.py", "line": 70}, {"name": "<module>", "filename": "/home/me/run.py", "line": 90}]]


def own_snapshot(seed):
    """Blocks of which some have a stack, some are older, some go, and some come at addresses that were freed; a step that leaks at
    a line that has older blocks as well. Several devices, private pools, and blocks that wait for a stream."""
    chance = random.Random(seed)
    style = STYLES[seed % 2]
    traces, segments = [], []
    for device in range(1 + seed % 3):
        base = BASE + (device << 36)
        stack_of = lambda: frames_of([chance.randrange(1, 9)], style) if chance.random() < 0.7 else []
        live, free, trace = {}, [base + 2048 * i for i in range(599)], []
        chance.shuffle(free)
        for _ in range(chance.choice((0, 3, 60))):
            live[free.pop()] = {"size": chance.randrange(1, 2049), "frames": stack_of()}
        older = list(live)
        for step in range(0 if seed % 4 == 3 else 12 if seed < 8 else 24):
            first = {"addr": base + 2048 * 600 - 2048, "size": 64, "stream": 0, "frames": [{"name": "train_step", "filename": "/home/me/net.py", "line": 99}, *style]}
            trace += [dict(first, action=action) for action in ("alloc", "free_requested", "free_completed")]
            for _ in range(chance.randrange(2, 12)):
                if live and chance.random() < 0.45:
                    address = chance.choice(list(live))
                    if live[address].get("pending"):
                        continue
                    trace.append({"action": "free_requested", "addr": address, "size": live[address]["size"], "stream": 0, "frames": stack_of()})
                    if chance.random() < 0.1:
                        live[address]["pending"] = True
                        continue
                    trace.append(dict(trace[-1], action="free_completed"))
                    free.append(address)
                    del live[address]
                else:
                    # What was freed last is taken first, now and then: the address of an older block gets a new one.
                    address = free.pop(-1 if chance.random() < 0.5 else chance.randrange(len(free)))
                    live[address] = {"size": chance.randrange(1, 2049), "frames": stack_of()}
                    trace.append({"action": "alloc", "addr": address, "stream": 0, **live[address]})
            address = free.pop(0)
            live[address] = {"size": 1024, "frames": frames_of([3, 30], style)}
            trace.append({"action": "alloc", "addr": address, "stream": 0, **live[address]})
        for address in older[:2]:
            if address in live:
                live[address]["frames"] = frames_of([3, 30], style)
        blocks = [{"address": address, "size": 2048, "requested_size": live[address]["size"], "frames": live[address]["frames"],
                   "state": "active_pending_free" if live[address].get("pending") else "active_allocated"} for address in sorted(live)]
        segments.append({"device": device, "address": base, "total_size": 2048 * 600, "stream": 0, "segment_type": "large", "frames": stack_of(), "blocks": blocks,
                         "segment_pool_id": (0, 1) if seed % 5 == 4 else (0, 0)})
        traces.append(trace)
    return {"segments": segments, "device_traces": traces}


# ---- What a snapshot says ---------------------------------------------------------------------------------------------


def unified(file):
    """Windows paths are read with the separators of all others."""
    return file.replace("\\", "/") if file[1:3] == ":\\" or file.startswith(".\\") else file


def stack_of(of):
    frames = of.get("frames") or (of.get("history") or [{}])[0].get("frames") or []
    return tuple(tuple(None if part in ("", "??", 0) else part for part in (f["name"], unified(f["filename"]), f["line"])) for f in frames)


def list_of(snapshot, device, level):
    """address -> (bytes, stack, is it a segment, or in a private pool) of what lives at the end."""
    found = {}
    for segment in snapshot["segments"]:
        address = segment["address"]
        if level == 1 and segment["device"] == device:
            found[address] = (segment["total_size"], stack_of(segment), True)
        for block in segment["blocks"] if level == 2 and segment["device"] == device else ():
            address = block.get("address", address)
            if block["state"] != "inactive":
                found[address] = (block.get("requested_size") or block["size"], stack_of(block), tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0))
            address += block["size"]
    return found


def moments_of(snapshot, device, level):
    """For begin, peak and end: Counter of bytes by (stack, is it older). And what is older and lives at the end: stack -> [blocks, bytes].
    And of what came later the same as of the three."""
    birth, death = {1: ("segment_alloc", "segment_free"), 2: ("alloc", "free_completed")}[level]
    traces = snapshot.get("device_traces") or []
    entries = [e for e in traces[device] if e["action"] in (birth, death)] if device < len(traces) else []
    live = {address: (size, stack, True, is_private) for address, (size, stack, is_private) in list_of(snapshot, device, level).items()}
    for entry in reversed(entries):
        if entry["action"] == birth:
            live.pop(entry["addr"], None)
        else:
            live[entry["addr"]] = (entry["size"], (), True, False)
    sums, total = Counter(), 0
    for size, stack, is_older, _ in live.values():
        sums[stack, is_older] += size
        total += size
    begin = peak = Counter(sums)
    most = total
    for entry in entries:
        old = live.pop(entry["addr"], None)
        if old is not None:
            sums[old[1], old[2]] -= old[0]
            total -= old[0]
        if entry["action"] == birth:
            live[entry["addr"]] = (entry["size"], stack_of(entry), False, False)
            sums[stack_of(entry), False] += entry["size"]
            total += entry["size"]
        if total > most:
            most, peak = total, Counter(sums)
    older = defaultdict(lambda: [0, 0])
    for size, stack, is_older, is_private in live.values():
        if is_older and stack and not is_private:
            older[stack][0] += 1
            older[stack][1] += size
    own = Counter({key: size for key, size in sums.items() if not key[1]})
    return {"begin": begin, "peak": peak, "end": Counter(sums)}, older, own


# ---- What the database says -------------------------------------------------------------------------------------------


def sites_of(db):
    """Frames of a stack, the innermost first -> its site."""
    frames = {row[0]: tuple(part or None for part in row[1:]) for row in db.execute("SELECT frame_id, function, file, line FROM frame")}
    stacks = {row[0]: row[1:] for row in db.execute(
        "SELECT stack_id, parent_id, s.frame_id, label FROM stack AS s LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id")}
    found = {}
    for stack_id, (_, _, label) in stacks.items():
        names, at = [], stack_id
        while at is not None:
            at, frame, _ = stacks[at]
            names.append(frames[frame])
        found[tuple(names)] = label or "(no stack)"
    return found


def by_site(sums, sites):
    found = Counter()
    for (stack, is_older), size in sums.items():
        if size:
            found[sites.get(stack, f"not known: {stack[:2]}") if stack else "(baseline)" if is_older else "(no stack)"] += size
    return found


def live_by_site(db, moment):
    with open(QUESTION, encoding="utf-8") as file:
        rows = db.execute(file.read(), {"at": moment, "at_seq": None, "top": 1 << 40})
    found = defaultdict(Counter)
    for heap, site, _, size in rows:
        found[heap][site] += size
    return found


failed, looked = 0, Counter()


def equal(path, what, is_there, expected):
    global failed
    if dict(is_there) != dict(expected):
        failed += 1
        differing = {key for key in {*is_there, *expected} if is_there[key] != expected[key]}
        print(f"{path}: {what}: {[(key, is_there[key]) for key in differing]} there, in the file {[(key, expected[key]) for key in differing]}", file=sys.stderr)


def is_mapped(snapshot, device):
    """Segments that grow and shrink are not looked at."""
    traces = snapshot.get("device_traces") or []
    return any(one.get("is_expandable") for one in snapshot["segments"] if one["device"] == device) or any(
        entry["action"] in ("segment_map", "segment_unmap") for entry in (traces[device] if device < len(traces) else ()))


def hold_heap(path, db, snapshot, device, level, heap_id, heap, is_only):
    """live_by_site tells heaps by their names alone."""
    moments, older, own = moments_of(snapshot, device, level)
    sites = sites_of(db)
    for moment, sums in moments.items():
        looked[f"{moment} of level {level}"] += 1
        looked["older bytes with a stack"] += sum(size for (stack, is_older), size in sums.items() if is_older and stack)
        if is_only:
            equal(path, f"{heap} of device {device} at the {moment}", live_by_site(db, moment)[heap], by_site(sums, sites))
    view = Counter()
    for site, size in db.execute("SELECT v.site, v.live_bytes FROM peak_by_site AS v JOIN z_heap_place AS p ON p.heap IS v.heap AND p.device IS v.device AND p.level = v.level"
                                 " WHERE p.heap_id = ?", (heap_id,)):
        view[site] += size
    equal(path, f"view peak_by_site of device {device}", view, by_site(moments["peak"], sites))
    if level == 2 and db.execute("SELECT 1 FROM step").fetchone():
        looked["growths"] += 1
        equal(path, f"what grows of device {device}", Counter({site: size for site, size in db.execute(
            "SELECT coalesce(label, '(no stack)'), live_bytes FROM z_site_step LEFT JOIN frame ON frame_id = site_frame_id WHERE until_generation IS NULL AND live_count > 0"
            " AND heap_id = ?", (heap_id,))}), by_site(own, sites))
    there, expected = Counter(), Counter()
    for stack, (count, size) in older.items():
        expected[sites.get(stack), "blocks"] += count
        expected[sites.get(stack), "bytes"] += size
    for site, count, size in db.execute("SELECT label, sum(live_count), sum(live_bytes) FROM z_older_blocks JOIN stack USING (stack_id) JOIN frame ON frame.frame_id ="
                                        " site_frame_id WHERE heap_id = ? GROUP BY label", (heap_id,)):
        there[site, "blocks"], there[site, "bytes"] = count, size
    equal(path, f"older blocks of device {device}", +there, expected)
    for site, count, size in db.execute("SELECT v.site, v.older_count, v.older_bytes FROM leak_by_site AS v JOIN z_heap_place AS p ON p.heap IS v.heap AND p.device IS v.device"
                                        " AND p.level = v.level WHERE p.heap_id = ?", (heap_id,)):
        looked["leaks with older blocks"] += count > 0
        equal(path, f"leak {site}", Counter(blocks=count, bytes=size), Counter(blocks=expected[site, "blocks"], bytes=expected[site, "bytes"]))


def hold(ingest, path, database, *options):
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    snapshot = snapshot if isinstance(snapshot, dict) else {"segments": snapshot}
    done = subprocess.run([ingest, "--quiet", "--force", *options, "-o", database, path], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{path}: {done.stderr}")
    db = sqlite3.connect(database)
    heaps = db.execute("SELECT d.ordinal, h.level, h.heap_id, h.name FROM heap AS h JOIN device AS d ON d.device_id = h.device_id WHERE h.level IN (1, 2)").fetchall()
    for device, level, heap_id, heap in heaps:
        if level == 2 or not is_mapped(snapshot, device):
            hold_heap(path, db, snapshot, device, level, heap_id, heap, len(heaps) <= 2)
    db.close()


def main():
    ingest, work, *files = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    for seed in range(SNAPSHOTS):
        path = f"{work}/baseline-{seed}.pickle"
        with open(path, "wb") as file:
            pickle.dump(own_snapshot(seed), file, 2)
        hold(ingest, path, f"{work}/baseline.db", *(["--step-at", "train_step"] if seed % 4 < 3 else []))
    if not looked["leaks with older blocks"] or not looked["older bytes with a stack"]:
        sys.exit(f"nothing was looked at: {dict(looked)}")
    for path in files:
        hold(ingest, path, f"{work}/baseline.db")
    print(f"{SNAPSHOTS} snapshots of our own, {len(files)} others: {dict(looked)}")
    sys.exit(failed > 0)


main()
