# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: programs with a fault in them, and what spin_events was told is recorded, which is compared
with what a database holds. Arguments are NAME=PATH. NPUMEM_FAULTS=full in the environment: every point, and all counts (tests/faults/run.sh)."""
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import time

IS_WHOLE = os.environ.get("NPUMEM_FAULTS") == "full"
OTHER_EVENTS_MAX = 64  # that a recording of spin_events has beside its allocations
LEFT_OUT = 77


class Paths:
    def __init__(self, arguments):
        for argument in arguments:
            name, _, path = argument.partition("=")
            setattr(self, name, os.path.abspath(path))


paths = Paths(sys.argv[1:])
failures = 0


def fail(text):
    global failures
    failures += 1
    print(f"FAIL: {text}", file=sys.stderr)
    if failures == 20:
        sys.exit("20 failures are enough")


def expect(is_so, text):
    if not is_so:
        fail(text() if callable(text) else text)
    return is_so


def finish():
    if failures == 0:
        os.chdir("/")
        shutil.rmtree(paths.work, ignore_errors=True)
    sys.exit(failures > 0)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(LEFT_OUT)


def begin():
    """An empty folder, and a seed that is printed."""
    shutil.rmtree(paths.work, ignore_errors=True)
    os.makedirs(paths.work)
    os.chdir(paths.work)
    given = os.environ.get("NPUMEM_SEED", "1")
    seed = time.time_ns() % 2**32 if given == "random" else int(given, 0)
    print(f"NPUMEM_SEED={seed}", flush=True)
    return random.Random(seed)


def leave_out(what):
    if not IS_WHOLE:
        print(f"skipped: {what}: the whole is for tests/faults/run.sh --full")


def chosen(count, most, whole_begin=0, whole_end=0):
    """Numbers from 1 to count: all of them, or at most so many, evenly, of those between the beginning and the end."""
    if IS_WHOLE:
        return list(range(1, count + 1))
    ends = set(range(1, min(count, whole_begin) + 1)) | set(range(max(1, count - whole_end + 1), count + 1))
    between = [number for number in range(1, count + 1) if number not in ends]
    step = max(1, -(-len(between) // max(1, most - len(ends))))
    return sorted(ends | set(between[::step]))


def run(*words, seconds=120, **more):
    """Status (as the shell's), standard output and standard error. `more`: of the environment."""
    environment = dict(os.environ, **more) if more else None
    try:
        ended = subprocess.run([str(word) for word in words], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                               timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        fail(f"{' '.join(map(str, words))}: not ended after {seconds} s")
        return 124, "", ""
    status = ended.returncode if ended.returncode >= 0 else 128 - ended.returncode
    return status, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")


def content(path):
    with open(path, "rb") as file:
        return file.read()


def number_in(path):
    return int(content(path)) if os.path.exists(path) else 0


def clear(*names):
    for name in names:
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name)
        elif os.path.lexists(name):
            os.unlink(name)


def dump(path):
    """Every row of every table, or None where SQLite finds the file broken."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                return None
            return "\n".join(database.iterdump())
    except sqlite3.Error:
        return None


# ---- Recordings of spin_events


def told(path):
    """Of each thread: allocations and frees whose calls had returned."""
    if not os.path.exists(path):
        return []
    return [record[:2] for record in struct.iter_unpack("<QQ48x", content(path))]


def check_numbers(what, thread, kind, numbers, acknowledged, is_exact):
    """Numbers in the order of events: none twice, in their order, and without a hole where nothing was lost."""
    if not expect(all(one < two for one, two in zip(numbers, numbers[1:])), f"{what}: thread {thread}: {kind} doubled or not in order"):
        return
    if is_exact:
        expect(numbers == list(range(1, len(numbers) + 1)) and acknowledged <= len(numbers) <= acknowledged + 1,
               lambda: f"{what}: thread {thread}: {acknowledged} {kind} acknowledged, {len(numbers)} found, the last {numbers[-1:]}")


def events_of(database):
    """thread -> ([number of each allocation], [number of each free]), in the order of events."""
    found = {}
    rows = database.execute("SELECT address, requested_bytes, alloc_seq, free_seq FROM allocation WHERE alloc_seq IS NOT NULL "
                            "AND address >= 1 << 40 ORDER BY alloc_seq").fetchall()
    for address, number, _, _ in rows:
        expect(number & 0xffffff == address >> 12 & 0xffffff, f"allocation at {address:#x} is torn: of {number} bytes")
        found.setdefault((address >> 40) - 1, ([], []))[0].append(number)
    for address, number, _, _ in sorted((row for row in rows if row[3] is not None), key=lambda row: row[3]):
        found[(address >> 40) - 1][1].append(number)
    return found


def check_recorded(what, db, acknowledged, may_be_open=True, others_most=OTHER_EVENTS_MAX):
    """What was acknowledged is in the database or counted as lost; nothing is there twice, torn or in another order. may_be_open: a
    thread may have recorded one event of each kind that it had not acknowledged. others_most: events beside those of the program."""
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as database:
        seen, ingested, dropped, damaged, unrecovered, unkept, is_complete = database.execute(
            "SELECT events_seen, events_ingested, events_dropped, events_damaged, events_unrecovered, events_unkept, is_complete "
            "FROM input").fetchone()
        found = events_of(database)
    lost = dropped + damaged + unrecovered + unkept
    all_acknowledged = sum(map(sum, acknowledged))
    expect(seen == ingested + lost, f"{what}: {seen} events seen, {ingested} ingested and {lost} lost")
    expect(all_acknowledged <= ingested + lost, f"{what}: {all_acknowledged} acknowledged, {ingested} ingested, {lost} lost")
    most = all_acknowledged + others_most + 2 * len(acknowledged) * may_be_open
    expect(ingested + lost <= most, f"{what}: {all_acknowledged} acknowledged, but {ingested} ingested and {lost} lost")
    expect(lost == unkept or not is_complete, f"{what}: {lost} lost, and complete")
    for thread, (allocations, frees) in enumerate(acknowledged):
        numbers = found.pop(thread, ([], []))
        check_numbers(what, thread, "allocations", numbers[0], allocations, lost == 0)
        check_numbers(what, thread, "frees", numbers[1], frees, lost == 0)
    expect(not found, f"{what}: threads that are none: {sorted(found)}")
    return lost
