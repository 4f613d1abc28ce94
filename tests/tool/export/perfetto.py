#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfetto.py NPUMEM_EXPORT DB TRACE.proto [TRACE_PROCESSOR.js FOLDER]: a trace for Perfetto against the rows of its database.

Read twice, by protoc and by Perfetto's own trace processor (where that is here): every value of a counter, every slice and
mark, and what was live of each heap by stack at each moment. What they should be is worked out here, slowly.
"""
import json
import re
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict

export, path, proto = sys.argv[1:4]
processor = sys.argv[4:6]
db = sqlite3.connect(path)
db.text_factory = lambda text: text.decode("utf-8", "replace")
failures = 0


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"{path}: {what}: {str(got)[:1500]}\n  wanted: {str(wanted)[:1500]}", file=sys.stderr)


def at(ns, seq):
    """Without times an event is a microsecond."""
    return max(ns if ns is not None else seq * 1000 if seq is not None else 0, 0)


def safe(text):
    """As base/shown.h, for the texts of these databases."""
    return re.sub("[\x00-\x1f\x7f\u202e\ufffd]", "?", text)


# ---- What the rows say ----------------------------------------------------------------------------------------------------

pids = Counter(row[0] for row in db.execute("SELECT pid FROM process"))
processes = {row[0]: row[1] if row[1] and pids[row[1]] == 1 else 1000000000 + row[0]
             for row in db.execute("SELECT process_id, pid FROM process")}
heaps = {row[0]: row[1] for row in db.execute("SELECT heap_id, process_id FROM heap")}


def wanted_counters():
    """{process: multiset of the values of each track}, without the names of tracks."""
    tracks = defaultdict(list)
    for heap, max_ns, max_seq, most, last_ns, last_seq, live, reserved in db.execute(
            "SELECT heap_id, max_ns, max_seq, max_live_bytes, last_ns, last_seq, live_bytes, reserved_bytes FROM usage"):
        if max_seq is not None and max_seq < last_seq:
            tracks[heap, "live"].append((at(max_ns, max_seq), most))
        tracks[heap, "live"].append((at(last_ns, last_seq), live))
        if reserved is not None:
            tracks[heap, "reserved"].append((at(last_ns, last_seq), reserved))
    for key in list(tracks):
        tracks[("process", processes[heaps[key[0]]], *key)] = tracks.pop(key)
    for process, device, kind, ns, seq, used in db.execute(
            "SELECT process_id, device_id, kind, ns, seq, used_bytes FROM memory_sample"):
        tracks["process", processes[process], device, kind].append((at(ns, seq), used))
    return Counter((key[1], tuple(sorted(values))) for key, values in tracks.items())


def wanted_slices():
    wanted = Counter()
    for process, number, begin, begin_seq, end, end_seq in db.execute(
            "SELECT process_id, number, begin_ns, begin_seq, end_ns, end_seq FROM step"):
        has_end = end is not None or end_seq is not None
        wanted[processes[process], f"step {number}", at(begin, begin_seq), at(end, end_seq) if has_end else None] += 1
    kinds = dict(db.execute("SELECT kind, name FROM operation_kind"))
    for process, kind, name, begin, begin_seq, end, end_seq in db.execute(
            "SELECT process_id, kind, name, begin_ns, begin_seq, end_ns, end_seq FROM operation"):
        has_end = end is not None or end_seq is not None
        wanted[processes[process], safe(name if name is not None else kinds[kind]), at(begin, begin_seq),
               at(end, end_seq) if has_end else None] += 1
    return wanted


def wanted_marks():
    wanted = Counter()
    for process, name, ns, seq in db.execute(
            "SELECT process_id, name, ns, seq FROM moment WHERE kind = 3 UNION ALL SELECT m.process_id, 'failed request of '"
            " || f.requested_bytes || ' bytes', m.ns, m.seq FROM moment AS m JOIN failure AS f USING (failure_id)"):
        wanted[processes[process if process is not None else min(processes)], safe(name), at(ns, seq)] += 1
    return wanted


def stack_of(stack, is_baseline):
    """Labels, the outermost first."""
    if stack is None:
        return ("(baseline)" if is_baseline else "(no stack)",)
    labels, first = [], True
    while stack is not None:
        stack, label, is_plumbing, is_cut = db.execute(
            "SELECT parent_id, label, is_plumbing, stack.is_cut FROM stack JOIN frame USING (frame_id) WHERE stack_id = ?",
            (stack,)).fetchone()
        cut = is_cut if first else cut
        first = False
        labels.append((label, is_plumbing))
    return labels, cut


def own_stack(stack, is_baseline):
    if stack is None:
        return stack_of(stack, is_baseline)
    labels, cut = stack_of(stack, is_baseline)
    site = db.execute("SELECT label FROM stack JOIN frame ON frame.frame_id = site_frame_id WHERE stack_id = ?",
                      (stack,)).fetchone()
    if site is not None:
        names = [label for label, _ in labels]
        rest = labels[names.index(site[0]) + 1:] if site[0] in names else labels
        labels = [(site[0], 0)] + [(label, 0) for label, is_plumbing in rest if not is_plumbing]
    outermost_first = [safe(label) for label, _ in labels][::-1]
    return tuple((["(callers are missing)"] if cut else []) + outermost_first)


stacks = {}


def wanted_heaps():
    """{(process, heap): {moment: {stack: (count, bytes)}}} of heaps and moments."""
    marks = [row[0] for row in db.execute("SELECT name, min(moment_id) FROM moment WHERE kind = 3 AND name NOT IN"
                                          " ('', 'peak', 'end', 'begin') GROUP BY name ORDER BY 2 LIMIT 16")]
    wanted = {}
    rows = db.execute("SELECT heap_id, stack_id, coalesce(alloc_seq, -2), size_bytes, CASE WHEN end_kind = 0 THEN NULL ELSE"
                      " free_seq END FROM allocation").fetchall()
    for word in ["peak", "end"] + marks:
        for heap, seq, ns in db.execute("SELECT heap_id, seq, ns FROM z_named_moment WHERE moment = ? AND heap_id IN"
                                        " (SELECT heap_id FROM z_heap_sum WHERE peak_bytes > 0)", (word,)):
            live = wanted.setdefault((heap, at(ns, seq if seq != -1 else None)), {})
            live.clear()
            for _, stack, born, size, end in (row for row in rows if row[0] == heap):
                if born <= seq and (end is None or end > seq):
                    key = (stack, born == -2 and stack is None)
                    if key not in stacks:
                        stacks[key] = own_stack(*key)
                    one = live.setdefault(stacks[key], [0, 0])
                    one[0] += 1
                    one[1] += size
    return Counter((processes[heaps[heap]], ns, tuple(sorted((stack, *one) for stack, one in live.items() if one[1])))
                   for (heap, ns), live in wanted.items())


# ---- What protoc reads ----------------------------------------------------------------------------------------------------

TOKEN = re.compile(r'\s*(?:(\w+) \{|(\})|(\w+): (?:"((?:[^"\\]|\\.)*)"|(\S+)))')
ESCAPE = re.compile(rb'\\([0-7]{3}|.)', re.S)
SHORT = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def text_of(escaped):
    return ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if m[1].isdigit() else SHORT.get(m[1], m[1]),
                      escaped.encode()).decode()


def message(text):
    """{field: [values]}, and messages within; a field without a name is one that the description has not."""
    top, around = defaultdict(list), []
    for begin, end, name, quoted, bare in TOKEN.findall(text):
        if begin:
            around.append(top)
            top[begin].append(defaultdict(list))
            top = top[begin][-1]
        elif end:
            top = around.pop()
        else:
            top[name].append(int(bare) if bare else text_of(quoted))
        assert not (begin or name).isdigit(), f"field {begin or name} is not known"
    assert not around
    return top


def one(fields, name, otherwise=None):
    return fields[name][0] if fields[name] else otherwise


def add_profile(packet, state, dumps):
    """A sequence's texts, frames and stacks stay; sums are those since its begin."""
    flags, sequence = one(packet, "sequence_flags", 0), one(packet, "trusted_packet_sequence_id")
    if flags & 1:
        state[sequence] = {"text": {}, "frame": {}, "stack": {}, "index": 0}
    own = state[sequence]
    for interned in packet["interned_data"]:
        own["text"].update((one(t, "iid"), one(t, "str")) for t in interned["function_names"])
        own["frame"].update((one(f, "iid"), own["text"][one(f, "function_name_id")]) for f in interned["frames"])
        own["stack"].update((one(s, "iid"), tuple(own["frame"][f] for f in s["frame_ids"])) for s in interned["callstacks"])
    for profile in packet["profile_packet"]:
        check("index of a profile", one(profile, "index"), own["index"])
        own["index"] += 1
        for dump in profile["process_dumps"]:
            live = defaultdict(lambda: [0, 0])
            for sample in dump["samples"]:
                value = live[own["stack"][one(sample, "callstack_id")]]
                value[0] += one(sample, "alloc_count") - one(sample, "free_count")
                value[1] += one(sample, "self_allocated") - one(sample, "self_freed")
            key = one(dump, "pid"), one(dump, "timestamp"), one(dump, "heap_name")
            dumps[key] = tuple(sorted((stack, *value) for stack, value in live.items() if value[1]))


