#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""window.py BIN_FOLDER TEXT2TRACE SQL_CASES SCRATCH: npumem-ingest --window. Of the traces of every other case of tests/sql and of a long one that is made here, the
rows that a database of all rows has are looked through one by one: what was live or happened in the window is in that of the window, with all of its
columns, beside what --detail live keeps, and nothing else. Views that are no lists of rows are the same. Where the window lies is worked out here, from
the steps, marks and times of the trace."""
import glob
import os
import random
import shutil
import sqlite3
import subprocess
import sys

BIN, TEXT2TRACE, CASES, SCRATCH = sys.argv[1:]
OF_ROWS = {"allocation", "allocation_detail", "catalog"}  # tell of the rows that are there
OF_THE_LOAD = {"detail", "window_begin_seq", "window_end_seq", "window_begin_ns", "window_end_ns"}
LATE = 1 << 62
failures = []


def fail(text):
    failures.append(text)
    print(text, file=sys.stderr)


def ingest(*arguments, status=0, text=None):
    """status: None: whatever."""
    done = subprocess.run([os.path.join(BIN, "npumem-ingest"), *arguments], capture_output=True, text=True,
                          env=dict(os.environ, LC_ALL="C.UTF-8"), check=False)
    if status is not None and done.returncode != status:
        fail(f"{' '.join(arguments)}: ends with {done.returncode}, not {status}: {done.stderr}")
    if text is not None and text not in done.stderr:
        fail(f"{' '.join(arguments)}: says {done.stderr!r}, not {text!r}")
    return done


def rows_of(db, table):
    """Number of a row -> the row, as a dictionary; without a number of its own the row is its own number."""
    cursor = db.execute(f'SELECT * FROM "{table}"')
    names = [column[0] for column in cursor.description]
    key = names.index(f"{table.removeprefix('z_')}_id") if f"{table.removeprefix('z_')}_id" in names else None
    return {row if key is None else row[key]: dict(zip(names, row)) for row in cursor}


def is_in(begin, end, first, last):
    """None: before the first event, or after the last one."""
    return (-1 if begin is None else begin) <= last and (LATE if end is None else end) >= first


def compare_rows(name, whole, near, live, first, last):
    allocations, kept, at_moments = (rows_of(db, "allocation") for db in (whole, near, live))
    met = {key for key, row in allocations.items() if is_in(row["alloc_seq"], row["free_seq"], first, last)}
    wanted = met | {key for key, row in at_moments.items() if row["is_segment"] == 0}
    carriers = {allocations[key]["segment_id"] for key in wanted} - {None}
    carriers |= {allocations[key]["segment_id"] for key in carriers} - {None}
    if not (wanted | carriers) <= set(kept):
        fail(f"{name}: allocations {sorted((wanted | carriers) - set(kept))[:5]} have no row")
    surplus = [key for key in kept if key not in wanted | carriers | set(at_moments) and kept[key]["is_segment"] == 0]
    if surplus:
        fail(f"{name}: allocations {sorted(surplus)[:5]} have a row")
    if any(allocations.get(key) != row for key, row in kept.items()):
        fail(f"{name}: other columns of allocations")
    for table in ("copy", "workspace", "z_stream_call"):
        expected = {key: row for key, row in rows_of(whole, table).items() if is_in(row["seq"], row["seq"], first, last)}
        if rows_of(near, table) != expected:
            fail(f"{name}: other rows of {table}")
    operations, kept_operations = rows_of(whole, "operation"), rows_of(near, "operation")
    open_then = {key for key, row in operations.items() if is_in(row["begin_seq"], row["end_seq"], first, last)}
    if not open_then <= set(kept_operations) or any(operations.get(key) != row for key, row in kept_operations.items()):
        fail(f"{name}: other operations")
    named = {row["operation_id"] for table in ("allocation", "copy", "workspace", "z_stream_call") for row in rows_of(near, table).values()}
    named |= open_then | set(rows_of(live, "operation"))
    while any(operations[key]["parent_id"] not in named | {None} for key in named - {None}):
        named |= {operations[key]["parent_id"] for key in named - {None}}
    if not set(kept_operations) <= named:
        fail(f"{name}: operations {sorted(set(kept_operations) - named)[:5]} have a row")
    stated = near.execute("SELECT detail, window_begin_seq, window_end_seq FROM input").fetchall()
    if stated != [("window", first, last)]:
        fail(f"{name}: it states {stated}, not {first} to {last}")
    left_out = near.execute("SELECT sum(allocation_count) FROM z_left_out").fetchone()[0]
    if left_out != len(allocations) - len(kept):
        fail(f"{name}: {left_out} are left out, not {len(allocations) - len(kept)}")
    return len(met), len(allocations) - len(kept)


def compare_views(name, whole, near):
    for (view,) in whole.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").fetchall():
        columns = [row[1] for row in whole.execute(f'PRAGMA table_info("{view}")')]
        listed = ", ".join(f'"{column}"' for column in columns if view != "completeness" or column not in OF_THE_LOAD)
        if view not in OF_ROWS and not all(a == b for a, b in zip(*(sorted(map(repr, db.execute(f'SELECT {listed} FROM "{view}"'))) for db in (whole, near)),
                                                                  strict=True)):
            fail(f"{name}: view {view} says something else")


def check(name, trace, window, first, last, has_views=True):
    """How many allocations were live in it, and how many have no row."""
    ingest("--quiet", "--force", "--window", window, "-o", "near.db", trace, status=None)
    whole, near, live = (sqlite3.connect(path) for path in ("whole.db", "near.db", "live.db"))
    counts = compare_rows(f"{name} {window}", whole, near, live, first, last)
    if has_views:
        compare_views(f"{name} {window}", whole, near)
    for db in (whole, near, live):
        db.close()
    return counts


def load_whole(trace):
    ingest("--quiet", "--force", "-o", "whole.db", trace, status=None)
    ingest("--quiet", "--force", "--detail", "live", "-o", "live.db", trace, status=None)


# ---- Every other case: a third of its events

def check_cases():
    count = 0
    for text in sorted(glob.glob(os.path.join(CASES, "*", "trace.txt")))[::2]:
        if subprocess.run([TEXT2TRACE, text, "case.zst"], capture_output=True, check=False).returncode != 0:
            fail(f"{text}: makes no trace")
            continue
        load_whole("case.zst")
        db = sqlite3.connect("whole.db")
        begin, end = db.execute("SELECT first_seq, last_seq FROM input").fetchone()
        db.close()
        name = os.path.basename(os.path.dirname(text))
        if begin is None:
            ingest("--quiet", "--force", "--window", "begin..end", "-o", "none.db", "case.zst", status=2, text="has nothing in the window")
            continue
        first = begin + (end - begin) // 3
        last = first + (end - begin) // 3
        check(name, "case.zst", f"seq:{first}..seq:{last}", first, last)
        count += 1
    if count < 35:
        fail(f"only {count} cases")


# ---- A long one, by steps, marks and times

STEPS, EVENTS_A_STEP = 40, 60


def write_long(path):
    """Two processes: the second begins its steps seven events later, and the first ends after step 36. Returns what is known of each event: (process, what, number)."""
    dice, lines, known, live, at = random.Random(7), [], [], {}, 1000
    head = """process 1 pid=100 host=h rank=0
