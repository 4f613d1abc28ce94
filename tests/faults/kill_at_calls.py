# SPDX-License-Identifier: Apache-2.0
"""SIGKILL of npumem-record, and of the program that it records, in place of each of their calls that change something: before the
program, while blocks are written and parts begun, at the end. The last place is that behind which none is left to kill at."""
import os
import sqlite3

from trial import IS_WHOLE, LEFT_OUT, begin, check_recorded, clear, expect, fail, finish, leave_out, number_in, paths, run, skip, told

ACKS, TRACE, COUNT = "ack", "t.zst", "count"
NEVER = 1000000


def record(number, call, program, spin, options):
    clear("rings", "t.db", COUNT, ACKS, *[name for name in os.listdir() if name.startswith(TRACE)])
    os.mkdir("rings")
    words = [paths.fail_calls, call, number, "kill", COUNT] + (["-p", program] if program else [])
    words += [paths.record, "-q", "--sample-interval", "0", "--ring-dir", os.path.abspath("rings"), "-o", TRACE, *options, "--"]
    return run(*words, paths.spin_events, *spin, "--ack", ACKS, seconds=60)


def check(what, status, err, lost_most):
    """Killed before the trace had said where its rings are: then nothing was recorded. lost_most: where no ring can be full, a kill
    costs no more than what was in the middle."""
    acknowledged = told(ACKS)
    at_all = sum(map(sum, acknowledged))
    if not any(name.startswith(TRACE) and os.path.getsize(name) > 0 for name in os.listdir()):
        expect(at_all == 0, f"{what}: {at_all} events were acknowledged, and there is no trace")
        return
    ended, _, said = run(paths.ingest, "--quiet", "-o", "t.db", TRACE)
    if ended == 1 and not at_all:
        return
    if expect(ended in (0, 3), f"{what}: npumem-ingest ends with {ended}: {said}, npumem-record with {status}: {err}"):
        lost = check_recorded(what, "t.db", acknowledged)
        expect(lost_most is None or lost <= lost_most, f"{what}: {lost} events are lost and counted, with room for all")


def kill_each(title, program, call="any", most=NEVER, first=1, spin=(), options=(), lost_most=0):
    """At each such call, or behind so many of them at fewer and fewer."""
    number, step, kills = first, 1, 0
    while number < NEVER:
        status, _, err = record(number, call, program, spin, options)
        if status == LEFT_OUT:
            skip("nobody may be traced here")
        if number_in(COUNT) == 0:
            expect(status == 0, f"{title}: without a kill it ends with {status}: {err}")
            break
        kills += 1
        check(f"{title}, {call} {number}", status, err, lost_most)
        step = 1 if IS_WHOLE or kills < most else step + 1
        number += step
    print(f"{title}: {kills} kills at {call}, from {first} on; the last is before {number}", flush=True)
    return kills


# How blocks come to their place, and rings go; in full each of the others too.
WRITING = ("write", "fallocate", "ftruncate", "unlinkat", "fdatasync")

begin()
leave_out("most calls that do not write")
quick = ("--events", "300", "--threads", "2")
slow = ("--events", "700", "--pace-ns", "1000000", "--threads", "2")  # blocks of half a second
fast = ("--events", "40000", "--hold", "4", "--threads", "2")  # full blocks
parts = ("--keep", "last:64K", "--force")
total = kill_each("the recorder", None, most=30, spin=quick)
for one in WRITING:
    total += kill_each("the recorder", None, one, spin=quick)
for one in WRITING[:2]:
    total += kill_each("the recorder of a slow program", None, one, most=8, spin=slow)
total += kill_each("the recorder of parts", None, "write", most=8, spin=fast, options=parts, lost_most=None)
total += kill_each("the recorder of parts", None, "openat", most=1, first=30, spin=fast, options=parts, lost_most=None)
total += kill_each("the program", "spin_events", most=40, spin=quick, lost_most=2 * 2)
if IS_WHOLE:
    total += kill_each("the recorder of a slow program", None, spin=slow) + kill_each("the recorder of parts", None, spin=fast, options=parts,
                                                                                    lost_most=None)
expect(total >= 100, f"only {total} kills")
print(f"{total} kills")
finish()
