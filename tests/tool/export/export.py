#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export.py NPUMEM_EXPORT DB [all | peak_and_end | peak]: what the exports of a database say, against its rows.

Everything is worked out again, slowly: which allocations were live, which frames their stacks have, and the wire format of
protocol buffers. With `peak`, for databases that tell of peaks alone, no other moment is asked for.
"""
import sqlite3
import subprocess
import sys
from collections import Counter

export, path, which = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "all"
db = sqlite3.connect(path)
db.text_factory = lambda text: text.decode("utf-8", "replace")
failures = 0


def check(what, got, wanted):
    global failures
    if got != wanted:
        failures += 1
        print(f"{path}: {what}: {str(got)[:2000]}\n  wanted: {str(wanted)[:2000]}", file=sys.stderr)


def run(*arguments):
    return subprocess.run([export, *arguments, "-o", "-", path], check=True, stdout=subprocess.PIPE).stdout


# ---- The rows -----------------------------------------------------------------------------------------------------------

frames = {row[0]: row[1:] for row in db.execute(
    "SELECT frame_id, function, file, line, label, is_plumbing FROM frame")}
stacks = {row[0]: row[1:] for row in db.execute("SELECT stack_id, parent_id, frame_id, site_frame_id, is_cut FROM stack")}
heaps = {row[0]: row[1:] for row in db.execute(
    "SELECT h.heap_id, h.name, l.name, coalesce(d.physical_ordinal, d.ordinal), p.rank, p.pid, p.host, d.kind, p.process_id"
    " FROM heap AS h LEFT JOIN heap_level AS l ON l.level = h.level LEFT JOIN process AS p ON p.process_id = h.process_id"
    " LEFT JOIN device AS d ON d.device_id = h.device_id")}
categories = dict(db.execute("SELECT category_id, name FROM z_category"))


def heap_names():
    words = {}
    for heap_id, (name, level, device, rank, pid, _, kind, _) in heaps.items():
        parts = [f"rank {rank}" if rank is not None else f"pid {pid}" if pid is not None else None,
                 None if device is None else f"{'GPU' if kind == 'gpu' else 'NPU'} {device}", name or level or "heap"]
        words[heap_id] = ", ".join(part for part in parts if part is not None)
    count = Counter(words.values())
    for heap_id, text in words.items():
        if count[text] > 1:
            host, pid = heaps[heap_id][5], heaps[heap_id][4]
            words[heap_id] = ", ".join([text] + ([host] if host is not None else []) +
                                       ([f"pid {pid}"] if pid is not None else []) + [f"heap {heap_id}"])
    return words


names = heap_names()


def stack_of(stack_id, is_baseline, is_raw):
    """Its frames, the outermost first, as frame numbers or words."""
    if stack_id is None:
        return ["(baseline)" if is_baseline else "(no stack)"]
    found, at = [], stack_id
    while at is not None:
        parent, frame, _, _ = stacks[at]
        found.append(frame)
        at = parent
    site = stacks[stack_id][2]
    if not is_raw and site is not None:
        inner = [i for i, frame in enumerate(found) if frames[frame][:4] == frames[site][:4]]
        outer = found[inner[0] + 1:] if inner else found
        found = [site] + [frame for frame in outer if not frames[frame][4]]
    if stacks[stack_id][3]:
        found.append("(callers are missing)")
    return found[::-1]


def moment_of(heap_id, at):
    """The place in the order of events; None: the heap has no such moment."""
    if at == "peak":
        return db.execute("SELECT coalesce(peak_seq, -1) FROM z_heap_sum WHERE heap_id = ?", (heap_id,)).fetchone()
    if at == "begin":
        return (-1,)
    if at == "end":
        return (1 << 62,)
    if at.startswith("seq:"):
        return (int(at[4:]),)
    own = db.execute("SELECT max(seq) FROM moment WHERE kind = 3 AND name = ? AND process_id = ?",
                     (at, heaps[heap_id][7])).fetchone()
    return own if own[0] is not None else None


def live(at):
    """(heap, stack, is baseline, stream, category) -> allocations, bytes."""
    sums = {}
    moments = {heap_id: moment_of(heap_id, at) for heap_id in heaps}
    for heap_id, stack, stream, category, size, born, end in db.execute(
            "SELECT heap_id, stack_id, stream, category_id, size_bytes, coalesce(alloc_seq, -2), CASE WHEN end_kind <> 0 THEN"
            " free_seq END FROM allocation"):
        moment = moments[heap_id]
        if moment is not None and born <= moment[0] and (end is None or end > moment[0]):
            one = sums.setdefault((heap_id, stack, born == -2 and stack is None, stream, category), [0, 0])
            one[0] += 1
            one[1] += size
    return sums


# ---- Folded stacks --------------------------------------------------------------------------------------------------------


def check_folded(at, is_raw, wanted_live):
    wanted = Counter()
    for (heap_id, stack, is_baseline, _, _), (_, size) in wanted_live.items():
        line = [names[heap_id]] + [frame if isinstance(frame, str) else frames[frame][3]
                                   for frame in stack_of(stack, is_baseline, is_raw)]
        wanted[";".join(part.replace(";", ",") for part in line)] += size
    got = Counter()
    for line in run("folded", "--at", at, *(["--raw-stacks"] if is_raw else [])).decode().splitlines():
        text, size = line.rsplit(" ", 1)
        got[text] += int(size)
    check(f"folded --at {at} raw {is_raw}", got, Counter({text: size for text, size in wanted.items() if size > 0}))


# ---- pprof ----------------------------------------------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def message(data):
    """[(field, number or bytes)]"""
    at, fields = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "cut"
        else:
            raise ValueError(f"kind {key & 7}")
        fields.append((key >> 3, value))
    return fields


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(signed(value))
    return values


def one_of(data):
    return dict(message(data))


def read_profile(data):
    """The types of values, and samples as (places, values, labels): a place is (function, file, line)."""
    fields = message(data)
    texts = [value.decode() for field, value in fields if field == 6]
    assert texts[0] == "", "the table begins with the empty text"
    mappings = {m[1]: m for m in (one_of(v) for f, v in fields if f == 3)}
    functions = {m[1]: m for m in (one_of(v) for f, v in fields if f == 5)}
    locations = {m[1]: m for m in (one_of(v) for f, v in fields if f == 4)}
    assert len(locations) == sum(f == 4 for f, _ in fields) and len(functions) == sum(f == 5 for f, _ in fields), "twice"
    assert 1 in mappings and texts[mappings[1][5]] != "", "the program has a name"
    assert sorted(mappings) == list(range(1, len(mappings) + 1)), "mappings are numbered from 1"

    def place(number):
        location = locations[number]
        assert location[2] in mappings
        line = one_of(location[4])
        function = functions[line[1]]
        return texts[function[2]], texts[function[4]], signed(line[2])

    samples = []
    for data in (value for field, value in fields if field == 2):
        places, values, labels = [], [], {}
        for field, value in message(data):
            if field == 1:
                places += [place(number) for number in packed(value)]
            elif field == 2:
                values += packed(value)
            else:
                label = one_of(value)
                labels[texts[label[1]]] = texts[label[2]]
        samples.append((places, values, labels))
    types = [(texts[m[1]], texts[m[2]]) for m in (one_of(v) for f, v in fields if f == 1)]
    default = [texts[value] for field, value in fields if field == 14]
    return types, default, samples, mappings, texts


def place_of(frame):
    if isinstance(frame, str):
        return frame, "", 0
    function, file, line, label, _ = frames[frame]
    name = function or label
    if function and (file or "").endswith(".py"):
        name = f"{file.rsplit('/', 1)[-1]}:{function}"
    return name, file or "", line or 0


def check_pprof(at, is_raw, wanted_live):
    types, default, samples, mappings, texts = read_profile(
        run("pprof", "--at", at, *(["--raw-stacks"] if is_raw else [])))
    check("types", types, [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"),
                           ("inuse_space", "bytes"), ("peak_space", "bytes"), ("leak_space", "bytes")])
    check("default type", default, ["inuse_space"])
    wanted = {}

    def add(heap_id, stack, is_baseline, stream, category, values):
        name, level, device, rank, pid = heaps[heap_id][:5]
        labels = {"heap": name, "level": level, "device": device, "rank": rank, "pid": pid, "stream": stream,
                  "category": categories.get(category)}
        key = (tuple(place_of(frame) for frame in stack_of(stack, is_baseline, is_raw)[::-1]),
               tuple(sorted((k, str(v)) for k, v in labels.items() if v is not None and v != "")))
        wanted[key] = [a + b for a, b in zip(wanted.get(key, [0] * 6), values)]

    for row in db.execute("SELECT heap_id, stack_id, allocation_count, allocated_bytes FROM z_stack_sum"):
        add(row[0], row[1], False, None, None, [row[2], row[3], 0, 0, 0, 0])
    for key, (count, size) in wanted_live.items():
        add(*key, [0, 0, count, size, 0, 0])
    for row in db.execute("SELECT heap_id, stack_id, is_baseline, live_bytes FROM z_peak_stack"):
        add(row[0], row[1], row[2], None, None, [0, 0, 0, 0, row[3], 0])
    for row in db.execute("SELECT heap_id, stack_id, leak_count * size_bytes FROM z_leaked_sum"):
        add(row[0], row[1], False, None, None, [0, 0, 0, 0, 0, row[2]])
    got = {}
    for places, values, labels in samples:
        key = (tuple(places), tuple(sorted(labels.items())))
        got[key] = [a + b for a, b in zip(got.get(key, [0] * 6), values)]
    check(f"pprof --at {at} raw {is_raw}", got, {key: values for key, values in wanted.items() if any(values)})
    check_sums(at, samples)
    builds = {row[0] for row in db.execute(
        "SELECT DISTINCT m.build_id FROM z_module AS m WHERE m.build_id IS NOT NULL AND m.module_id IN"
        " (SELECT f.module_id FROM frame AS f)")}
    said = {texts[mapping[6]] for mapping in mappings.values()} - {""}
    check("build ids that are no module's", said - builds, set())


def check_sums(at, samples):
    """Against views, by heap."""
    sums = {}
    for _, values, labels in samples:
        key = tuple(labels.get(name, "") for name in ("rank", "pid", "device", "heap", "level"))
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * 6), values)]
    for index, sql in (
            (1, "SELECT rank, pid, device, heap, level, sum(allocated_bytes) FROM heap_total GROUP BY 1, 2, 3, 4, 5"),
            (4, "SELECT rank, pid, device, heap, level, sum(peak_bytes) FROM peak GROUP BY 1, 2, 3, 4, 5"),
            (5, "SELECT rank, pid, device, heap, level, sum(leak_bytes) FROM leak_by_site GROUP BY 1, 2, 3, 4, 5")):
        wanted = {tuple("" if part is None else str(part) for part in row[:5]): row[5] for row in db.execute(sql)}
        check(f"sums of type {index} by heap", {key: values[index] for key, values in sums.items() if values[index] > 0},
              {key: size for key, size in wanted.items() if size > 0})
        if index == 4 and at == "peak":
            check("live at the peak by heap", {key: values[3] for key, values in sums.items() if values[3] > 0},
                  {key: size for key, size in wanted.items() if size > 0})


# ---- All of it ------------------------------------------------------------------------------------------------------------

if which == "peak_and_end":
    for at in ("peak", "end"):
        check_folded(at, False, live(at))
        check_pprof(at, True, live(at))
elif which == "all":
    moments = ["peak", "end", "begin"] + [row[0] for row in db.execute("SELECT DISTINCT name FROM moment WHERE kind = 3")]
    last = db.execute("SELECT max(last_seq) FROM input").fetchone()[0] or 0
    moments += [f"seq:{last * part // 3}" for part in range(4)]
    for at in moments:
        rows = live(at)
        for is_raw in (False, True):
            check_folded(at, is_raw, rows)
            check_pprof(at, is_raw, rows)
else:
    rows = {(row[0], row[1], bool(row[2]), None, None): row[3:] for row in db.execute(
        "SELECT heap_id, stack_id, is_baseline, live_count, live_bytes FROM z_peak_stack")}
    check_folded("peak", False, rows)
    check_pprof("peak", False, rows)
sys.exit(1 if failures else 0)
