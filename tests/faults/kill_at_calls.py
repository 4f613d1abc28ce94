# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of npumem-record, and of the program that it records, in place of each of their calls that change something: before the
program, while blocks are written and parts begun, at the end. The last place is that behind which none is left to kill at."""
import os
import sqlite3

from trial import IS_WHOLE, LEFT_OUT, begin, check_recorded, clear, expect, fail, finish, leave_out, number_in, paths, run, skip, told

ACKS, TRACE, COUNT = "ack", "t.zst", "count"
NEVER = 1000000


def record(call, program, does="kill", spin=(), options=()):
    clear("rings", "t.db", COUNT, ACKS, *[name for name in os.listdir() if name.startswith(TRACE)])
    os.mkdir("rings")
    words = [paths.fail_calls, "any", call, does, COUNT] + (["-p", program] if program else [])
    words += [paths.record, "-q", "--sample-interval", "0", "--ring-dir", os.path.abspath("rings"), "-o", TRACE, *options, "--"]
    return run(*words, paths.spin_events, *spin, "--ack", ACKS, seconds=60)


def check(what, status, err):
    """Killed before the trace had said where its rings are: then nothing was recorded."""
    acknowledged = told(ACKS)
    at_all = sum(map(sum, acknowledged))
    if not any(name.startswith(TRACE) and os.path.getsize(name) > 0 for name in os.listdir()):
        expect(at_all == 0, f"{what}: {at_all} events were acknowledged, and there is no trace")
        return
    ended, _, said = run(paths.ingest, "--quiet", "-o", "t.db", TRACE)
    if ended == 1 and not at_all:
        return
    if expect(ended in (0, 3), f"{what}: npumem-ingest ends with {ended}: {said}, npumem-record with {status}: {err}"):
        check_recorded(what, "t.db", acknowledged)


def count_of(program, spin, options):
    status, _, err = record(NEVER, program, spin=spin, options=options)
    if status == LEFT_OUT:
        skip("nobody may be traced here")
    expect(status == 0 and number_in(COUNT) == 0, f"without a kill it ends with {status}: {err}")


def kill_each(title, program, most, first=1, spin=(), options=()):
    """Each call, or of those after the first ones every so many, so that about `most` are killed at."""
    count_of(program, spin, options)
    number, step, kills = first, 1, 0
    while number < NEVER:
        status, _, err = record(number, program, spin=spin, options=options)
        if number_in(COUNT) == 0:
            break
        kills += 1
        check(f"{title}, call {number}", status, err)
        step = 1 if IS_WHOLE or kills < most else step + 1
        number += step
    expect(kills >= min(20, most), f"{title}: only {kills} kills")
    print(f"{title}: {kills} kills, at calls {first} to {number - step}")
    return number


begin()
leave_out("every call behind the first ones")
quick = ("--events", "300", "--threads", "2")
slow = ("--events", "700", "--pace-ns", "1000000", "--threads", "2")  # blocks of half a second
fast = ("--events", "120000", "--hold", "4", "--threads", "2")  # full blocks
parts = ("--keep", "last:64K", "--force")
kill_each("the recorder", None, 60, spin=quick)
kill_each("the recorder of a slow program", None, 12, first=1 if IS_WHOLE else 90, spin=slow)
kill_each("the recorder of parts", None, 10, first=1 if IS_WHOLE else 90, spin=fast, options=parts)
kill_each("the program", "spin_events", 40, spin=quick)
finish()
