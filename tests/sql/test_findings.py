# SPDX-License-Identifier: Apache-2.0
"""test_findings.py TEXT2TRACE INGEST SOURCE WORK: table finding against the views that it is made of, and finding_group against sums
over its rows, of every text trace of tests/sql and of tests/screens, alone and of several ranks together. Each finding that is due is
there once, none more; its text has the figures of its columns; and what is nobody's fault is either good or not judged."""
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
from collections import defaultdict

text2trace, ingest, source, work = sys.argv[1:]
PLACE = "host, rank, pid, device, heap, level"
failed = 0
seen = defaultdict(int)  # how often the rarer checks had something to look at
uneven = defaultdict(int)
tellers = defaultdict(int)
with open(f"{source}/src/say/sentences.def", encoding="utf-8") as file:
    words_of = {code: set(re.findall(r"\{(\w+)\}", english))
                for code, english in re.findall(r'NM_SENTENCE\(\w+, "([^"]*)", "((?:[^"\\]|\\.)*)"', file.read())}


def fail(name, text):
    global failed
    failed += 1
    print(f"{name}: {text}", file=sys.stderr)


def rows(db, sql):
    return sorted(db.execute(sql).fetchall(), key=repr)


def compare(db, name, what, sql, wanted):
    have, want = rows(db, sql), rows(db, wanted)
    if have != want:
        more, less = [row for row in have if row not in want], [row for row in want if row not in have]
        fail(name, f"{what}: {more[:3]} and not {less[:3]}")


def hold_rows(db, name):
    """A finding for each row of the views, of equal figures."""
    compare(db, name, "leaks", f"SELECT {PLACE}, site, verdict, bytes, count FROM finding WHERE kind = 'leak' AND severity = 'fault'",
            f"SELECT {PLACE}, site, verdict, leak_bytes, leak_count FROM leak_by_site")
    compare(db, name, "failures",
            f"SELECT {PLACE}, site, verdict, bytes, seq, source_id, severity, remedy IS NULL FROM finding WHERE kind = 'out of memory' AND source_id IS NOT NULL",
            f"SELECT {PLACE}, site, verdict, coalesce(tried_bytes, at_least_tried_bytes), first_seq, out_of_memory_id, CASE WHEN outcome IS 'recovered' THEN 'warning' ELSE 'fault' END, verdict = 'unknown' FROM out_of_memory")
    compare(db, name, "measures", f"SELECT {PLACE}, kind, verdict, value, unit, reason, severity FROM finding WHERE source_view = 'health'",
            f"SELECT {PLACE}, measure, verdict, value, unit, reason, CASE verdict WHEN 'danger' THEN 'fault' WHEN 'unknown' THEN 'not judged' ELSE verdict END FROM health WHERE verdict <> 'not applicable'")
    counts = defaultdict(int)
    for host, rank, pid, kind in db.execute("SELECT host, rank, pid, kind FROM misuse"):
        counts[host, rank, pid, kind] += 1
    have = {row[:4]: row[4] for row in db.execute("SELECT host, rank, pid, verdict, count FROM finding WHERE kind = 'misuse' AND severity = 'fault'")}
    if have != dict(counts):
        fail(name, f"misuse: {have}, not {dict(counts)}")


def most_pending(blocks):
    """The most at once of blocks (size, asked, freed), whose free was asked for before it was done, asking one after the other."""
    most = now = 0
    for _, change in sorted([(asked, size) for size, asked, freed in blocks] + [(freed, -size) for size, asked, freed in blocks if freed is not None]):
        now += change
        most = max(most, now)
    return most


def idle_streams(db, heap):
    """{stream: place of its last request} of a pool, of those silent for more than twice as long as ever, and four requests."""
    requests = [row for row in db.execute("SELECT alloc_seq, stream FROM allocation WHERE heap_id = ? AND alloc_seq IS NOT NULL ORDER BY alloc_seq", (heap,))]
    idle = {}
    for stream in {stream for _, stream in requests} - {None}:
        places = [place for place, (_, other) in enumerate(requests) if other == stream]
        silence, longest = len(requests) - 1 - places[-1], max((b - a - 1 for a, b in zip(places, places[1:])), default=0)
        if silence >= 4 and silence > 2 * longest:
            idle[stream] = requests[places[-1]][0]
    return idle


def hold_kept(db, name):
    """What pools keep, over all allocations of runs in which none was lost, cut or mapped."""
    if db.execute("SELECT (SELECT count(*) FROM completeness WHERE verdict <> 'complete') + (SELECT count(*) FROM allocation WHERE is_mapped OR alloc_seq IS NULL OR split_from_id IS NOT NULL)").fetchone()[0]:
        return
    for heap, pid, place, peak in db.execute("SELECT p.heap_id, p.pid, p.heap, s.peak_bytes FROM z_heap_place AS p JOIN z_heap_sum AS s USING (heap_id) WHERE p.level = 'pool' AND p.device IS NOT NULL AND p.heap NOT IN ('ptaCaching', 'msleaks', 'atb', 'mindsporeMemPool')"):
        most = most_pending(list(db.execute("SELECT coalesce(block_bytes, size_bytes), free_requested_seq, free_seq FROM allocation WHERE heap_id = ? AND free_requested_seq IS NOT NULL AND free_requested_seq IS NOT free_seq", (heap,))))
        have = db.execute("SELECT bytes FROM finding WHERE kind = 'pending memory' AND pid IS ? AND heap IS ?", (pid, place)).fetchall()
        is_told = db.execute("SELECT count(*) FROM finding WHERE kind = 'out of memory' AND verdict = 'other-stream' AND pid IS ?", (pid,)).fetchone()[0]
        if [row[0] for row in have] != ([most] if most >= 1 << 26 and most * 10 >= peak and not is_told else []):
            fail(name, f"pending in {place}: {have}, not {most} of {peak}")
        segments = list(db.execute("SELECT a.size_bytes, a.alloc_seq, a.free_seq, (SELECT b.stream FROM allocation AS b WHERE b.segment_id = a.allocation_id ORDER BY b.alloc_seq LIMIT 1), (SELECT group_concat(b.alloc_seq || ' ' || coalesce(b.free_seq, -1) || ' ' || coalesce(b.block_bytes, b.size_bytes)) FROM allocation AS b WHERE b.segment_id = a.allocation_id) FROM allocation AS a WHERE a.is_segment AND EXISTS (SELECT 1 FROM allocation AS b WHERE b.segment_id = a.allocation_id AND b.heap_id = ?)", (heap,)))
        end = db.execute("SELECT max(seq) FROM moment WHERE kind = 2").fetchone()[0]
        idle, kept = idle_streams(db, heap), 0
        for size, born, freed, stream, blocks in segments:
            if stream not in idle or freed is not None or end is None or idle[stream] > end:
                continue
            lives = sum(int(bytes_) for begin, gone, bytes_ in (one.split() for one in blocks.split(",")) if gone == "-1")
            kept += size - lives
        told = sum(row[0] for row in db.execute("SELECT bytes FROM finding WHERE kind = 'idle streams' AND moment = 'end' AND pid IS ? AND heap IS ?", (pid, place)))
        reserved = sum(size for size, _, freed, *_ in segments if freed is None)
        most = sum(row[0] for row in db.execute("SELECT bytes FROM finding WHERE kind = 'idle streams' AND pid IS ? AND heap IS ?", (pid, place)))
        if told and told != kept or kept >= 1 << 26 and kept * 10 >= reserved and most < kept:
            fail(name, f"idle in {place}: {told} or {most}, not {kept} of {reserved}")