process 2 pid=200 host=h rank=1
thread 1 process=1 tid=1
thread 2 process=2 tid=2
device 1 process=1 ordinal=0 physical=0 kind=npu capacity=100000000
device 2 process=2 ordinal=0 physical=1 kind=npu capacity=100000000
heap 1 process=1 device=1 level=driver basis=requested name="device memory"
heap 2 process=1 device=1 level=pool basis=block name=pool
heap 3 process=2 device=2 level=driver basis=requested name="device memory"
heap 4 process=1 level=pinned basis=requested name=pinned
stack 1: a.c:1:f < m.c:1:main
stack 2: b.c:3:h
- alloc baseline heap=4 address=0x70000000 requested=5000"""

    def put(line, process, what=None, number=0):
        nonlocal at
        at += 10
        lines.append(f"@{at} {line}")
        known.append((process, what, number, at))

    put("alloc heap=1 address=0x10000000 requested=16777216 thread=1 stack=1", 1)
    for step in range(1, STEPS + 1):
        for event in range(EVENTS_A_STEP):
            process = 2 if step > 36 else dice.choice((1, 1, 2))
            if event == 0 and step <= 36:
                put(f"step number={step} thread=1", 1, "step", step)
            if event == 7:
                put(f"step number={step} thread=2", 2, "step", step)
            if event == 30 and step % 10 == 0:
                put(f'mark thread=2 name="at {step}"', 2, "mark", step)
            if event == 35 and step == 36:
                put("process_end process=1 detail=exit", 1, "end")
            if event in (10, 20) and step <= 36:
                put(f"range_begin thread=1 number={step * 100 + event} detail=operator name=Op{event}", 1)
            if event in (25, 55) and step <= 36:
                put(f"range_end thread=1 number={step * 100 + (20 if event == 25 else 10)}", 1)
            if event == 40:
                put("copy thread=2 address=0x50000000 source=0x70000000 size=4096 limit=8192 detail=h2d device=2", 2)
            key = (process, dice.randrange(24))
            heap, address = (2, 0x10000000 + key[1] * 65536) if process == 1 else (3, 0x50000000 + key[1] * 1048576)
            if key in live:
                put(f"free heap={heap} address={address:#x} thread={process}", process)
                del live[key]
            else:
                size = dice.randrange(512, 60000)
                put(f"alloc heap={heap} address={address:#x} requested={size} block={size} thread={process} stack={1 + key[1] % 2}", process)
                live[key] = size
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\n" + "\n".join(lines) + "\n")
    return known


def step_begin(known, number, process=None):
    return min(seq for seq, (of, what, which, _) in enumerate(known) if what == "step" and which == number and process in (None, of))


def step_end(known, number):
    """The last process to begin the next step or to end takes the step with it; the first one ends after 36."""
    end = [seq for seq, (_, what, _, _) in enumerate(known) if what == "end"][0]
    if number >= STEPS:
        return len(known) - 1
    second = step_begin(known, number + 1, 2) - 1
    first = step_begin(known, number + 1, 1) - 1 if number < 36 else end
    return max(first, second)


def check_long():
    known = write_long("long.txt")
    subprocess.run([TEXT2TRACE, "long.txt", "long.zst"], check=True)
    load_whole("long.zst")
    db = sqlite3.connect("whole.db")
    begin, last = db.execute("SELECT first_seq, last_seq FROM input").fetchone()
    db.close()
    known[:0] = [(0, None, 0, 0)] * begin  # places go on from what was there before
    if last != len(known) - 1:
        fail(f"the last event is {last}, of {len(known)}")
    mark = {number: seq for seq, (_, what, number, _) in enumerate(known) if what == "mark"}
    middle = len(known) // 2
    at = known[middle][3]
    asked = [("step:12..step:14", step_begin(known, 12), step_end(known, 14)), ("step:12..14", step_begin(known, 12), step_end(known, 14)),
             ("step:36..step:36", step_begin(known, 36), step_end(known, 36)), ("step:38..step:99", step_begin(known, 38), last),
             ("begin..step:2", begin, step_end(known, 2)), ("mark:at 10..mark:at 20", mark[10], mark[20]), ("mark:at 30..end", mark[30], last),
             (f"ns:{at}..ns:{at + 95}", middle, middle + 9), (f"{at - 5}ns..{at + 90}ns", middle, middle + 9), (f"seq:{middle}..{middle}", middle, middle),
             (f"mark:at 10..step:12", mark[10], step_end(known, 12)), ("begin..end", begin, last)]
    for window, first, end in asked:
        met, left_out = check("long", "long.zst", window, first, end, has_views=window == asked[0][0])
        if met == 0 or (left_out == 0) != (window == "begin..end"):
            fail(f"long {window}: {met} allocations are in it, and {left_out} have no row")
    ingest("--quiet", "--force", "--safe-load", "--window", "begin..end", "-o", "near.plain.db", "long.zst")
    with sqlite3.connect("near.db") as near, sqlite3.connect("near.plain.db") as plain:
        if rows_of(near, "allocation") != rows_of(plain, "allocation"):
            fail("--safe-load has other rows")
    return known


def check_errors(known):
    for window in ("", "step:3", "..", "step:3..", "3..5", "step:x..step:5", "step:5..peak", "10..20s", "mark:..end", "begin..begin", "step:-1..step:2", "stpe:3..end"):
        ingest("--window", window, "-o", "no.db", "long.zst", status=2, text="must be A..B")
    for window in ("step:5..step:4", "seq:9..3", "20s..10s"):
        ingest("--window", window, "-o", "no.db", "long.zst", status=2, text="the window ends before it begins")
    ingest("--window", "step:20..seq:3", "-o", "no.db", "long.zst", status=2, text="long.zst: the window ends before it begins")
    ingest("--window", f"step:{STEPS + 1}..end", "-o", "no.db", "long.zst", status=2, text=f"the last one is {STEPS}")
    ingest("--window", "10h..11h", "-o", "no.db", "long.zst", status=2, text="has nothing in the window: it ends before that begins")
    ingest("--window", f"seq:{len(known)}..end", "-o", "no.db", "long.zst", status=2, text="has nothing in the window: it ends before that begins")
    ingest("--window", "mark:cold..end", "-o", "no.db", "long.zst", status=2, text="it has no mark 'cold'")
    ingest("--window", "begin..end", "--detail", "live", "-o", "no.db", "long.zst", status=2, text="without --detail")
    ingest("--window", "begin..end", "-o", "no.db", "long.zst", "whole.db", status=2, text="--window is of one recording, not of 2 inputs")
    ingest("--window", "begin..end", "-o", "no.db", "whole.db", status=2, text="whole.db: is a database already: --window is for loading its trace")
    ingest("--window", "begin..end", "whole.db", status=2, text="whole.db: is a database already: --window is for loading its trace")
    ingest("--window", "begin..end", "-o", "whole.db", "long.zst", status=1, text="whole.db")
    if os.path.exists("no.db"):
        fail("a window that is refused makes a database")


# ---- Databases of windows, and what is asked of them

def run(name, *arguments):
    return subprocess.run([os.path.join(BIN, name), *arguments], capture_output=True, text=True, env=dict(os.environ, LC_ALL="C.UTF-8"), check=False)


def expect_run(status, text, name, *arguments):
    done = run(name, *arguments)
    if done.returncode != status or text not in done.stdout + done.stderr:
        fail(f"{name} {' '.join(arguments)}: ends with {done.returncode}, not {status}: {(done.stdout + done.stderr)[:600]!r} has no {text!r}")
    return done.stdout


def check_answers(known):
    """What was live at a moment of the window is told, and is the same as all rows tell; of another it is refused, and that says why."""
    begin, end = step_begin(known, 12), step_end(known, 14)
    shown = ingest("--force", "--window", "step:12..step:14", "-o", "near.db", "long.zst").stdout
    if f"rows of each event from event {begin:,} to event {end:,}; sums of the whole recording" not in " ".join(shown.split()):
        fail(f"the screen says {shown}")
    ingest("--quiet", "--force", "-o", "whole.db", "long.zst")
    for moment in (f"seq:{begin - 1}", f"seq:{begin}", f"seq:{end}", f"{known[begin][3]}ns", f"{known[end][3] + 9}ns", "end", "peak", "reserve"):
        for database in ("near", "whole"):
            expect_run(0, "", "npumem-export", "folded", f"{database}.db", "--at", moment, "--force", "-o", f"{database}.folded")
        with open("near.folded", encoding="utf-8") as near, open("whole.folded", encoding="utf-8") as whole:
            if near.read() != whole.read():
                fail(f"another state at {moment}")
    for moment in (f"seq:{begin - 2}", f"seq:{end + 1}", f"{known[begin][3] - 1}ns", f"{known[end][3] + 10}ns"):
        expect_run(2, "its window alone", "npumem-export", "folded", "near.db", "--at", moment, "--force", "-o", "no.folded")
        expect_run(2, "its window alone", "npumem-diff", f"near.db@{moment}", "near.db@end")
    expect_run(2, "its window alone", "npumem-diff", "near.db@step:16", "near.db@end")
    expect_run(2, "its window alone", "npumem-export", "folded", "near.db", "--at", "at 20", "--force", "-o", "no.folded")  # a mark of another process
    pair = ["@step:12", "@step:14"]
    near, whole = (expect_run(1, "", "npumem-diff", *(f"{database}.db{moment}" for moment in pair)) for database in ("near", "whole"))
    if near.replace("near.db", "whole.db") != whole:
        fail(f"npumem-diff says {near} of what all rows say {whole} of")
    expect_run(2, "--detail", "npumem-export", "snapshot", "near.db", "--force", "-o", "no.pickle")
    expect_run(4, "--detail", "npumem-whatif", "near.db")
    queries = os.path.join(os.path.dirname(os.path.dirname(CASES)), "queries")
    for at, text in ((f"seq:{begin}", ""), (f"seq:{begin - 2}", "error: not every allocation")):
        with open(os.path.join(queries, "live_by_site.sql"), encoding="utf-8") as query:
            done = subprocess.run(["sqlite3", "-cmd", f".parameter set :at '{at}'", "near.db"], stdin=query, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not done.stdout or (text not in done.stdout if text else "error" in done.stdout):
            fail(f"live_by_site at {at}: {done.stdout} {done.stderr}")


def check_merge():
    """Beside others it stays what it is; with less detail it is as any other."""
    subprocess.run([TEXT2TRACE, os.path.join(CASES, "copies", "trace.txt"), "other.zst"], check=True)
    ingest("--quiet", "--force", "-o", "other.db", "other.zst", status=None)
    ingest("--quiet", "--force", "-o", "both.db", "other.db", "near.db", status=None)
    ingest("--quiet", "--force", "--detail", "live", "-o", "less.db", "near.db", status=None)
    both, less = sqlite3.connect("both.db"), sqlite3.connect("less.db")
    if both.execute("SELECT detail, window_end_seq - window_begin_seq > 0 FROM input ORDER BY input_id").fetchall() != [("all", None), ("window", 1)]:
        fail("merged with another it is not what it was")
    if less.execute("SELECT detail, window_begin_seq, window_end_seq, window_begin_ns, window_end_ns FROM input").fetchall() != [("live", None, None, None, None)]:
        fail("with less detail it is not live")
    live = sqlite3.connect("live.db")
    blocks = "SELECT * FROM allocation WHERE is_segment = 0 ORDER BY allocation_id"
    if less.execute(blocks).fetchall() != live.execute(blocks).fetchall():
        fail("with less detail it has other rows than loaded so")
    for db in (both, less, live):
        db.close()


if shutil.which("sqlite3") is None:
    print("skipped: no sqlite3 here")
    sys.exit(77)
shutil.rmtree(SCRATCH, ignore_errors=True)
os.makedirs(SCRATCH)
os.chdir(SCRATCH)
events = check_long()
check_errors(events)
check_answers(events)
load_whole("long.zst")
check_merge()
check_cases()
sys.exit(1 if failures else 0)
