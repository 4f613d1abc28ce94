# SPDX-License-Identifier: Apache-2.0
"""npumem-ingest, one of whose calls fails: each allocation, each call that changes a file and each that reads one; once, and from
then on. It ends with 1 and one line, and what stood at its name stands there to the byte; or with a whole new database. Nothing of
it is left beside. What is no failure (an interrupted call, half of a write) is not seen at all."""
import errno
import os
import shutil

from trial import begin, chosen, clear, content, dump, expect, fail, finish, leave_out, number_in, paths, run

PLACE, COUNT = "place/run.db", "count"
UNDONE = "is in its place, but a crash of the machine may undo that"


def ingest(shim, old=None, options=(), **environment):
    clear("place", COUNT)
    os.mkdir("place")
    if old:
        shutil.copy(old, PLACE)
    return run(paths.ingest, "--quiet", "--force", *options, "-o", PLACE, "run.zst", LD_PRELOAD=shim, **environment)


def is_whole():
    return content(PLACE) == content("whole.db") or dump(PLACE) == dump("whole.db")


def check(what, ended, old, may_fail=True, may_stay=False):
    """may_stay: its file cannot be removed either; the next run does."""
    status, _, err = ended
    there = os.listdir("place")
    if may_stay and there and any(name.endswith(".tmp") for name in there):
        stay = [name for name in there if name != "run.db"]
        there = [name for name in there if name == "run.db"]
        unchanged = not old or content(PLACE) == content(old)
        run(paths.ingest, "--quiet", "--force", "-o", PLACE, "run.zst")
        expect(unchanged and len(stay) == 1 and os.listdir("place") == ["run.db"],
               f"{what}: left {stay}, what stood there unchanged: {unchanged}, and the next run leaves {os.listdir('place')}")
        return status
    if status == 0 or (status == 3 and UNDONE in err):
        expect(there == ["run.db"] and is_whole(), f"{what}: ends with {status}, and {there} is not the whole database: {err}")
        return status
    expect(may_fail, f"{what}: is no failure, and ends with {status}: {err}")
    expect(status == 1 and len(err.splitlines()) == 1 and err.startswith("npumem-ingest: "), f"{what}: ends with {status} and says {err!r}")
    expect(there == ([os.path.basename(PLACE)] if old else []), f"{what}: ends with {status}, left {there}")
    if old and os.path.exists(PLACE):
        expect(content(PLACE) == content(old), f"{what}: ends with {status}, and what stood there is changed")
    return status


def fail_each_allocation(most, options=()):
    """The first of each chain of callers: hundreds of thousands are made by a few thousand."""
    ended = ingest(paths.failing_calls, options=options, NO_MEMORY_SITES=COUNT)
    sites = sorted(map(int, content(COUNT).split()))
    expect(ended[0] == 0 and len(sites) > 500, f"with the shim it ends with {ended}, {len(sites)} chains of callers allocate")
    for mode in ("", "+"):
        failed = tried = 0
        for place in chosen(len(sites), most, 20, 10):
            number = sites[place - 1]
            old = "other.db" if number % 2 else None
            ended = ingest(paths.failing_calls, old, options, NO_MEMORY_AT=f"{number}{mode}")
            failed += check(f"{options} allocation {number}{mode}", ended, old) != 0
            tried += 1
        expect(failed > 20, f"allocations{mode}: only {failed} failures had a consequence")
        print(f"{' '.join(options) or 'pages'}: {tried} of {len(sites)} chains of callers, failed {'for good' if mode else 'once'}: "
              f"{failed} ended it")


def fail_each_call(most, kind, faults, options=()):
    reads = {"AT_CALL_READS": "1"} if kind == "reads" else {}
    ended = ingest(paths.at_call, options=options, AT_CALL_COUNT=COUNT, **reads)
    count = number_in(COUNT)
    expect(ended[0] == 0 and count > 5, f"with the shim it ends with {ended}, {count} calls: {kind}")
    for does, mode, may_fail in faults:
        failed = 0
        for number in chosen(count, most, 6, 10):
            old = "other.db" if number % 2 else None
            ended = ingest(paths.at_call, old, options, AT_CALL=f"{number}{mode}", AT_CALL_DOES=str(does), **reads)
            failed += check(f"{options} {kind}, call {number}{mode} of {count} gives {does}", ended, old, may_fail, mode == "+") != 0
        print(f"{' '.join(options) or 'pages'}: {count} calls, {kind}: {does}{mode} ended it {failed} times")
        expect(failed > 3 or not may_fail or does == errno.EINTR, f"{kind}: {does}{mode} had a consequence {failed} times")


begin()
leave_out("most of what stands between the beginning and the end")
run(paths.text2trace, paths.trace, "run.zst")
shutil.copy("run.zst", "again.zst")
for name, words in (("whole.db", ["run.zst"]), ("other.db", ["--detail", "none", "again.zst"])):
    made = run(paths.ingest, "--quiet", "-o", name, *words)
    if made[0] != 0:
        fail(f"{name} cannot be made: {made}")
        finish()
changes = [(errno.EIO, "", True), (errno.ENOSPC, "", True), (errno.EIO, "+", True), (errno.ENOSPC, "+", True),
           (errno.EINTR, "", True), ("short", "", False)]
reads = [(errno.EIO, "", True), (errno.EIO, "+", True), (errno.EINTR, "", False), ("short", "", False)]
fail_each_allocation(64)
fail_each_allocation(24, ("--safe-load",))
fail_each_call(24, "changes", changes)
fail_each_call(18, "changes", changes[2:4], ("--safe-load",))
fail_each_call(18, "reads", reads)
finish()