def read_by_protoc(trace):
    decoded = subprocess.run(["protoc", "--decode=Trace", f"--proto_path={proto.rsplit('/', 1)[0]}", proto], input=trace,
                             stdout=subprocess.PIPE, check=True).stdout.decode()
    tracks, counters, slices, marks, dumps, state, open_at = {}, defaultdict(list), Counter(), Counter(), {}, {}, {}
    events = defaultdict(list)
    packets = message(decoded)["packet"]
    clocks = [c for p in packets for c in p["clock_snapshot"]]
    check("clocks", [sorted(one(c, "clock_id") for c in snapshot["clocks"]) for snapshot in clocks], [[1, 2, 3, 4, 5, 6]])
    for packet in packets:
        for track in packet["track_descriptor"]:
            uuid = one(track, "uuid")
            assert uuid not in tracks, "a track twice"
            process = one(track, "process")
            tracks[uuid] = one(process, "pid") if process else tracks[one(track, "parent_uuid")]
        for event in packet["track_event"]:
            events[one(event, "track_uuid")].append((one(packet, "timestamp", 0), event))
        if one(packet, "trusted_packet_sequence_id") >= 16:
            add_profile(packet, state, dumps)
    for uuid, all_of in events.items():
        pid, stack = tracks[uuid], []
        for ns, event in sorted(all_of, key=lambda pair: pair[0]):  # of equal times as they stand
            kind = one(event, "type")
            if kind == 4:
                counters[uuid].append((ns, one(event, "counter_value")))
            elif kind == 3:
                marks[pid, one(event, "name"), ns] += 1
            elif kind == 1:
                stack.append((pid, one(event, "name"), ns))
            else:
                slices[(*stack.pop(), ns)] += 1
        for left in stack:
            slices[(*left, None)] += 1
    return (Counter((tracks[uuid], tuple(sorted(values))) for uuid, values in counters.items()), slices, marks,
            Counter((pid, ns, live) for (pid, ns, _), live in dumps.items()))


