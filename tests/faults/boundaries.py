# SPDX-License-Identifier: Apache-2.0
"""Nothing, one, and one more or less than fits: events of a trace, of a block and of a ring, times that are equal, and sizes and
times up to the largest that there are. Sums are compared with those of a plain model, and every view answers."""
import os
import sqlite3

from trial import IS_WHOLE, begin, check_recorded, clear, dump, expect, finish, leave_out, paths, run, told

HEAD = """process 1 pid=100 host=h1 command="train"
device 1 process=1 ordinal=0 physical=0 kind=npu capacity=65536
heap 1 process=1 device=1 level=driver basis=requested name="memory"
thread 1 process=1 tid=100
stack 1: train.c:10:main
"""
MOST = 2**63 - 1
SIZE_MOST = 2**56  # a larger one is taken for this, so that sums hold (src/replay/state.h)
NOWHERE = 2**63  # no page is there; it is taken for the next address


def line(ns, kind, address, size=None):
    return f"@{ns} {kind} heap=1 address={address:#x} thread=1" + (f" requested={size} stack=1" if size is not None else "")


def model(events):
    """(births, ends, live at the end, highest) of (ns, kind, address, size), none of whose addresses lives twice."""
    live, highest, births, ends = {}, 0, 0, 0
    for _, kind, address, size in events:
        if kind == "alloc":
            births += 1
            live[address] = min(size, SIZE_MOST)
        elif kind == "free":
            ends += 1
            live.pop(address)
        highest = max(highest, sum(live.values()))
    return births, ends, sum(live.values()), highest


def load(text, per_block=1000):
    with open("t.txt", "w", encoding="utf-8") as file:
        file.write(text)
    made = run(paths.text2trace, "t.txt", "t.zst", per_block)
    clear("t.db")
    return made if made[0] != 0 else run(paths.ingest, "-o", "t.db", "t.zst")


def ask_all(what):
    with sqlite3.connect("file:t.db?mode=ro", uri=True) as database:
        for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall():
            try:
                database.execute(f"SELECT * FROM {name}").fetchall()
            except sqlite3.Error as error:
                expect(False, f"{what}: {name}: {error}")


def check_text(what, events):
    status, _, err = load(HEAD + "\n".join(line(*event) for event in events) + "\n")
    if not expect(status == 0, f"{what}: ends with {status}: {err}"):
        return
    ask_all(what)
    with sqlite3.connect("file:t.db?mode=ro", uri=True) as database:
        seen, = database.execute("SELECT events_seen FROM input").fetchone()
        found = database.execute("SELECT coalesce(sum(allocation_count), 0), coalesce(sum(free_count), 0), "
                                 "coalesce(sum(outstanding_bytes), 0) FROM heap_total").fetchone()
        highest, = database.execute("SELECT coalesce(max(peak_bytes), 0) FROM peak").fetchone()
    expect(seen == len(events), f"{what}: {len(events)} events, {seen} seen")
    expect((*found, highest) == model(events), f"{what}: {(*found, highest)} for {model(events)}")


def texts():
    check_text("no event", [])
    check_text("one event", [(5, "alloc", 0x1000, 64)])
    check_text("time 0", [(0, "alloc", 0x1000, 64)])
    check_text("two at once", [(0, "alloc", 0x1000, 64), (0, "free", 0x1000, None)])
    check_text("all at one time", [(7, "alloc", 0x1000 * (i + 1), i) for i in range(100)] + [(7, "free", 0x1000, None)])
    check_text("no bytes", [(1, "alloc", 0x1000, 0), (2, "free", 0x1000, None)])
    check_text("one byte", [(1, "alloc", 0x1000, 1)])
    for size in (2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, MOST - 1, MOST):
        check_text(f"{size} bytes", [(1, "alloc", 0x1000, size), (2, "free", 0x1000, None), (3, "alloc", 0x2000, 1)])
    for ns in (2**31, 2**53 + 1, 2**62, MOST - 1):
        check_text(f"time {ns}", [(1, "alloc", 0x1000, 64), (ns, "free", 0x1000, None)])
    check_text("the highest address", [(1, "alloc", 2**64 - 1, 64), (2, "alloc", NOWHERE - 1, 64), (3, "free", 2**64 - 1, None)])
    check_text("an address that is none", [(1, "alloc", NOWHERE, 64), (2, "alloc", 0x1000, 64), (3, "free", NOWHERE, None)])


