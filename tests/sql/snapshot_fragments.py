#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""snapshot_fragments.py INGEST FILE WORK_DIR: how a snapshot's pool is cut up, worked out from the pickle alone.

The end is what the snapshot's own list of segments says. The peak is found by undoing the recorded entries from the end
back to the beginning and doing them again: it shares neither code nor order with the replay. Parts, free ranges by size
and blockers by stack in the database of `npumem-ingest` must be the same.
"""
import pickle
import subprocess
import sys
from collections import defaultdict

MIB = 1 << 20
ROWS = 64  # stacks with a row of their own


def kind_of(size, is_mapped):
    if is_mapped:
        return 3
    if size == 2 * MIB:
        return 1
    return 2 if size >= 10 * MIB and size % (2 * MIB) == 0 else 4


class Segment:
    def __init__(self, address, size, stream, is_mapped):
        self.begin, self.end = address, address + size
        self.part = (kind_of(size, is_mapped), stream)
        self.is_mapped = is_mapped


class Block:
    def __init__(self, address, extent, counted, waste, stack, is_baseline):
        self.begin, self.end = address, address + extent
        self.counted = counted  # by what sums of the heap go
        self.waste = waste  # None: not known
        self.stack, self.is_baseline = stack, is_baseline


# ---- The entries, back and forth -------------------------------------------------------------------------------------


def stack_of(entry):
    return tuple((f["filename"], f["line"], f["name"]) for f in entry.get("frames", []))


def is_block_entry(entry):
    return entry["action"] in ("alloc", "free_completed")


def live_at_begin(final, entries):
    """Blocks that were there before the first entry: those at the end, less what came, more what went."""
    live = dict(final)
    for entry in reversed(entries):
        if entry["action"] == "alloc":
            live.pop(entry["addr"], None)
        elif entry["action"] == "free_completed":
            live[entry["addr"]] = entry["size"]
    return live


def segments_at_begin(final, entries):
    """The same of segments that are not mapped: address -> (size, stream)."""
    there = dict(final)
    for entry in reversed(entries):
        if entry["action"] == "segment_alloc":
            there.pop(entry["addr"], None)
        elif entry["action"] == "segment_free":
            there[entry["addr"]] = (entry["size"], entry["stream"])
    return there


def cut(ranges, begin, end):
    left = []
    for b, e, s in ranges:
        left += [(b, min(e, begin), s)] if b < begin else []
        left += [(max(b, end), e, s)] if e > end else []
    return left


def mapped_at_begin(final, entries):
    ranges = list(final)
    for entry in reversed(entries):
        begin, end = entry["addr"], entry["addr"] + entry["size"]
        if entry["action"] == "segment_map":
            ranges = cut(ranges, begin, end)
        elif entry["action"] == "segment_unmap":
            ranges = cut(ranges, begin, end) + [(begin, end, entry["stream"])]
    return ranges


def join(ranges):
    """Touching ranges of one stream as one."""
    out = []
    for begin, end, stream in sorted(ranges):
        if out and out[-1][1] == begin and out[-1][2] == stream:
            out[-1] = (out[-1][0], end, stream)
        else:
            out.append((begin, end, stream))
    return out


def states(snapshot, listed):
    """Yields (blocks, segments, mapped) after each entry, the begin first."""
    entries = [e for e in snapshot["device_traces"][0]]
    final = {b["address"]: b["size"] for s in snapshot["segments"] for b in s["blocks"] if b["state"] != "inactive"}
    whole = {s["address"]: (s["total_size"], s["stream"]) for s in snapshot["segments"] if not s["is_expandable"]}
    mapped = [
        (s["address"], s["address"] + s["total_size"], s["stream"]) for s in snapshot["segments"] if s["is_expandable"]
    ]
    touched = {e["addr"] for e in entries if is_block_entry(e)}
    blocks = {}
    for address, size in live_at_begin(final, entries).items():
        known = listed.get(address) if address not in touched else None
        counted, extent = (known["requested_size"], known["size"]) if known else (size, size)
        blocks[address] = Block(address, extent, counted, None, (), True)
    whole, mapped = segments_at_begin(whole, entries), mapped_at_begin(mapped, entries)
    yield blocks, whole, mapped
    for entry in entries:
        address, size = entry["addr"], entry["size"]
        if entry["action"] == "alloc":
            blocks[address] = Block(address, size, size, None, stack_of(entry), False)
        elif entry["action"] == "free_completed":
            blocks.pop(address, None)
        elif entry["action"] == "segment_alloc":
            whole[address] = (size, entry["stream"])
        elif entry["action"] == "segment_free":
            whole.pop(address, None)
        elif entry["action"] == "segment_map":
            mapped = mapped + [(address, address + size, entry["stream"])]
        elif entry["action"] == "segment_unmap":
            mapped = cut(mapped, address, address + size)
        yield blocks, whole, mapped


def at_peak(snapshot, listed):
    best, index = 0, None
    for number, (blocks, _, _) in enumerate(states(snapshot, listed)):
        live = sum(b.counted for b in blocks.values())
        if live > best:
            best, index = live, number
    for number, (blocks, whole, mapped) in enumerate(states(snapshot, listed)):
        if number == index:
            segments = [Segment(a, size, stream, False) for a, (size, stream) in whole.items()]
            segments += [Segment(b, e - b, stream, True) for b, e, stream in join(mapped)]
            return segments, list(blocks.values())
    return [], []


def at_end(snapshot, births):
    segments, blocks = [], []
    for one in snapshot["segments"]:
        segments.append(Segment(one["address"], one["total_size"], one["stream"], one["is_expandable"]))
        for block in one["blocks"]:
            if block["state"] == "inactive":
                continue
            waste = block["size"] - block["requested_size"] if block["requested_size"] else None
            birth = births.get(block["address"])
            blocks.append(Block(block["address"], block["size"], 0, waste, birth or (), birth is None))
    return segments, blocks


def births_of(entries):
    """Stack of the last birth at each address that is not over."""
    births = {}
    for entry in entries:
        if entry["action"] == "alloc":
            births[entry["addr"]] = stack_of(entry)
        elif entry["action"] == "free_completed":
            births.pop(entry["addr"], None)
    return births


# ---- Figures ---------------------------------------------------------------------------------------------------------


def blocks_in(segment, blocks):
    return [b for b in blocks if b.begin < segment.end and b.end > segment.begin]


def gaps_in(segment, inside):
    at, gaps = segment.begin, []
    for block in inside:
        if block.begin > at:
            gaps.append(block.begin - at)
        at = max(at, block.end)
    return gaps + ([segment.end - at] if segment.end > at else [])


def figures(segments, blocks):
    parts = defaultdict(lambda: {"reserved": 0, "gaps": [], "stuck": 0, "waste": 0})
    holders = defaultdict(lambda: [set(), 0, 0, 0])  # blocks, bytes, hostage, sole hostage
    blocks = sorted(blocks, key=lambda b: b.begin)
    for segment in segments:
        part, inside = parts[segment.part], blocks_in(segment, blocks)
        gaps = gaps_in(segment, inside)
        part["reserved"] += segment.end - segment.begin
        part["gaps"] += gaps
        for block in inside:
            if part["waste"] is not None and segment.begin <= block.begin:
                part["waste"] = None if block.waste is None else part["waste"] + block.waste
        if not inside or not gaps:
            continue
        part["stuck"] += sum(gaps)
        each, rest = divmod(sum(gaps), len(inside))
        names = {(b.stack, b.is_baseline) for b in inside}
        for number, block in enumerate(inside):
            holder = holders[(block.stack, block.is_baseline)]
            holder[1] += 0 if block.begin in holder[0] else block.end - block.begin
            holder[0].add(block.begin)
            holder[2] += each + (number < rest)
        if len(names) == 1:
            holders[names.pop()][3] += sum(gaps)
    return parts, holders


def part_lines(parts, has_stuck):
    for (kind, stream), part in sorted(parts.items()):
        gaps = part["gaps"]
        stuck = part["stuck"] if has_stuck or kind != 3 else ""
        waste = "" if part["waste"] is None else part["waste"]
        yield f"part|{kind}|{stream}|{part['reserved']}|{sum(gaps)}|{max(gaps, default=0)}|{len(gaps)}|{stuck}|{waste}"
        classes = defaultdict(list)
        for gap in gaps:
            classes[1 << (gap.bit_length() - 1)].append(gap)
        for power, some in sorted(classes.items()):
            yield f"gap|{kind}|{stream}|{power}|{len(some)}|{sum(some)}|{max(some)}"


def holder_lines(holders):
    rows = [(len(b), size, hostage, sole, int(name[1])) for name, (b, size, hostage, sole) in holders.items()]
    rows.sort(key=lambda r: (-r[2], r))
    if len(rows) > ROWS and rows[ROWS - 1][2] == rows[ROWS][2]:
        rows = [(0, 0, sum(r[2] for r in rows), 0, 0)]  # which of two equal stacks has a row is not told
    elif len(rows) > ROWS:
        rest = rows[ROWS:]
        rows = rows[:ROWS] + [tuple(sum(r[i] for r in rest) for i in range(4)) + (0,)]
    return [f"holder|{'|'.join(str(v) for v in row)}" for row in sorted(rows)]


# ---- The database ----------------------------------------------------------------------------------------------------


def ask(db, sql):
    done = subprocess.run(["sqlite3", "-separator", "|", db, sql], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().splitlines()


def read_moment(db, kind, has_stuck, has_each_holder):
    at = f"(SELECT m.moment_id FROM moment AS m WHERE m.kind = {kind} AND coalesce(m.heap_id, p.heap_id) = p.heap_id)"
    pool = "JOIN z_pool_part AS q ON q.part_id = s.part_id JOIN z_heap_place AS p ON p.heap_id = q.heap_id AND p.level = 'pool'"
    stuck = "s.stuck_bytes" if has_stuck else "CASE WHEN q.segment_kind <> 3 THEN s.stuck_bytes END"
    parts = ask(
        db,
        "SELECT 'part', q.segment_kind, q.stream, s.reserved_bytes, s.free_bytes, s.largest_free_bytes, s.gap_count,"
        f" {stuck}, s.waste_bytes FROM z_part_sample AS s {pool} WHERE s.moment_id = {at}",
    )
    gaps = ask(
        db,
        "SELECT 'gap', q.segment_kind, q.stream, s.class_bytes, s.gap_count, s.free_bytes, s.largest_bytes"
        f" FROM z_gap AS s {pool} WHERE s.moment_id = {at}",
    )
    what = "s.block_count, s.block_bytes, s.hostage_bytes, s.sole_hostage_bytes, s.is_baseline"
    if not has_each_holder:
        what = "0, 0, sum(s.hostage_bytes), 0, 0"
    holders = ask(
        db,
        f"SELECT 'holder', {what} FROM z_blocker_sample AS s JOIN z_heap_place AS p ON p.heap_id = s.heap_id AND"
        f" p.level = 'pool' WHERE s.moment_id = {at}",
    )
    return sorted(parts + gaps), sorted(holders)


def compare(what, expected, actual):
    if sorted(expected) == sorted(actual):
        print(f"{what}: {len(actual)} rows are the same")
        return True
    print(f"{what}: only in the pickle: {sorted(set(expected) - set(actual))}")
    print(f"{what}: only in the database: {sorted(set(actual) - set(expected))}")
    return False


def main():
    ingest, file, work = sys.argv[1:]
    db = f"{work}/run.db"
    subprocess.run([ingest, "--quiet", "--force", "-o", db, file], check=True)
    with open(file, "rb") as handle:
        snapshot = pickle.load(handle)
    listed = {b["address"]: b for s in snapshot["segments"] for b in s["blocks"] if b["state"] != "inactive"}
    has_mapped = any(s["is_expandable"] for s in snapshot["segments"])
    same = True
    for name, kind, (segments, blocks) in (
        ("peak", 1, at_peak(snapshot, listed)),
        ("end", 2, at_end(snapshot, births_of(snapshot["device_traces"][0]))),
    ):
        # Mapped memory is held piece by piece, and the pieces before the first entry are nobody's to know.
        is_exact = name == "end" or not has_mapped
        parts, holders = figures(segments, blocks)
        lines = holder_lines(holders)
        parts_read, holders_read = read_moment(db, kind, is_exact, not (lines and lines[0].startswith("holder|0|0|")))
        same = compare(f"{name}, parts", list(part_lines(parts, is_exact)), parts_read) and same
        if is_exact:
            same = compare(f"{name}, blockers", lines, holders_read) and same
    sys.exit(0 if same else 1)


main()