# ---- What Perfetto reads --------------------------------------------------------------------------------------------------

QUERIES = [
    "SELECT t.id, p.pid, c.ts, c.value FROM counter AS c JOIN process_counter_track AS t ON t.id = c.track_id"
    " JOIN process AS p USING (upid)",
    "SELECT p.pid, s.name, s.ts, s.dur, t.name FROM slice AS s JOIN process_track AS t ON t.id = s.track_id"
    " JOIN process AS p USING (upid)",
    "SELECT p.pid, h.heap_name, h.ts, h.callsite_id, sum(h.count), sum(h.size) FROM heap_profile_allocation AS h"
    " JOIN process AS p USING (upid) GROUP BY 1, 2, 3, 4 ORDER BY h.ts",
    "SELECT c.id, c.parent_id, f.name FROM stack_profile_callsite AS c JOIN stack_profile_frame AS f ON f.id = c.frame_id",
    "SELECT name, value FROM stats WHERE severity <> 'info' AND value > 0",
]


def read_by_perfetto(file):
    lines = subprocess.run(["node", processor[0], processor[1], file, *QUERIES], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=True).stdout.decode().splitlines()
    counters, slices, heap_rows, sites, stats = [json.loads(line) for line in lines]
    check("what the trace processor complains of", stats, [])
    tracks = defaultdict(list)
    for track, pid, ns, value in counters:
        tracks[track, pid].append((ns, int(value)))
    found, marks = Counter(), Counter()
    for pid, name, ns, length, track in slices:
        if track == "marks":
            marks[pid, name, ns] += 1
        else:
            found[pid, name, ns, None if length < 0 else ns + length] += 1
    parents = {row[0]: (row[1], row[2]) for row in sites}

    def stack(site):
        labels = ()
        while site is not None:
            site, label = parents[site]
            labels = (label, *labels)
        return labels

    live, dumps = defaultdict(lambda: defaultdict(lambda: [0, 0])), {}
    for pid, heap, ns, site, count, size in heap_rows:
        sums = live[pid, heap]
        sums[stack(site)][0] += count
        sums[stack(site)][1] += size
        dumps[pid, heap, ns] = tuple(sorted((s, *value) for s, value in sums.items() if value[1]))
    return (Counter((pid, tuple(sorted(values))) for (_, pid), values in tracks.items()), found, marks,
            Counter((pid, ns, live) for (pid, _, ns), live in dumps.items()))


# ---- All of it ------------------------------------------------------------------------------------------------------------

trace = subprocess.run([export, "perfetto", path, "-o", "-"], stdout=subprocess.PIPE, check=True).stdout
with open("perfetto.pftrace", "wb") as file:
    file.write(trace)
wanted = wanted_counters(), wanted_slices(), wanted_marks(), wanted_heaps()
for what, got, should in zip(("counters", "slices", "marks", "heaps"), read_by_protoc(trace), wanted):
    check(f"{what}, read by protoc", got, should)
if processor:
    for what, got, should in zip(("counters", "slices", "marks"), read_by_perfetto("perfetto.pftrace"), wanted):
        check(f"{what}, read by Perfetto", got, should)
    # A moment at which nothing has changed since the one before gives no row.
    changed, got = set(wanted[3]), read_by_perfetto("perfetto.pftrace")[3]
    check("heaps of Perfetto that the rows do not have", set(got) - changed, set())
    lives = {(pid, live) for pid, _, live in changed if live}
    check("heaps that Perfetto does not have", lives - {(pid, live) for pid, _, live in got}, set())
sys.exit(1 if failures else 0)