def hold_parts(db, name):
    """At each moment what a pool holds is what its blocks hold, what is pending and what is free; and all components are what is in use."""
    for heap, pid, device, seq, nbytes, used, pending, free in db.execute(
            "SELECT heap, pid, device, seq, bytes, used_bytes, pending_bytes, free_bytes FROM device_memory WHERE used_bytes IS NOT NULL AND NOT is_estimate"):
        if used + (pending or 0) + free != nbytes and used != 0:
            fail(name, f"{heap} at {seq}: {used} + {pending} + {free} is not {nbytes}")
        heaps = [row[0] for row in db.execute("SELECT heap_id FROM z_heap_place WHERE heap IS ? AND pid IS ? AND device IS ? AND level IN ('pool', 'workspace')", (heap, pid, device))]
        if len(heaps) != 1 or pending is None or seq is None:
            continue
        want = db.execute("SELECT coalesce(sum(size_bytes), 0) FROM allocation WHERE heap_id = ? AND free_requested_seq <= ? AND (free_seq IS NULL OR free_seq > ?)", (heaps[0], seq, seq)).fetchone()[0]
        if pending != want:
            fail(name, f"{heap} at {seq}: {pending} pending, not {want}")
    for moment, device, total, used in db.execute(
            "SELECT moment_id, device, sum(CASE WHEN component <> 'DEVICE USED' THEN bytes END), max(CASE WHEN component = 'DEVICE USED' THEN bytes END) FROM device_memory GROUP BY moment_id, host, rank, pid, device"):
        if used is not None and total != used:
            fail(name, f"device {device} at moment {moment}: {total} is not {used}")


def hold_cut(db, name):
    """The parts of a pool add up to it, and what is stuck of it is what its segments with a live block have outside their blocks."""
    for moment, kind, seq, heap, nbytes, used in db.execute(
            "SELECT moment_id, moment_kind, seq, heap_id, bytes, used_bytes FROM device_memory WHERE used_bytes IS NOT NULL AND NOT is_estimate"):
        place = "moment_id = ? AND (host, rank, pid, device, heap, level) IS (SELECT host, rank, pid, device, heap, level FROM z_heap_place WHERE heap_id = ?)"
        twins = db.execute("SELECT count(*) FROM z_heap_place AS p JOIN z_heap_place AS q USING (pid, device, heap, level) WHERE p.heap_id = ?", (heap,)).fetchone()[0]
        parts = dict(db.execute(f"SELECT part, bytes FROM device_part WHERE {place}", (moment, heap)))
        if twins != 1 or nbytes == 0:
            continue
        if sum(parts.values()) != nbytes or min(parts.values()) < 0:
            fail(name, f"heap {heap} at {seq}: {parts} is not {nbytes}")
        if "private" not in parts and kind != "end" and parts.get("used", 0) != used:
            fail(name, f"heap {heap} at {seq}: {parts}, and blocks hold {used}")
        if seq is None or {"idle", "private", "new", "free"} & set(parts) or db.execute("SELECT count(*) FROM z_pool_part WHERE heap_id = ? AND segment_kind = 3", (heap,)).fetchone()[0]:
            continue
        if db.execute("SELECT count(*) FROM allocation AS a LEFT JOIN allocation AS g ON g.allocation_id = a.segment_id WHERE a.heap_id = ?"
                      " AND (a.alloc_seq IS NULL OR (a.address + a.block_bytes <= g.address + g.size_bytes) IS NOT 1)", (heap,)).fetchone()[0]:
            continue
        live = "a.alloc_seq <= ? AND (a.free_seq IS NULL OR a.free_seq > ?)"
        stuck = sum(size - used for size, used in db.execute(
            f"SELECT g.size_bytes, sum(a.block_bytes) FROM allocation AS a JOIN allocation AS g ON g.allocation_id = a.segment_id WHERE a.heap_id = ? AND {live} GROUP BY a.segment_id", (heap, seq, seq)))
        if parts.get("small", 0) + parts.get("pinned", 0) != stuck:
            fail(name, f"heap {heap} at {seq}: {parts}, and {stuck} are free between blocks")
        seen["cut"] += 1


def grows(samples, around):
    """Does host memory still grow, of a process that had `samples` (ns, bytes, bytes of the machine)? By how much. Around it, as
    seen last: {105: (bytes, limit) of its cgroup, 106: of the machine}."""
    begin, span = samples[0][0], samples[-1][0] - samples[0][0]
    if len(samples) < 5 or span == 0:
        return None
    levels = [next(used for ns, used, _ in samples if (ns - begin) * 10 >= tenth * span) for tenth in (6, 7, 8, 9)]
    end = max(used for ns, used, _ in samples if (ns - begin) * 10 >= 9 * span)
    rise, hours = end - levels[0], span * 0.4 / 3600e9
    left = min(max(total - used, 0) for used, total in {106: (end, samples[-1][2]), **around}.values())
    is_much = rise >= max(100 << 20, end / 10) if span < 3600e9 else rise / hours >= max(1 << 30, left / 20)
    return rise if sorted(levels) == levels and levels[3] <= end and levels[0] < levels[2] < end and is_much else None