def too_much():
    """More at once than a number holds: each is bounded, and every view answers."""
    for sizes in ((MOST, 1), (MOST, MOST), (2**62, 2**62), (MOST, MOST, MOST), (MOST,) * 126):
        text = HEAD + "\n".join(line(i, "alloc", 0x1000 * (i + 1), size) for i, size in enumerate(sizes)) + "\n"
        status, out, err = load(text)
        if expect(status in (0, 3), f"{sizes}: ends with {status}: {out}{err}"):
            ask_all(f"{sizes} at once")
            with sqlite3.connect("file:t.db?mode=ro", uri=True) as database:
                highest, = database.execute("SELECT max(peak_bytes) FROM peak").fetchone()
            expect(highest == sum(min(size, SIZE_MOST) for size in sizes), f"{sizes} at once: the peak is {highest}")


def kinds():
    """Of copies that a newer runtime has, or nobody."""
    for kind in (0, 7, 8, 42, 99, 101, 255, 2**32, MOST):
        status, _, err = load(HEAD + f"@1 copy thread=1 source=0x1000 address=0x2000 size=64 detail={kind}\n")
        if expect(status == 0, f"a copy of kind {kind}: ends with {status}: {err}"):
            with sqlite3.connect("file:t.db?mode=ro", uri=True) as database:
                found, = database.execute("SELECT kind FROM copy").fetchone()
            expect(found == (kind if kind <= 7 else 4), f"a copy of kind {kind} is of kind {found}")


def blocks():
    """The same whatever stands in one block."""
    events = [(i, "alloc", 0x1000 * (i + 1), i + 1) for i in range(300)]
    text = HEAD + "\n".join(line(*event) for event in events) + "\n"
    expected = None
    for per_block in (1, 2, 299, 300, 301, 100000):
        status, _, err = load(text, per_block)
        expect(status == 0, f"{per_block} events a block: ends with {status}: {err}")
        found = [row for row in (dump("t.db") or "").splitlines() if not row.startswith(('INSERT INTO "input"', 'INSERT INTO "meta"'))]
        expected = expected or found
        expect(len(found) > 300 and found == expected, lambda: f"{per_block} events a block: {sorted(set(found) ^ set(expected))[:3]}")


# ---- Rings

HELD = 4096


def record_stopped(count):
    """So many allocations and as many frees while nobody empties the ring."""
    clear("rings", "t.zst", "t.db", "ack")
    os.mkdir("rings")
    status, out, err = run(paths.record, "-q", "--sample-interval", "0", "--buffer", "64K", "--on-full", "drop", "--stacks", "none", "--ring-dir",
                           os.path.abspath("rings"), "-o", "t.zst", "--", "sh", "-c",
                           'kill -STOP $PPID; "$@"; kill -CONT $PPID', "sh", paths.spin_events, "--events", count, "--hold", HELD, "--ack", "ack")
    expect(status == 0, f"{count} events: npumem-record ends with {status}: {out}{err}")
    status, _, err = run(paths.ingest, "--quiet", "-o", "t.db", "t.zst")
    lost = check_recorded(f"a ring with {count} allocations", "t.db", told("ack"), may_be_open=False)
    expect(status == (3 if lost else 0), f"{count} allocations: {lost} lost, npumem-ingest ends with {status}: {err}")
    return lost


def rings():
    """From the first that does not fit on, each event more is one more that is lost."""
    many = 3000
    fitting = many - record_stopped(many) // 2
    around = range(fitting - (20 if IS_WHOLE else 3), fitting + (20 if IS_WHOLE else 4))
    losses = {count: record_stopped(count) for count in around}
    first = min((count for count, lost in losses.items() if lost), default=None)
    expect(0 < fitting < many and first, f"a ring of {fitting} pairs: {losses}")
    for count in around:
        expect(losses[count] == (0 if first is None or count < first else losses[first] + 2 * (count - first)), f"losses: {losses}")
    print(f"a ring holds {fitting} pairs of events: {losses}")


begin()
leave_out("40 lengths around that of a ring")
texts()
too_much()
kinds()
blocks()
rings()
finish()