def hold_host(db, name):
    samples = defaultdict(list)
    for pid, *sample in db.execute("SELECT p.pid, s.ns, s.used_bytes, s.total_bytes FROM memory_sample AS s JOIN process AS p USING (process_id) WHERE s.kind = 101 AND s.device_id IS NULL ORDER BY s.ns"):
        samples[pid].append(sample)
    by_process = defaultdict(list)
    for process, *sample in db.execute("SELECT process_id, ns, used_bytes FROM memory_sample WHERE kind = 101 AND device_id IS NULL ORDER BY ns"):
        by_process[process].append(sample)
    looks = [by_process[process] for process, in db.execute("SELECT process_id FROM process AS p JOIN input AS i USING (input_id) WHERE i.kind = 'trace' AND EXISTS (SELECT 1 FROM heap JOIN allocation AS a USING (heap_id) WHERE process_id = p.process_id AND alloc_seq IS NOT NULL)")]
    brief = [of for of in looks if len(of) < 5 and (len(of) < 2 or of[-1][0] - of[0][0] < 10e9)]
    told = db.execute("SELECT count, reason FROM finding WHERE kind = 'host growth' AND severity = 'not judged'").fetchall()
    if db.execute("SELECT min(detail = 'all') FROM input").fetchone()[0] and told != ([(len(brief), "too short" if any(brief) else "not sampled")] if brief else []):
        fail(name, f"host memory that is not judged: {told}, not {len(brief)} of {len(looks)}")
    if len(samples) < db.execute("SELECT count(DISTINCT process_id) FROM memory_sample WHERE kind = 101").fetchone()[0]:
        return  # of several inputs a number may be of several processes
    around = defaultdict(dict)
    for pid, kind, *sample in db.execute("SELECT p.pid, s.kind, s.used_bytes, s.total_bytes FROM memory_sample AS s JOIN process AS p USING (process_id) WHERE s.kind IN (105, 106) ORDER BY s.ns"):
        around[pid][kind] = tuple(sample)
    want = {pid: rise for pid, rise in ((pid, grows(of, around[pid])) for pid, of in samples.items()) if rise is not None}
    have = dict(db.execute("SELECT pid, bytes FROM finding WHERE kind = 'host growth' AND severity = 'warning'"))
    if have != want:
        fail(name, f"host memory that grows: {have}, not {want}")


def grown(points):
    """By how much rises what is held, of a heap with `points` (seq, held, live), where what lives does not? None: it does not, or too little."""
    begin, span = points[0][0], points[-1][0] - points[0][0]
    tenths = [[point for point in points[1:] if min(9, (point[0] - begin) * 10 // span) == tenth] for tenth in (6, 7, 8, 9)]
    if len(points) < 10 or not all(tenths):
        return None
    held, live = ([max(point[i] for point in tenth) for tenth in tenths] for i in (1, 2))
    rise = held[3] - held[0]
    is_much = rise >= max(64 << 20, held[3] / 10) and (live[3] - live[0]) * 5 <= rise
    return rise if sorted(held) == held and held[0] < held[2] < held[3] and is_much else None


def module_grown(points, begin, end):
    """The same of memory that is held until there is more of it, at the begins of the last four tenths of what the process did, and in the last."""
    if len(points) < 10 or end == begin:
        return None
    tenth_of = [(seq - begin) * 10 // (end - begin) for seq, _, _ in points]
    held = [[point[1] for point, tenth in zip(points, tenth_of) if tenth < at] for at in (6, 7, 8, 9)]
    if not all(held):
        return None
    levels = [values[-1] for values in held]
    levels.append(max([levels[-1]] + [point[1] for point, tenth in zip(points, tenth_of) if tenth >= 9]))
    rise = levels[-1] - levels[0]
    return rise if sorted(levels) == levels and len(set(levels)) >= 4 and rise >= max(64 << 20, levels[-1] / 10) else None


def cycled(marks):
    """By how much rises what is held from mark to mark of one name, (held, live) at each, where what lives does not; and how often."""
    late = max(3, -(-2 * len(marks) // 5))
    if len(marks) < 5:
        return None
    rises = [after[0] - before[0] for before, after in zip(marks[-late - 1:], marks[-late:])]
    is_much = sum(rises) >= max(64 << 20, marks[-1][0] / 10) and (marks[-1][1] - marks[-late - 1][1]) * 5 <= sum(rises)
    return (sum(rises) // late, sum(rises), late) if min(rises) > 0 and is_much else None


def cycles_of(db):
    """{heap: (rise, marks)} of those that grow from mark to mark of some name."""
    marks = defaultdict(list)
    for heap, mark, *held in db.execute("SELECT k.heap_id, m.name, k.reserved_bytes, k.reserved_bytes - k.free_bytes FROM fragmentation_sample AS k JOIN moment AS m USING (moment_id)"
                                        " JOIN heap AS h USING (heap_id) WHERE m.kind = 3 AND m.process_id = h.process_id ORDER BY m.seq"):
        marks[heap, mark].append(held)
    found = {}
    for (heap, mark), held in sorted(marks.items(), key=repr):
        grown_by = cycled(held)
        if grown_by and (heap not in found or grown_by[0] > found[heap][0]):
            found[heap] = grown_by
    return {heap: of[1:] for heap, of in found.items()}


def hold_growth(db, name):
    points, cycles = defaultdict(list), cycles_of(db)
    for heap, level, *point in db.execute(
            "SELECT u.heap_id, h.level, u.last_seq, CASE WHEN h.level = 1 THEN u.live_bytes ELSE u.reserved_bytes END, u.max_live_bytes * (h.level > 1) FROM usage AS u"
            " JOIN heap AS h USING (heap_id) WHERE u.last_seq IS NOT NULL AND (h.level IN (2, 3) OR h.module_id <> 33) ORDER BY u.last_seq"):
        if point[1] is not None:
            points[heap].append(point)
    lost = db.execute("SELECT sum(events_dropped + events_damaged + events_unrecovered) FROM input").fetchone()[0]
    place = "(host, pid, device, heap, level) IS (SELECT host, pid, device, heap, level FROM z_heap_place WHERE heap_id = ?)"
    rises = {}
    for heap, of in points.items():
        level, process = db.execute("SELECT level, process_id FROM heap WHERE heap_id = ?", (heap,)).fetchone()
        of_process = [row[0] for row in db.execute("SELECT last_seq FROM usage JOIN heap USING (heap_id) WHERE process_id IS ? AND last_seq IS NOT NULL", (process,))]
        rises[heap] = module_grown(of, min(of_process), max(of_process)) if level == 1 else grown(of) if len(of) > 1 else None
    rises.update({heap: rise for heap, (rise, _) in cycles.items()})
    seen["cycles"] += len(cycles)
    want = sorted(rise for heap, rise in rises.items() if rise is not None
                  and db.execute(f"SELECT count(*) FROM finding WHERE kind IN ('leak', 'idle streams') AND {place}", (heap,)).fetchone()[0] == 0)
    have = sorted(row[0] for row in db.execute("SELECT bytes FROM finding WHERE kind = 'cache growth'"))
    if have != (want if lost == 0 else have):
        fail(name, f"caches that grow: {have}, not {want}")


def steps_of(values, gap):
    """Of {rank: bytes} the ranks that no gap parts from each other, lowest first."""
    ordered = sorted(values, key=lambda rank: values[rank])
    steps = [[ordered[0]]]
    for last, rank in zip(ordered, ordered[1:]):
        if values[rank] - values[last] > gap:
            steps.append([])
        steps[-1].append(rank)
    return steps


def middle_of(values):
    return sorted(values)[(len(values) - 1) // 2]


def option_of(words, *names):
    """Its value: the words behind all of these names. None: it is not given."""
    found = [words[i + 1] if i + 1 < len(words) else "" for i, word in enumerate(words) if word in names]
    return int(found[0]) if len(found) == 1 and found[0].isdigit() else -1 if found else None


def stage_told(db, process, world):
    """What the process was told of stages: how many, how many ranks are side by side in one, by what. None: nothing, or not surely."""
    pipelines = ("--pipeline-model-parallel-size", "--pipeline-parallel-size", "--pp-size", "-pp")
    teller = process
    while teller is not None:
        command, parent = db.execute("SELECT command, parent_id FROM process WHERE process_id = ?", (teller,)).fetchone()
        words = (command or "").replace("=", " ").replace("_", "-").split(" ") if len((command or "").encode()) < 2000 else []
        if {*pipelines, "--encoder-pipeline-model-parallel-size"} & {*words}:
            break
        teller = parent
    if teller is None:
        degrees = [int(row[0]) for row in db.execute("SELECT value FROM z_process_environment WHERE process_id = ? AND name = 'MEGATRON_LM_PP_DEGREE'", (process,))]
        return (degrees[0], world // degrees[0], "MEGATRON_LM_PP_DEGREE") if degrees and degrees[0] > 0 and world else None
    count, tensor = option_of(words, *pipelines), option_of(words, "--tensor-model-parallel-size", "--tensor-parallel-size", "--tp-size", "--tp", "-tp") or 1
    context, name = option_of(words, "--context-parallel-size") or 1, next(word for word in words if word.startswith(("--p", "-p", "--enc")) and word in (*pipelines, "--encoder-pipeline-model-parallel-size"))
    if "--encoder-pipeline-model-parallel-size" in words or not world or min(count, tensor, context) <= 0:
        return None
    if "--use-tp-pp-dp-mapping" in words:
        return (count, tensor * context, name)
    if name == pipelines[0]:
        return (count, world // count, name)
    return (count, tensor, name) if count * tensor == world else None


def stages_grouped(db, processes):
    """Stages by a communicator of each rank: how many, the stage of each rank, its name. None: some have none, or they disagree."""
    made = {rank: [(int(value.split()[1]), int(value.split()[3]), name) for name, value in db.execute(
        "SELECT name, value FROM z_process_environment WHERE process_id = ? AND source = 'hccl' ORDER BY name", (process,))
        if {"pipeline", "pp"} & (words := {*re.findall("[a-z]+", name.lower())}) and words <= {"pipeline", "pp", "model", "parallel", "group"}] for rank, _, _, process in processes}
    worlds, sizes = {row[2] for row in processes}, {size for one in made.values() for _, size, _ in one}
    if not all(made.values()) or any(len({stage for stage, _, _ in one}) > 1 for one in made.values()) or len(worlds) != 1 or len(sizes) != 1:
        return None
    (world,), (size,) = worlds, sizes
    if not world or not size or world % size or max(made) >= world or any(one[0][0] >= size for one in made.values()):
        return None
    return size, {rank: one[0][0] for rank, one in made.items()}, "group", min(one[0][2] for one in made.values())


def stages_told(db, processes):
    """How many stages, the stage of each rank, by what: all were told the same and it goes into the world, or all made groups. None: neither."""
    told = {(stage_told(db, process, world), world) for _, _, world, process in processes}
    (told, world), = told if len(told) == 1 else {(None, None)}
    if told is None or told[1] == 0 or world % (told[0] * told[1]) or max(row[0] for row in processes) >= world:
        return stages_grouped(db, processes)
    return told[0], {row[0]: row[0] // told[1] % told[0] for row in processes}, "told", told[2]


def teams_by_parts(held, sites, total):
    """Ranks that hold the same at every site; and those that are nearly alone somewhere, with them where that leaves no choice."""
    gap = middle_of(total.values()) // 20
    step_of, alone, odd = defaultdict(dict), set(), set()
    for site in sites:
        for i, ranks in enumerate(steps_of({rank: held[rank].get(site, 0) for rank in held}, gap)):
            for rank in ranks:
                step_of[rank][site] = i
            if len(ranks) < 3 and any(held[rank].get(site, 0) for rank in ranks):
                alone.update(rank for rank in ranks if held[rank].get(site, 0))
                odd.add(site)
    if {min(held), max(held)} <= alone:
        return []
    plain = defaultdict(list)
    for rank in set(held) - alone:
        plain[tuple(sorted(step_of[rank].items()))].append(rank)
    teams = [ranks for ranks in plain.values() if len(ranks) >= 3]
    alike = {rank: [team for team in teams if all(step_of[rank][site] == step_of[team[0]][site] for site in set(sites) - odd)] for rank in alone}
    return [team + [rank for rank in alone if len(alike[rank]) == 1 and alike[rank][0] is team] for team in teams]


def hold_uneven(db, name):
    """Ranks that hold more than their group, one group and one site at a time. Only of an input whose ranks are of one process each."""
    processes = db.execute("SELECT p.rank, p.command, p.world_size, p.process_id FROM process AS p JOIN input AS i USING (input_id) WHERE p.rank IS NOT NULL AND i.is_complete AND i.baseline <> 'unknown' AND NOT EXISTS (SELECT 1 FROM z_pause AS z WHERE z.process_id = p.process_id)").fetchall()
    if len({row[0] for row in processes}) < len(processes) or db.execute("SELECT count(*) FROM input").fetchone()[0] > 1:
        return
    held = {}
    for rank, _, _, process in processes:
        pooled = {row[0] for row in db.execute("SELECT device_id FROM heap JOIN z_heap_sum USING (heap_id) WHERE process_id = ? AND level = 2 AND peak_bytes > 0", (process,))}
        parts = defaultdict(int)
        for heap, device, level, module in db.execute("SELECT heap_id, device_id, level, coalesce(module_id, 33) <> 33 FROM heap WHERE process_id = ? AND device_id IS NOT NULL", (process,)).fetchall():
            if level in (2, 3) or level == 1 and (module or device not in pooled):
                for label, site, nbytes in db.execute("SELECT h.name, CASE WHEN k.is_baseline THEN '(baseline)' WHEN f.is_cut THEN '(stack cut)' ELSE coalesce(f.label, '(no stack)') END, k.live_bytes FROM z_peak_stack AS k JOIN heap AS h USING (heap_id) LEFT JOIN stack AS s USING (stack_id) LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE heap_id = ?", (heap,)):
                    parts[level, label, site] += nbytes
        if parts:
            held[rank] = parts
    want = {}
    if len(held) >= 3:
        total = {rank: sum(parts.values()) for rank, parts in held.items()}
        sites = {site for parts in held.values() for site in parts}
        told = stages_told(db, [row for row in processes if row[0] in held])
        for rank in held:
            held[rank][0, "", "all"] = total[rank]
        teams = [[rank for rank in held if told[1][rank] == stage] for stage in range(told[0])] if told else teams_by_parts(held, sites | {(0, "", "all")}, total)
        for team in (team for team in teams if len(team) >= 3):
            median = middle_of([total[rank] for rank in team])
            usual = middle_of([abs(total[rank] - median) for rank in team])
            out = [rank for rank in team if (more := total[rank] - median) > max(median / 20, usual * 4) and (more >= 1 << 28 or more >= max(1 << 24, median / 4))]
            if len(out) > max(len(team) / 4, len(team) == 3):
                continue
            for rank in out:
                usuals = {site: middle_of([held[other].get(site, 0) for other in team]) for site in sites}
                if not told and sum(min(held[rank].get(site, 0), usuals[site]) for site in sites) * 4 < median * 3:
                    continue
                site = max((site for site in sorted(sites, key=lambda site: site[::-1]) if held[rank].get(site, 0) and site[2] != "(stack cut)"), key=lambda site: held[rank][site] - usuals[site], default=None)
                if site and (held[rank][site] - usuals[site]) * 2 < total[rank] - median:
                    site = None
                want[rank] = (total[rank] - median, site and site[2], "exact" if told else "estimate", len(team) - 1)
                teller = [f"of pipeline stage {told[1][rank] + 1} of {told[0]}:", json.dumps([f"screen.uneven.{told[2]}", {"name": told[3]}], separators=(",", ":"))] if told else ["that hold the same elsewhere:"]
                said, = db.execute("SELECT text || evidence FROM finding WHERE kind = 'uneven rank' AND rank = ?", (rank,)).fetchone() or ("",)
                if any(part not in said for part in teller):
                    fail(name, f"rank {rank}: {said!r} does not say {teller}")
                tellers["alike" if not told else told[3] if told[2] == "told" else "a group", bool(told) and any(stage != rank * told[0] // processes[0][2] for rank, stage in told[1].items())] += 1
    have = {row[0]: row[1:] for row in db.execute("SELECT rank, bytes, site, basis, count FROM finding WHERE kind = 'uneven rank'")}
    if have != want:
        fail(name, f"uneven ranks: {have}, not {want}")
    for row in want.values():
        uneven[row[2], row[1] is not None] += 1


def write_groups(dice, out, stages, stage_of):
    """Communicators as a job makes them: of its pipeline, in some job's words, and others; of some rank twice, differently or not at all."""
    name = dice.choice([*["PIPELINE_MODEL_PARALLEL_GROUP"] * 4, "pp", "PP:0", "Pipeline-Parallel 3", "EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP", "apple", "group_p2p_0_1"])
    odd, what = dice.choice(list(stage_of)), dice.choice([*[""] * 5, "twice", "other stage", "other size", "beyond", "none", "by another name"])
    entry = 1000
    for rank, stage in stage_of.items():
        made = [("default_pg", rank, len(stage_of)), ("tp_ep_pp", rank % 2, 2), (name, stage, stages)]
        if rank == odd:
            made += {"twice": [made[-1]], "other stage": [(name, (stage + 1) % (stages + 1), stages)], "other size": [(name, stage, stages + 1)], "by another name": [("pp", stage, stages)]}.get(what, [])
            made = made[:-1] if what == "none" else made[:-1] + [(name, stages, stages)] if what == "beyond" else made
        for description, number, size in made:
            entry += 1
            out.write(f'attribute {entry} process={rank + 1} source=hccl name="{description}" value="rank {number} of {size}"\n')


def write_job(dice, path):
    """A pipeline of some stages and ranks, told or not, in which some rank may hold more of something."""
    stages, per, told, gib = *dice.choice([(1, 8), (2, 4), (2, 7), (3, 3), (3, 5), (4, 4), (4, 6), (8, 1), (6, 2)]), dice.random() < 0.5, 1 << 30
    way = dice.choice([" --pipeline-model-parallel-size {s}", " --pipeline-model-parallel-size={s} --tensor-model-parallel-size 2", " --pipeline_parallel_size {s} -tp {p}",
                       " --pp-size={s} --tp-size {p}", " --pipeline-parallel-size {s} -tp 1", " --pipeline-model-parallel-size {s} --use-tp-pp-dp-mapping",
                       " --use-tp-pp-dp-mapping --tensor-model-parallel-size 1 --pipeline-model-parallel-size {s} --context-parallel-size 1", "variable", *[""] * 3,
                       " --pipeline-model-parallel-size {s} --pipeline-model-parallel-size 1", " --pipeline-model-parallel-size {s} --note " + "x" * 2000,
                       " --pipeline-model-parallel-size {s} --encoder-pipeline-model-parallel-size 1"]) if told else ""
    grouped = told and (not way or dice.random() < 0.3)
    within, inherited, option = "mapping" in way or not way and dice.random() < 0.5, dice.random() < 0.3, "" if way == "variable" else way.format(s=stages, p=per)
    more = {dice.randrange(stages * per): dice.choice([(5, 3), (2, 2), (5, 0.2), (6, 20), (8, 30), None]) for _ in range(dice.choice([0, 1, 1, 2, 2]))}
    tied, waves, drift = dice.random() < 0.5, dice.choice([0, 0, 2]), dice.choice([0, 0, 0, 0.02, 0.3])
    with open(path, "w", encoding="utf-8") as out:
        if inherited:
            out.write(f'process 99 pid=99 host=h begin=0 command="torchrun train.py{option}"\n')
        for rank in range(stages * per):
            command = "python3 -c spawn_main(3)" if inherited else f"python3 train.py --x 1{option} --lr 1"
            out.write(f'process {rank + 1} pid={100 + rank} host=h rank={rank} world_size={stages * per} begin=0 command="{command}"{" parent=99" if inherited else ""}\n'
                      + (f"attribute {rank + 1} process={rank + 1} source=environment name=MEGATRON_LM_PP_DEGREE value={stages}\n" if way == "variable" else "") +
                      f"device {rank + 1} process={rank + 1} ordinal=0 physical={rank} kind=npu\nthread {rank + 1} process={rank + 1} tid={rank + 1}\n"
                      f"heap {rank + 1} process={rank + 1} device={rank + 1} level=pool basis=block name=pool\n")
        if grouped:
            write_groups(dice, out, stages, {rank: (rank % stages if within or way else rank // per) for rank in range(stages * per)})
        out.writelines(f"stack {site}: f{site}.py:{site}:g{site} < train.py:1:main\n" for site in range(1, 9))
        now = 0
        for rank in range(stages * per):
            stage, address = rank % stages if within else rank // per, (rank + 1) << 44
            sizes = {1: 4 * (stage == 0 or tied and stage == stages - 1), 2: 10 - dice.random() * drift * 10, 3: 6 * (stage == stages - 1), 4: waves * (stages - stage)}
            for site, size in ([more[rank], (7, dice.choice([0, 1.5]))] if more.get(rank) else [(5, 1.2), (6, 1.2), (7, 1.2)] if rank in more else []):
                sizes[site] = sizes.get(site, 0) + size
            if 8 in sizes:  # it does other work
                del sizes[2]
            for site, size in sizes.items():
                if size:
                    now += 10
                    out.write(f"@{now} alloc heap={rank + 1} address={address:#x} block={int(size * gib)} thread={rank + 1} stack={site}\n")
                    address += 1 << 40


def write_server(dice, path):
    """A pool that takes more in each cycle, or in some, and keeps it; more may live, and some goes back between the marks."""
    cycles, keeps, lives, mib = dice.choice([4, 5, 6, 8, 11]), dice.choice([1, 1, 0.8]), dice.choice([0, 0, 0.1, 0.5]), 1 << 20
    sizes, marks = dice.choice([[8], [40], [10, 60], [100]]), dice.choice([["sleep"], ["sleep", "wake"], ["wake", "sleep", "end"]])
    lines = ["process 1 pid=7", "device 1 process=1 ordinal=0 kind=npu", "heap 1 process=1 device=1 level=driver basis=block name=memory",
             "heap 2 process=1 device=1 level=pool basis=block name=pool", "thread 1 process=1 tid=7"]
    events, address = [], 1 << 40

    def segment(size, used):
        nonlocal address
        address += 1 << 36
        events.extend(f"alloc heap={heap} address={address:#x} block={int(part) * mib} thread=1" for heap, part in ((1, size), (2, used)))
        return address

    segment(256, 256)
    for cycle in range(cycles):
        size, goes, late = dice.choice(sizes) * 2, None, marks[-1 if dice.random() < 0.3 else 0]
        for mark in marks:
            if mark == late and dice.random() < keeps:
                kept = segment(size, size)
                events.append(f"free heap=2 address={kept:#x} thread=1")
                if lives:
                    events.append(f"alloc heap=2 address={kept:#x} block={max(1, int(size * lives)) * mib} thread=1")
            elif dice.random() < 0.3:
                goes = segment(512, 512)
                events.extend(f"free heap={heap} address={goes:#x} thread=1" for heap in (2, 1))
            events.append(f"mark name={mark}{cycle if dice.random() < 0.02 else ''} thread=1")
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in lines)
        out.writelines(f"@{10 * i} {event}\n" for i, event in enumerate(events))


def hold_order(db, name):
    grades = ["fault", "warning", "minor", "not judged", "good"]
    found = [grades.index(row[0]) for row in db.execute("SELECT severity FROM finding ORDER BY finding_id")]
    if found != sorted(found):
        fail(name, f"not the gravest first: {found}")
    ids = [row[0] for row in db.execute("SELECT finding_id FROM finding ORDER BY finding_id")]
    if ids != list(range(1, len(ids) + 1)):
        fail(name, f"numbers are {ids}")


def hold_whole_run(db, name):
    """Of a run with memory, leaks, failures and misuse are each found, or good, or not judged; and good only where all was recorded."""
    memory = db.execute("SELECT count(*) FROM peak WHERE peak_bytes > 0").fetchone()[0]
    partial = db.execute("SELECT count(*) FROM completeness WHERE verdict NOT IN ('complete', 'begun', 'kept', 'contradictory')").fetchone()[0]
    for kind in ("leak", "out of memory", "misuse"):
        severities = {row[0] for row in db.execute("SELECT severity FROM finding WHERE kind = ?", (kind,))}
        if memory and not severities:
            fail(name, f"{kind}: nothing is said")
        if "good" in severities and (partial or severities & {"fault", "warning"}):
            fail(name, f"{kind}: good beside {severities}, {partial} inputs are not whole")
    for kind, in db.execute("SELECT kind FROM finding WHERE severity = 'not judged' AND reason IS NULL"):
        fail(name, f"{kind}: not judged, and no reason")


def hold_evidence(db, name):
    """Over all allocations, of inputs that have them all."""
    have = {row[0]: row[1:] for row in db.execute("SELECT judgement, severity, event_count, step_count, born_ratio, open_count FROM evidence")}
    if set(have) != {"leak", "cache growth", "fragmentation", "pool hit rate", "out of memory", "misuse", "host growth"}:
        fail(name, f"evidence is of {set(have)}")
    if set(have) - {row[0] for row in db.execute("SELECT judgement FROM minimum")}:
        fail(name, "a judgement has no minimum")
    ranks = ["fault", "warning", "minor", "not judged", "good"]
    for kind, (severity, *_) in have.items():
        said = [row[0] for row in db.execute("SELECT severity FROM finding WHERE kind = ?", (kind,))]
        if severity != min(said, key=ranks.index, default=None):
            fail(name, f"evidence of {kind}: {severity}, of {said}")
    if db.execute("SELECT min(detail = 'all' AND is_complete AND detail_begin_seq IS NULL) AND NOT EXISTS (SELECT 1 FROM allocation WHERE split_from_id) FROM input").fetchone()[0] == 0:
        return
    born, pooled, processes, lived, held = 0, 0, set(), 0, 0
    for process, level, size, begin, end in db.execute("SELECT process_id, level, size_bytes, alloc_seq, free_seq FROM allocation JOIN heap USING (heap_id)"):
        born += begin is not None
        pooled += begin is not None and level == 2
        processes |= {process} if begin is not None else set()
        lived += size if end is None and level not in (1, 7) else 0
        held += size if end is None and level not in (1, 7) and begin is not None else 0
    steps = dict(db.execute("SELECT process_id, count(*) FROM step GROUP BY process_id"))
    late = min((max(0, steps.get(process, 0) - (2 if steps.get(process, 0) > 2 else 1)) for process in processes), default=0)
    events = db.execute("SELECT sum(events_ingested) FROM input").fetchone()[0]
    looks = db.execute("SELECT count(*) FROM memory_sample WHERE kind = 101 AND device_id IS NULL").fetchone()[0]
    hits = sum(row[0] or 0 for row in db.execute("SELECT amount FROM health WHERE measure = 'pool hit rate'"))
    for kind, want in (("out of memory", (events, None)), ("misuse", (events, None)), ("host growth", (looks, None)), ("pool hit rate", (hits, late)), ("leak", (born, late)), ("cache growth", (pooled, None))):
        if have[kind][1:3] != want:
            fail(name, f"evidence of {kind}: {have[kind]}, not {want}")
    ratio = held / lived if lived else None
    seen["evidence"] += ratio not in (None, 0, 1) and late > 0
    if (ratio is None) != (have["leak"][3] is None) or ratio is not None and abs(ratio - have["leak"][3]) > 1e-9:
        fail(name, f"{have['leak'][3]} was born in the history, not {ratio}")
    open_ = {tuple(row) for row in db.execute(f"SELECT {PLACE}, site FROM suspect_by_site WHERE verdict = 'not judged'")} | {tuple(row) for row in db.execute(f"SELECT {PLACE}, site FROM finding WHERE reason = 'not seen to end'")}
    if have["leak"][4] != len(open_):
        fail(name, f"{have['leak'][4]} sites are open, not {len(open_)}")


def codes_in(value):
    """All codes of sentences and labels: what is said of a code that nobody knows is nothing."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from [inner] if key == "label" else codes_in(inner) if isinstance(inner, (list, dict)) else []
    elif isinstance(value, list):
        for inner in value:
            yield from [inner] if isinstance(inner, str) else codes_in(inner)


def hold_texts(db, name):
    for number, text, sentence, nbytes, kind in db.execute("SELECT finding_id, text, sentence, bytes, kind FROM finding"):
        codes = [part for part in json.loads(sentence) if isinstance(part, str)]
        if not codes or not text or "{" in text or "[" in text.replace("[/", ""):
            fail(name, f"finding {number} says {text!r}")
        if kind == "leak" and "screen.leak.bytes" in codes and not re.match(r"[\d.]+ ([KMGT]iB|B)", text):
            fail(name, f"finding {number} of {nbytes} bytes says {text!r}")
    for value, in db.execute("SELECT evidence FROM finding WHERE evidence IS NOT NULL UNION ALL SELECT remedy FROM finding WHERE remedy IS NOT NULL"):
        json.loads(value)
    for value, in db.execute("SELECT sentence FROM finding UNION SELECT evidence FROM finding UNION SELECT remedy FROM finding UNION SELECT sentence FROM finding_group"):
        for code in codes_in(json.loads(value or "[]")):
            if code not in known:
                fail(name, f"no sentence is called {code}")


def hold_groups(db, name):
    """Over the rows, one by one."""
    parts = defaultdict(lambda: defaultdict(list))
    for kind, severity, verdict, site, host, rank, pid, value, nbytes, count in db.execute(
            "SELECT kind, severity, verdict, site, host, rank, pid, value, bytes, count FROM finding WHERE severity IN ('fault', 'warning') AND kind NOT IN ('shared device', 'uneven rank')"):
        parts[kind, severity, verdict, site if kind == "leak" else None][host, rank, pid].append((value, nbytes, count))
    name_of = lambda host, rank, pid: ("rank", rank) if rank is not None else (host, pid)
    places = db.execute("SELECT DISTINCT process_id, host, rank, pid FROM z_rank_summary").fetchall()
    known = {("rank", rank) for rank, in db.execute("SELECT DISTINCT rank FROM process WHERE rank IS NOT NULL")}
    all_count = len(known or places) + len({name_of(*holder) for holders in parts.values() for holder in holders} - (known or {name_of(*place[1:]) for place in places}))
    have = {}
    for row in db.execute("SELECT kind, severity, verdict, site, holder_count, total_bytes, total_count, least_amount, median_amount, most_amount, worst_rank, worst_pid, worst_host, all_count FROM finding_group"):
        have[row[0], row[1], row[2], row[3] if row[0] == "leak" else None] = row[4:]
    if set(have) != set(parts):
        fail(name, f"groups are {set(have)}, not {set(parts)}")
        return
    for key, holders in parts.items():
        amounts = {}
        for holder, found in holders.items():
            if key[0] == "leak":
                amounts[holder] = sum(nbytes for _, nbytes, _ in found)
            elif key[0] in ("misuse", "out of memory", "object leak"):
                amounts[holder] = sum(count for *_, count in found)
            else:
                amounts[holder] = (min if key[0] in ("pool hit rate", "zero copy") else max)(value for value, *_ in found)
        ordered = sorted(amounts.values())
        worst = (min if key[0] in ("pool hit rate", "zero copy") else max)(ordered)
        all_bytes = [nbytes for found in holders.values() for _, nbytes, _ in found if nbytes is not None]
        all_counts = [count for found in holders.values() for *_, count in found if count is not None]
        count = len({name_of(*holder) for holder in holders})
        want = (count, sum(all_bytes) if all_bytes else None, sum(all_counts) if all_counts else None, ordered[0], ordered[(len(ordered) - 1) // 2], ordered[-1])
        if have[key][:6] != want:
            fail(name, f"group {key} has {have[key][:6]}, not {want}")
        if have[key][9] != all_count:
            fail(name, f"group {key} is of {have[key][9]}, not {all_count}")
        rank, pid, host = have[key][6:9]
        if amounts.get((host, rank, pid)) != worst:
            fail(name, f"group {key}: {host} {rank} {pid} is not the worst")


def said_codes(part):
    """(code, values) of all that is said in a part of the JSON."""
    if isinstance(part, dict):
        yield from said_codes(part.get("said", []))
    if isinstance(part, list):
        for i, one in enumerate(part):
            if isinstance(one, str):
                values = part[i + 1] if i + 1 < len(part) and isinstance(part[i + 1], dict) and "said" not in part[i + 1] else {}
                yield one, values
                for value in values.values():
                    yield from said_codes(value)
            elif isinstance(one, dict) and "said" in one:
                yield from said_codes(one)


def hold_holes(db, name):
    """No sentence has a word that is not known."""
    for table in ("finding", "finding_group"):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] in ("sentence", "evidence", "remedy")]
        for row in db.execute(f"SELECT {', '.join(columns)} FROM {table}"):
            for column, text in zip(columns, row):
                for code, values in said_codes(json.loads(text)) if text else ():
                    for word in words_of[code] - {"place", "where", "site"}:
                        if values.get(word) is None:
                            fail(name, f"{column} of a {table} says {code} without {word}: {text}")
    for explanation, message in db.execute("SELECT explanation, message FROM out_of_memory"):
        if explanation is None or message is None or "?" in explanation + message:
            fail(name, f"out of memory: {explanation!r}, {message!r}")


def hold_steps(db, name):
    """Of a process that has too few steps its own are told, not those of another."""
    for reason, sentence, host, rank, pid in db.execute("SELECT reason, sentence, host, rank, pid FROM finding WHERE kind = 'leak' AND reason IN ('no steps', 'too few steps')"):
        counts = {count for count, in db.execute("SELECT (SELECT count(*) FROM step AS s WHERE s.process_id = p.process_id) FROM process AS p WHERE host IS ? AND rank IS ? AND pid IS ?", (host, rank, pid))}
        code, *words = json.loads(sentence)
        told = words[0]["seen"] if code == "screen.unjudged.early" else 0
        seen["steps"] += 1
        if told not in counts or (told == 0) != (reason == "no steps") or (told > 0 and words[0]["more"] != words[0]["needed"] - told):
            fail(name, f"of {host} {rank} {pid} {sentence} is told, which has {counts} steps")


def load(name, *texts):
    traces = []
    for i, text in enumerate(texts):
        traces.append(f"{work}/{name}.{i}.zst")
        subprocess.run([text2trace, text, traces[-1]], check=True, stdout=subprocess.DEVNULL)
    status = subprocess.run([ingest, "--quiet", "--force", "-o", f"{work}/{name}.db", *traces], stdout=subprocess.DEVNULL).returncode
    if status not in (0, 3):  # 3: not all was recorded
        fail(name, f"npumem-ingest ended with {status}")
    return sqlite3.connect(f"{work}/{name}.db")


def hold(name, *texts):
    db = load(name, *texts)
    for check in (hold_rows, hold_kept, hold_parts, hold_cut, hold_host, hold_growth, hold_uneven, hold_order, hold_whole_run, hold_evidence, hold_texts, hold_groups, hold_steps, hold_holes):
        check(db, name)
    count = db.execute("SELECT count(*) FROM finding").fetchone()[0]
    db.close()
    return count


os.makedirs(work, exist_ok=True)
with open(f"{source}/src/say/sentences.def", encoding="utf-8") as rows_of_sentences:
    known = set(re.findall(r'^NM_SENTENCE\(\w+, "([^"]+)"', rows_of_sentences.read(), re.M))
with_codes = "".join(open(f"{source}/src/store/findings/{file}", encoding="utf-8").read() for file in os.listdir(f"{source}/src/store/findings") if file.endswith(".sql"))
for literal in set(re.findall(r"'(screen\.[a-z_.]+)'", with_codes)):
    if not (any(code.startswith(literal) for code in known) if literal.endswith(".") else literal in known):
        fail("src/store/findings", f"no sentence is called {literal}")
total = 0
traces = {}
for folder in ("tests/sql", "tests/screens"):
    for case in sorted(os.listdir(f"{source}/{folder}")):
        text = f"{source}/{folder}/{case}/trace.txt"
        if os.path.exists(text):
            traces[f"{os.path.basename(folder)}.{case}"] = text
for name, text in traces.items():
    also = text.replace("trace.txt", "also.txt")
    total += hold(name, text, *([also] if os.path.exists(also) else []))
names = sorted(traces)
for i in range(0, len(names) - 3, 3):
    total += hold(f"together.{i}", *(traces[name] for name in names[i:i + 3]))
dice = random.Random(26)
for i in range(210):
    write_job(dice, f"{work}/job.{i}.txt")
    total += hold(f"job.{i}", f"{work}/job.{i}.txt")
for i in range(60):
    write_server(dice, f"{work}/server.{i}.txt")
    total += hold(f"server.{i}", f"{work}/server.{i}.txt")
if seen["cycles"] < 10:
    fail("servers", f"hardly one grows from cycle to cycle: {dict(seen)}")
if min(uneven[basis, has_site] for basis in ("exact", "estimate") for has_site in (True, False)) == 0:
    fail("jobs", f"not all kinds of uneven ranks: {dict(uneven)}")
if len(tellers) < 8 or min(tellers.values()) < 2 or ("a group", True) not in tellers:
    fail("jobs", f"not all that tells stages: {dict(tellers)}")
print(f"{len(names)} traces, {total} findings, {dict(seen)}")
if seen["evidence"] == 0:
    fail("all", "nothing was born after a baseline and a warm-up")
if seen["cut"] < 100:
    fail("all", "hardly a pool was cut up")
sys.exit(failed > 0)
